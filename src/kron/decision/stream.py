"""uniform(seed_hash, n) -> float: the n-th number in [0, 1) of the SplitMix64 stream that a seed hash starts."""

from collections.abc import Iterator

_GAMMA = 0x9E37_79B9_7F4A_7C15
_BITS = 0xFFFF_FFFF_FFFF_FFFF


def uniform(seed_hash: str, n: int) -> float:
    """Return the n-th number, from 1. The state starts as the hash's first eight bytes, big-endian; it only counts."""
    return _number(int(seed_hash[:16], 16) + n * _GAMMA & _BITS)


def uniforms(seed_hash: str, most: int) -> Iterator[float]:
    """Yield the first numbers of the stream, at most so many: what `uniform` returns for 1, 2, 3 and so on."""
    state = int(seed_hash[:16], 16)
    for _ in range(most):
        state = state + _GAMMA & _BITS
        yield _number(state)


def _number(state: int) -> float:
    z = (state ^ state >> 30) * 0xBF58_476D_1CE4_E5B9 & _BITS
    z = (z ^ z >> 27) * 0x94D0_49BB_1331_11EB & _BITS
    return ((z ^ z >> 31) >> 11) / 9007199254740992.0  # 2^53: all the bits that a float holds

"""Seed strategy, period key, seed hash and its stream of numbers: the first steps from a period to its second."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from hashlib import sha256

from kron.cron.zone import Zone
from kron.instant import Instant, format_instant


class SeedStrategy(Enum):
    """What changes the seed: every period, every day or every ISO week of the job's zone."""

    STABLE = "stable"
    DAILY = "daily"
    WEEKLY = "weekly"


@dataclass(frozen=True, slots=True)
class Seed:
    """A strategy and a salt."""

    strategy: SeedStrategy = SeedStrategy.STABLE
    salt: str = ""


period_id = format_instant  # SPEC: Period ID. The nominal time in RFC 3339, UTC, is the canonical name of its period.


def period_key(strategy: SeedStrategy, nominal: Instant, zone: Zone) -> str:
    """Return the part of a period's name that the strategy lets into the seed."""  # SPEC: Seed strategies
    if strategy is SeedStrategy.STABLE:
        return period_id(nominal)
    day = (nominal + zone.offset(nominal)).date()
    if strategy is SeedStrategy.DAILY:
        return day.isoformat()
    year, week, _ = day.isocalendar()
    return f"{year:04}-W{week:02}"


def seed_hash(identity: str, key: str, salt: str) -> str:
    """Return the SHA-256 of identity, period key and salt, as lower-case hex."""  # SPEC: Seed hash
    return sha256(f"{identity}\n{key}\n{salt}".encode()).hexdigest()


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

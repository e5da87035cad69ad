"""The random stream: SplitMix64 from the first eight bytes of a hash, one number in [0, 1) per attempt."""

from itertools import islice

import pytest
from hypothesis import given, strategies as st

from kron.decision.seed import uniform
from tests.decision.reference import splitmix64, uniforms

hashes = st.binary(min_size=32, max_size=32).map(bytes.hex)


def hash_of_state(state: int) -> str:
    return f"{state:016x}" + "0" * 48


def test_the_reference_is_the_well_known_generator() -> None:
    # The seed 1234567 and its first values are the usual check of an implementation.
    first_five = list(islice(splitmix64(1234567), 5))

    assert first_five == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


@pytest.mark.parametrize(
    ("state", "numbers"),
    [
        (0, [0.8833108082136426, 0.43152799704850997, 0.026433771592597743]),
        (1, [0.5665615751722809, 0.7457817572627011, 0.9710027535867962]),
        (2**63, [0.2817192454992108, 0.7673286331466349, 0.3814471959558805]),
        (2**64 - 1, [0.8939429202831845, 0.9125972035944532, 0.21948196289526756]),
        (0x9C85657700000000, [0.3212161805221304, 0.20747069484348335, 0.36964121830035146]),
    ],
    ids=["zero", "one", "only the sign bit", "every bit", "a half-empty hash"],
)
def test_known_states_give_known_numbers(state: int, numbers: list[float]) -> None:
    assert [uniform(hash_of_state(state), n) for n in (1, 2, 3)] == numbers


@given(hashes)
def test_the_reference_draws_the_same_numbers(hash_: str) -> None:
    drawn = [uniform(hash_, n) for n in range(1, 65)]

    assert drawn == list(islice(uniforms(hash_), 64))


@given(hashes, st.integers(1, 64))
def test_every_number_is_in_the_half_open_unit_interval(hash_: str, n: int) -> None:
    assert 0.0 <= uniform(hash_, n) < 1.0


@given(hashes, st.integers(1, 64))
def test_every_number_is_a_multiple_of_two_to_the_minus_53(hash_: str, n: int) -> None:
    assert (uniform(hash_, n) * 2**53).is_integer()


@given(hashes, st.binary(min_size=24, max_size=24).map(bytes.hex))
def test_only_the_first_eight_bytes_of_the_hash_matter(hash_: str, tail: str) -> None:
    assert uniform(hash_[:16] + tail, 1) == uniform(hash_, 1)

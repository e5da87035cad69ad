"""Tests of find_salt: a salt exists for any second of a window."""

from datetime import timedelta

import pytest
from hypothesis import given, settings, strategies as st

from kron.decision.decide import decide
from kron.forecast.tune import SaltMatch, find_salt, with_salt
from kron.instant import SECOND
from tests.forecast.foreseen import NOON, entry

ONCE = "0 12 29 3 * @win(after,10m)"


@settings(max_examples=20)
@given(st.integers(0, 600))
def test_every_second_of_a_window_has_a_salt(second: int) -> None:
    timing, at = entry(ONCE).timing, NOON + SECOND * second

    found = find_salt(timing, at)

    assert isinstance(found, SaltMatch)
    assert decide(with_salt(timing, found.salt), NOON).chosen_time == at


def test_the_present_salt_is_kept_if_it_leads_there() -> None:
    timing = entry("0 12 * * * @win(after,10m) @seed(stable,salt=prod)").timing
    at = decide(timing, NOON).chosen_time
    assert at is not None

    found = find_salt(timing, at)

    assert isinstance(found, SaltMatch)
    assert found.salt == "prod"


def test_another_salt_begins_with_the_present_one() -> None:
    found = find_salt(entry("0 12 * * * @win(after,10s) @seed(stable,salt=prod)").timing, NOON + 3 * SECOND)

    assert isinstance(found, SaltMatch)
    assert found.salt == "prod" or found.salt.startswith("prod-")


def test_any_period_whose_window_has_the_second_will_do() -> None:
    found = find_salt(entry("*/5 * * * * @win(around,10m)").timing, NOON)

    assert isinstance(found, SaltMatch)
    assert found.decision.chosen_time == NOON


@pytest.mark.parametrize(
    ("line", "seconds", "reason"),
    [
        (ONCE, 601, "no period has it in its window"),
        (ONCE, -1, "no period has it in its window"),
        (
            "0 12 * * * @win(after,10m) @avoid(between=12:05-12:06)",
            330,
            "it is not allowed: avoid(between=12:05-12:06)",
        ),
        ("0 12 * * *", 1, "no period has it in its window"),
    ],
)
def test_a_second_that_cannot_be_chosen_has_a_reason(line: str, seconds: int, reason: str) -> None:
    found = find_salt(entry(line).timing, NOON + SECOND * seconds)

    assert isinstance(found, str)
    assert reason in found


def test_a_second_that_is_all_but_never_chosen_is_given_up() -> None:
    timing = entry("0 12 * * * @win(after,5m) @dist(normal,sigma=1s)").timing

    found = find_salt(timing, NOON + timedelta(minutes=5))

    assert isinstance(found, str)
    assert "hardly ever" in found

"""Seeds: which part of a period enters the hash, and the hash itself."""

import hashlib
from datetime import datetime

import pytest
from hypothesis import given, strategies as st

from kron import Schedule, Timing, decide
from kron.cron.zone import load_zone
from kron.decision.seed import Seed, SeedStrategy, period_id, period_key, seed_hash
from kron.errors import InvalidDefinitionError
from kron.instant import parse_instant
from tests.decision import reference
from tests.decision.strategies import ZONES, identities, nominals, texts


def key(strategy: str, nominal: str, zone: str) -> str:
    return period_key(SeedStrategy(strategy), parse_instant(nominal), load_zone(zone))


# --- the period's part ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nominal", "identifier"),
    [
        ("2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z"),
        ("2026-03-01T01:00:00+01:00", "2026-03-01T00:00:00Z"),
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
        ("0987-06-05T04:03:02Z", "0987-06-05T04:03:02Z"),
    ],
)
def test_a_period_is_called_by_its_nominal_time_in_utc(nominal: str, identifier: str) -> None:
    assert period_id(parse_instant(nominal)) == identifier


def test_the_stable_key_is_the_period_itself() -> None:
    assert key("stable", "2026-03-01T00:00:00Z", "Asia/Tokyo") == "2026-03-01T00:00:00Z"


@pytest.mark.parametrize(
    ("zone", "nominal", "day"),
    [
        # Los Angeles is 8 hours behind in winter, 7 in summer.
        ("America/Los_Angeles", "2026-01-02T07:59:59Z", "2026-01-01"),
        ("America/Los_Angeles", "2026-01-02T08:00:00Z", "2026-01-02"),
        ("America/Los_Angeles", "2026-07-02T06:59:59Z", "2026-07-01"),
        ("America/Los_Angeles", "2026-07-02T07:00:00Z", "2026-07-02"),
        # Tokyo is 9 hours ahead.
        ("Asia/Tokyo", "2025-12-31T14:59:59Z", "2025-12-31"),
        ("Asia/Tokyo", "2025-12-31T15:00:00Z", "2026-01-01"),
        # Apia went from 10 hours behind to 14 ahead and had no 30 December 2011.
        ("Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29"),
        ("Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31"),
        # Monrovia was 44 minutes and 30 seconds behind until 1972.
        ("Africa/Monrovia", "1970-01-01T00:44:29Z", "1969-12-31"),
        ("Africa/Monrovia", "1970-01-01T00:44:30Z", "1970-01-01"),
        ("UTC", "2024-02-29T23:59:59Z", "2024-02-29"),
    ],
)
def test_the_daily_key_is_the_day_on_the_zones_calendar(zone: str, nominal: str, day: str) -> None:
    assert key("daily", nominal, zone) == day


@pytest.mark.parametrize(
    ("zone", "nominal", "week"),
    [
        ("UTC", "2021-01-03T23:59:59Z", "2020-W53"),
        ("UTC", "2021-01-04T00:00:00Z", "2021-W01"),
        ("UTC", "2024-12-30T00:00:00Z", "2025-W01"),
        ("UTC", "2027-01-01T00:00:00Z", "2026-W53"),
        ("Asia/Tokyo", "2021-01-03T15:00:00Z", "2021-W01"),
        ("America/Los_Angeles", "2021-01-04T07:59:59Z", "2020-W53"),
        ("Pacific/Apia", "2011-12-30T10:00:00Z", "2011-W52"),
    ],
)
def test_the_weekly_key_is_the_iso_week_on_the_zones_calendar(zone: str, nominal: str, week: str) -> None:
    assert key("weekly", nominal, zone) == week


@given(st.sampled_from(SeedStrategy), nominals, st.sampled_from(ZONES))
def test_the_reference_has_the_same_keys(strategy: SeedStrategy, nominal: datetime, zone: str) -> None:
    assert period_key(strategy, nominal, load_zone(zone)) == reference.period_key(strategy.value, nominal, zone)


# --- the hash ---------------------------------------------------------------------------------------------------------


def test_the_hash_is_the_sha_256_of_three_lines() -> None:
    hashed = seed_hash("prod/db-backup", "2026-03-01T00:00:00Z", "backup")

    assert hashed == hashlib.sha256(b"prod/db-backup\n2026-03-01T00:00:00Z\nbackup").hexdigest()


def test_an_empty_salt_leaves_the_last_line_empty() -> None:
    assert seed_hash("a", "b", "") == hashlib.sha256(b"a\nb\n").hexdigest()


@given(identities, texts)
def test_texts_are_hashed_as_utf_8(identity: str, salt: str) -> None:
    hashed = seed_hash(identity, "2026-03-01", salt)

    assert hashed == reference.seed_hash(identity, "2026-03-01", salt)


def test_texts_that_look_alike_but_differ_have_different_hashes() -> None:
    composed, decomposed = "\u00e9", "e\u0301"

    assert seed_hash(composed, "k", "") != seed_hash(decomposed, "k", "")


# --- what the seed does -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["daily", "weekly"])
def test_periods_with_one_key_are_given_one_place_in_their_windows(strategy: str) -> None:
    hourly = Timing.parse(f"@hourly @win(after,50m) @seed({strategy})", identity="test/job")
    morning, evening = (parse_instant(f"2026-03-03T{hour}:00:00Z") for hour in ("06", "18"))

    first, second = decide(hourly, morning), decide(hourly, evening)

    assert first.seed_hash == second.seed_hash
    assert (first.chosen_time or morning) - morning == (second.chosen_time or evening) - evening


def test_a_different_salt_or_identity_moves_the_choice() -> None:
    line = "@daily @win(after,24h)"
    nominal = parse_instant("2026-03-03T00:00:00Z")
    timings = [
        Timing.parse(line, identity="test/job"),
        Timing.parse(line, identity="test/other"),
        Timing.parse(f"{line} @seed(stable,salt=x)", identity="test/job"),
    ]

    chosen = {decide(timing, nominal).chosen_time for timing in timings}

    assert len(chosen) == 3


@pytest.mark.parametrize("identity", ["", "two\nlines", "\n", "\ud800"], ids=ascii)
def test_an_identity_is_one_line_of_text_that_utf_8_can_hold(identity: str) -> None:
    with pytest.raises(InvalidDefinitionError) as caught:
        Timing.parse("@daily", identity=identity)

    assert caught.value.field == "identity"


def test_a_salt_that_utf_8_cannot_hold_is_refused() -> None:
    with pytest.raises(InvalidDefinitionError) as caught:
        Timing.from_dict({"schedule": "@daily", "salt": "\udfff"}, identity="test/job")

    assert caught.value.field == "salt"


def test_a_seed_made_by_hand_is_checked_as_well() -> None:
    with pytest.raises(InvalidDefinitionError) as caught:
        Timing("test/job", Schedule("@daily"), seed=Seed(SeedStrategy.DAILY, "\udfff"))

    assert caught.value.field == "salt"

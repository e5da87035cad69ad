"""Tests of decide: worked cases, comparison with the reference, and invariants."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings, strategies as st

from kron import Timing, decide
from kron.decision.decide import candidates, replay
from kron.decision.decision import MAX_ATTEMPTS
from kron.errors import NaiveDatetimeError, OutOfRangeError
from kron.instant import parse_instant
from tests.decision import reference
from tests.decision.strategies import definitions, identities, nominals

midnight = datetime(2026, 3, 1, tzinfo=UTC)


def timing(line: str, identity: str = "test/job") -> Timing:
    return Timing.parse(line, identity=identity)


# --- worked cases -----------------------------------------------------------------------------------------------------


def test_a_backup_in_the_three_hours_after_midnight() -> None:
    backup = timing("0 0 * * * @win(after,3h) @seed(stable,salt=backup)", "prod/db-backup")

    decision = decide(backup, midnight)

    assert decision.seed_hash.startswith("9c856577")
    assert [candidate.u for candidate in candidates(decision)] == [0.8462881248863515]
    assert decision.chosen_time == parse_instant("2026-03-01T02:32:20Z")


def test_messages_around_ten_in_paris_skewed_late() -> None:
    line = "0 10 * * * @tz(Europe/Paris) @win(around,90m) @dist(skewLate,shape=2.5) @seed(stable,salt=msgs)"

    decision = decide(timing(line, "msgs/paris"), parse_instant("2026-03-02T09:00:00Z"))

    assert decision.seed_hash.startswith("8b95acf5")
    assert decision.chosen_time == parse_instant("2026-03-02T09:27:06Z")


def test_a_daily_seed_without_salt() -> None:
    decision = decide(timing("0 0 * * * @win(after,1h) @seed(daily)", "daily/test"), midnight)

    assert decision.period_key == "2026-03-01"
    assert decision.seed_hash.startswith("3a1cbafc")
    assert decision.chosen_time == parse_instant("2026-03-01T00:21:10Z")


def test_lights_that_fall_into_the_last_two_minutes_at_the_fifty_fifth_attempt() -> None:
    line = "0 18 * * * @win(after,1h) @seed(stable,salt=lights) @only(between=18:58-19:00)"

    decision = decide(timing(line, "home/lights"), parse_instant("2026-03-01T18:00:00Z"))

    assert decision.chosen_time == parse_instant("2026-03-01T18:58:01Z")
    assert decision.attempts == 55


# --- the rules one by one ---------------------------------------------------------------------------------------------


def test_a_window_of_length_zero_is_its_only_second_without_an_attempt() -> None:
    decision = decide(timing("0 0 * * *"), midnight)

    assert (decision.chosen_time, decision.attempts, decision.reason) == (midnight, 0, None)


def test_a_window_of_length_zero_is_unschedulable_where_its_second_is_not_allowed() -> None:
    decision = decide(timing("0 0 * * * @avoid(hours=0)"), midnight)

    assert (decision.chosen_time, decision.attempts) == (None, 0)
    assert decision.reason == "the only second is not allowed"


def test_a_period_is_unschedulable_after_sixty_four_rejected_candidates() -> None:
    decision = decide(timing("0 0 * * * @win(after,1h) @only(hours=5)"), midnight)

    assert (decision.chosen_time, decision.attempts) == (None, 64)
    assert decision.reason == "no candidate accepted within MaxAttempts"


def test_a_constraint_that_allows_everything_moves_nothing() -> None:
    free = decide(timing("0 0 * * * @win(after,1h)"), midnight)

    constrained = decide(timing("0 0 * * * @win(after,1h) @only(hours=0-23)"), midnight)

    assert (constrained.chosen_time, constrained.attempts) == (free.chosen_time, 1)


def test_both_ends_of_a_short_window_are_chosen_in_time() -> None:
    minutely = timing("* * * * * @win(around,2s)")

    offsets = {
        (decide(minutely, at).chosen_time or at) - at for at in (midnight + timedelta(minutes=m) for m in range(99))
    }

    assert offsets == {timedelta(seconds=shift) for shift in (-1, 0, 1)}


def test_the_nominal_time_may_be_given_in_any_zone() -> None:
    backup = timing("0 0 * * * @win(after,3h)")
    elsewhere = midnight.astimezone(timezone(timedelta(hours=-8)))

    assert decide(backup, elsewhere) == decide(backup, midnight)


def test_a_fraction_of_a_second_in_the_nominal_time_is_dropped() -> None:
    backup = timing("0 0 * * * @win(after,3h)")

    assert decide(backup, midnight + timedelta(microseconds=999_999)) == decide(backup, midnight)


def test_a_naive_nominal_time_is_refused() -> None:
    with pytest.raises(NaiveDatetimeError):
        decide(timing("0 0 * * *"), midnight.replace(tzinfo=None))


@pytest.mark.parametrize(
    ("line", "nominal"),
    [
        ("0 0 * * * @win(after,2h)", "9999-12-31T23:59:59Z"),
        ("0 0 * * * @win(after,2h) @only(dow=MON)", "9999-12-31T23:59:00Z"),
        ("0 0 * * * @win(around,2h)", "0001-01-01T00:59:00Z"),
        ("0 0 * * * @tz(Asia/Tokyo) @only(dow=MON)", "9999-12-31T23:00:00Z"),
    ],
)
def test_a_window_that_leaves_the_calendar_is_out_of_range(line: str, nominal: str) -> None:
    with pytest.raises(OutOfRangeError):
        decide(timing(line), parse_instant(nominal))


@pytest.mark.parametrize(
    ("line", "nominal"),
    [
        ("0 0 * * * @tz(Asia/Tokyo) @win(after,5m) @seed(daily)", "9999-12-31T23:00:00Z"),
        ("0 0 * * * @tz(America/New_York) @win(after,5m) @seed(weekly)", "0001-01-01T00:00:00Z"),
    ],
)
def test_a_period_whose_wall_day_leaves_the_calendar_is_out_of_range(line: str, nominal: str) -> None:
    with pytest.raises(OutOfRangeError):
        decide(timing(line), parse_instant(nominal))


@pytest.mark.parametrize(
    ("line", "nominal"),
    [
        ("0 0 * * * @win(after,2h)", "9999-12-31T23:00:00Z"),
        pytest.param(
            "0 0 * * * @win(after,2000000h)",
            "9800-01-01T00:00:00Z",
        ),
    ],
    ids=["by an hour", "by decades"],
)
def test_a_window_whose_end_leaves_the_calendar_is_out_of_range(line: str, nominal: str) -> None:
    with pytest.raises(OutOfRangeError):
        decide(timing(line), parse_instant(nominal))


# --- candidates, for showing ------------------------------------------------------------------------------------------


def test_candidates_are_the_rejected_ones_and_then_the_chosen_one() -> None:
    decision = decide(timing("0 0 * * * @win(after,6h) @only(hours=1)"), midnight)

    shown = list(candidates(decision))

    assert len(shown) == decision.attempts > 1
    assert {candidate.rejected_by for candidate in shown[:-1]} == {"only(hours=1)"}
    assert (shown[-1].at, shown[-1].rejected_by) == (decision.chosen_time, "")


def test_candidates_of_an_unschedulable_period_are_all_rejected() -> None:
    decision = decide(timing("0 0 * * * @win(after,1h) @avoid(hours=0-1)"), midnight)

    assert [candidate.rejected_by for candidate in candidates(decision)] == ["avoid(hours=0-1)"] * MAX_ATTEMPTS


def test_a_window_of_length_zero_has_no_candidates() -> None:
    assert list(candidates(decide(timing("0 0 * * *"), midnight))) == []


# --- laws -------------------------------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(definitions(), identities, nominals)
def test_kron_and_the_reference_make_the_same_decision(
    definition: dict[str, object], identity: str, nominal: datetime
) -> None:
    decided = decide(Timing.from_dict(definition, identity=identity), nominal).to_dict()

    del decided["tzdata_version"]
    assert decided == reference.decide(definition, identity, nominal)


@given(definitions(), identities, nominals)
def test_the_chosen_second_is_in_the_window_or_there_is_a_reason(
    definition: dict[str, object], identity: str, nominal: datetime
) -> None:
    decision = decide(Timing.from_dict(definition, identity=identity), nominal)

    if decision.chosen_time is None:
        assert decision.reason
    else:
        assert decision.window_start <= decision.chosen_time <= decision.window_end
        assert decision.reason is None


@given(definitions(), identities, nominals)
def test_a_replayed_decision_is_equal(definition: dict[str, object], identity: str, nominal: datetime) -> None:
    decision = decide(Timing.from_dict(definition, identity=identity), nominal)

    assert replay(decision) == decision


@given(definitions(), identities, nominals, st.sampled_from(["*/7 * * * *", "1 1 1 1 *"]))
def test_the_schedule_itself_does_not_enter_the_decision(
    definition: dict[str, object], identity: str, nominal: datetime, schedule: str
) -> None:
    decision = decide(Timing.from_dict(definition, identity=identity), nominal)

    assert decide(Timing.from_dict({**definition, "schedule": schedule}, identity=identity), nominal) == decision


@pytest.mark.slow
@settings(max_examples=5_000)
@given(definitions(), identities, nominals)
def test_kron_and_the_reference_agree_in_a_long_search(
    definition: dict[str, object], identity: str, nominal: datetime
) -> None:
    decided = decide(Timing.from_dict(definition, identity=identity), nominal).to_dict()

    del decided["tzdata_version"]
    assert decided == reference.decide(definition, identity, nominal)

"""The contract `kron`: the second that is chosen for a period, and its inputs."""

import json
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from kron import Decision, Timing, decide
from kron.errors import InvalidDecisionError
from tests.conformance.citing import clause
from tests.conformance.contract_harness import HOUR, MINUTE, at

NOON = at("12:00")
TOKYO = ZoneInfo("Asia/Tokyo")


def decided(line: str, nominal: datetime = NOON, *, identity: str = "ops/backup") -> Decision:
    """Return the decision of a schedule line for a period."""
    return decide(Timing.parse(line, identity=identity), nominal)


@pytest.mark.parametrize("duration", [timedelta(seconds=1), 90 * MINUTE, 300 * HOUR], ids=str)
@clause("window.after")
def test_a_window_after_goes_from_the_nominal_time_to_its_duration_later(duration: timedelta) -> None:
    decision = decided(f"0 12 * * * @win(after,{duration // timedelta(seconds=1)}s)")

    assert (decision.window_start, decision.window_end) == (NOON, NOON + duration)


@pytest.mark.parametrize("duration", [timedelta(seconds=2), 90 * MINUTE, 300 * HOUR], ids=str)
@clause("window.around")
def test_a_window_around_has_half_of_its_duration_on_each_side(duration: timedelta) -> None:
    decision = decided(f"0 12 * * * @win(around,{duration // timedelta(seconds=1)}s)")

    assert (decision.window_start, decision.window_end) == (NOON - duration / 2, NOON + duration / 2)


@clause("hosts.zone")
def test_a_schedule_names_the_hours_of_the_zone_of_the_job() -> None:
    schedule = Timing.parse("30 9 * * * @tz(Asia/Tokyo)", identity="ops/backup").schedule

    assert schedule.next(NOON) == datetime(2026, 3, 3, 9, 30, tzinfo=TOKYO)


@pytest.mark.parametrize("hours", [21, 22, 23])
@clause("constraint.zone", "hosts.zone")
def test_a_constraint_names_the_hours_of_the_zone_of_the_job(hours: int) -> None:
    decision = decided(f"0 21 * * * @tz(Asia/Tokyo) @win(after,179m) @only(hours={hours})")

    assert decision.chosen_time is not None
    assert decision.chosen_time.astimezone(TOKYO).hour == hours
    assert decision.chosen_time.hour == hours - 9


@clause("period.nominal", "decision.one-period")
def test_each_nominal_time_is_a_period_with_a_decision_of_its_own() -> None:
    timing = Timing.parse("0,20,40 * * * * @win(after,3h)", identity="ops/backup")
    nominals = list(timing.schedule.between(NOON - HOUR, NOON + 23 * HOUR))

    decisions = [decide(timing, nominal) for nominal in nominals]

    assert len({each.period_id for each in decisions}) == len({each.seed_hash for each in decisions}) == 72
    assert [each.period_id for each in decisions[:2]] == ["2026-03-02T11:20:00Z", "2026-03-02T11:40:00Z"]
    places = {each.chosen_time - each.nominal_time for each in decisions if each.chosen_time is not None}
    assert len(places) > 60


@clause("stable.version")
def test_a_decision_names_its_algorithm_and_one_of_another_algorithm_is_refused() -> None:
    fields = json.loads(decided("0 12 * * * @win(after,1h)").to_json())
    later = json.dumps({**fields, "algorithm_version": 2})

    with pytest.raises(InvalidDecisionError) as caught:
        Decision.from_json(later)

    assert fields["algorithm_version"] == 1
    assert caught.value.details["field"] == "algorithm_version"


@pytest.mark.parametrize("mode", ["after", "around"])
@clause("window.contains-chosen", "distribution.bounded", "guarantee.window")
def test_no_distribution_leaves_a_window_of_a_few_seconds(mode: str) -> None:
    decisions = [
        decided(f"0 12 * * * @win({mode},{length}s) @dist({name})", identity=f"job {number}")
        for length in (0, 1, 2, 4)
        for name in ("uniform", "skewEarly", "skewLate", "exponential", "normal")
        for number in range(20)
    ]

    chosen = [each for each in decisions if each.chosen_time is not None]
    assert [each for each in chosen if not each.window_start <= each.chosen_time <= each.window_end] == []  # type: ignore[operator]
    assert len(chosen) == len(decisions)


@clause("hosts.whole-seconds")
def test_every_chosen_time_is_a_whole_second_in_utc() -> None:
    modes = ("after,7s", "around,7s", "around,1.5s", "after,90m")
    chosen = [
        decided(f"0 12 * * * @win({mode}) @dist({name})", identity=f"job {number}").chosen_time
        for mode in modes
        for name in ("uniform", "skewEarly", "skewLate", "exponential", "normal")
        for number in range(20)
    ]

    assert {(each.microsecond, each.tzinfo) for each in chosen if each is not None} == {(0, UTC)}
    assert None not in chosen

"""The effect of changed jobs on the runs of a span equals comparing them one by one."""

from datetime import date, timedelta

import pytest
from hypothesis import given, settings, strategies as st

from kron.decision.decision import Decision
from kron.forecast.plan import ChangedSeed, SchedulePlan, plan_change
from kron.forecast.runs import ForecastJob, TimeSpan
from kron.instant import Instant
from tests.forecast.foreseen import LINES, NOON, by_brute_force, entry, span, spans

DAY = timedelta(days=1)
WEEK = span(
    "2026-03-25T00:00:00+00:00", "2026-04-01T00:00:00+00:00"
)  # with the night of Europe's change to summer time
Runs = dict[tuple[str, Instant], Instant]


def runs(entries: list[ForecastJob], wanted: TimeSpan) -> Runs:
    """Return the chosen seconds of all runs by identity and nominal time, far beyond the span."""
    wide = TimeSpan(wanted.since - 2 * DAY, wanted.until + 2 * DAY)
    found = by_brute_force(entries, wide)
    return {(each.identity, one.nominal_time): one.chosen_time for each, one in found if one.chosen_time is not None}


job_sets = st.dictionaries(st.sampled_from("abcd"), st.sampled_from(LINES), max_size=4).map(
    lambda lines: [entry(line, name) for name, line in lines.items()]
)


@settings(max_examples=30)
@given(old=job_sets, new=job_sets, wanted=spans)
def test_every_run_appears_vanishes_moves_or_stays(
    old: list[ForecastJob], new: list[ForecastJob], wanted: TimeSpan
) -> None:
    before, after = runs(old, wanted), runs(new, wanted)

    found = plan_change(old, new, wanted)

    appeared = {key: at for key, at in after.items() if key not in before and at in wanted}
    vanished = {key: at for key, at in before.items() if key not in after and at in wanted}
    moved = {
        key: (before[key], after[key])
        for key in before.keys() & after.keys()
        if before[key] != after[key] and (before[key] in wanted or after[key] in wanted)
    }
    assert _times(found.added) == appeared
    assert _times(found.removed) == vanished
    assert {(move.identity, move.nominal): (move.before, move.after) for move in found.moves} == moved


def _times(found: list[tuple[ForecastJob, Decision]]) -> Runs:
    times = {(each.identity, decision.nominal_time): decision.chosen_time for each, decision in found}
    return {key: at for key, at in times.items() if at is not None}


@given(jobs=job_sets, wanted=spans)
def test_no_change_makes_no_difference(jobs: list[ForecastJob], wanted: TimeSpan) -> None:
    assert plan_change(jobs, list(reversed(jobs)), wanted) == SchedulePlan()


def test_a_run_that_leaves_the_span_has_moved_and_not_vanished() -> None:
    old, new = entry("0 13 29 3 *"), entry("0 13 29 3 * @win(after,8h)")

    found = plan_change([old], [new], TimeSpan(NOON, NOON + timedelta(hours=1)))

    assert [(move.nominal, move.before) for move in found.moves] == [(NOON + timedelta(hours=1),) * 2]
    assert found.removed == []


def test_a_changed_salt_is_reported() -> None:
    old, new = entry("0 3 * * * @win(after,1h)"), entry("0 3 * * * @win(after,1h) @seed(stable,salt=x)")

    found = plan_change([old], [new], WEEK)

    assert found.salts == [ChangedSeed("test/job", "job", "", "x")]
    assert len(found.moves) == found.moved == 7


def test_a_job_of_the_same_name_with_another_identity_is_reported_and_its_runs_count_as_moved() -> None:
    line = "0 3 * * * @win(after,1h)"
    old = entry(line)
    new = ForecastJob("job", entry(line, "other").timing)

    found = plan_change([old], [new], WEEK)

    assert found.identities == [ChangedSeed("test/other", "job", "test/job", "test/other")]
    assert (len(found.added), len(found.removed), len(found.moves), found.moved) == (7, 7, 0, 7)


def test_a_job_that_only_has_another_name_is_recognised() -> None:
    line = "0 3 * * * @win(after,1h)"
    old = [entry(line, "a")._replace(command_text="backup"), entry(line, "b")._replace(command_text="tidy")]
    new = [entry(line, "c")._replace(command_text="tidy")]

    assert plan_change(old, new, WEEK).identities == [ChangedSeed("test/c", "c", "test/b", "test/c")]


def test_a_new_job_is_no_renamed_one() -> None:
    old, new = entry("0 3 * * *", "a")._replace(command_text="x"), entry("0 3 * * *", "b")._replace(command_text="y")

    assert plan_change([old], [new], WEEK).identities == []


# Europe/Paris: on 2026-03-29 at 02:00 clocks go to 03:00; on 2026-10-25 at 03:00 they go back to 02:00.


@pytest.mark.parametrize(
    ("week", "night", "hour"),
    [(WEEK, date(2026, 3, 29), 1), (span("2026-10-20T00:00:00+00:00", DAY * 7), date(2026, 10, 25), 1)],
    ids=["gap", "fold"],
)
def test_a_night_on_which_clocks_are_changed_is_reported_if_runs_of_it_change(
    week: TimeSpan, night: date, hour: int
) -> None:
    old, new = (entry(f"30 {at} * * * @tz(Europe/Paris)") for at in (2, 4))

    (found,) = plan_change([old], [new], week).nights

    assert (found.date, found.timezone, found.at.hour, found.identities) == (night, "Europe/Paris", hour, ("test/job",))


def test_a_night_without_a_change_of_runs_is_not_reported() -> None:
    old, new = entry("30 4 * * MON @tz(Europe/Paris)"), entry("30 5 * * MON @tz(Europe/Paris)")

    assert plan_change([old], [new], WEEK).nights == []


def test_a_day_without_a_change_of_clocks_is_not_reported() -> None:
    old, new = entry("30 4 * * *"), entry("30 5 * * *")

    assert plan_change([old], [new], WEEK).nights == []


def test_the_end_of_the_calendar_is_no_obstacle() -> None:
    old, new = entry("30 23 * * *"), entry("30 23 * * * @win(after,29m)")
    last = span("9999-12-30T00:00:00+00:00", "9999-12-31T23:59:59+00:00")

    assert len(plan_change([old], [new], last).moves) == 2

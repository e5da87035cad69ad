"""Due times: the occurrences of a schedule, and the chosen times of a timing in order."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import cast

import pytest
from hypothesis import given, settings, strategies as st

from kron.cron.schedule import Schedule
from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.instant import MICROSECOND, SECOND, Instant, parse_instant
from kron.rules.due import ChosenTimes, Occurrences
from tests.calls import counted

NOON = parse_instant("2026-03-02T12:00:00Z")
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
LONG_AGO = NOON - 30 * DAY
THE_END = datetime.max.replace(tzinfo=UTC)
THE_BEGINNING = datetime.min.replace(tzinfo=UTC)
ONE_SEARCH = 1_000  # periods that are looked at before next says when to ask again

LINES = [
    "* * * * * @win(after,30m)",
    "* * * * * @win(around,1h)",
    "*/7 * * * * @win(around,90m) @dist(normal)",
    "0 * * * * @win(after,3h) @avoid(hours=9-17)",
    "*/30 * * * * @win(after,2h) @only(hours=3,4)",
    "0 3 * * * @tz(Europe/Paris) @win(after,20m)",
    "*/20 * * * * @win(after,1h) @seed(daily)",
    "*/20 * * * *",
]


def timing(line: str) -> Timing:
    return Timing.parse(line, identity="report")


def chosen_times(line: str) -> ChosenTimes:
    return ChosenTimes(timing(line))


@cache
def by_brute_force(line: str) -> list[Instant]:
    """Return every chosen second from three days before noon to three days after, by asking every period."""
    each = timing(line)
    first, last = NOON - 3 * DAY, NOON + 3 * DAY
    periods = each.schedule.between(first - each.window.duration - SECOND, last + each.window.duration)
    chosen = {decide(each, nominal).chosen_time for nominal in periods}
    return sorted(second for second in chosen if second is not None and first <= second <= last)


def walk(step: Callable[[Instant], Instant | None], start: Instant, *, most: int) -> list[Instant]:
    """Return what a step leads to, again and again, until there is nothing more, or so many."""
    found: list[Instant] = []
    at = step(start)
    while at is not None and len(found) < most:
        found.append(at)
        at = step(at)
    return found


lines = st.sampled_from(LINES)
near_noon = st.timedeltas(-DAY, DAY).map(lambda away: NOON + away) | st.integers(-86_400, 86_400).map(
    lambda seconds: NOON + seconds * SECOND
)


# --- chosen seconds ---------------------------------------------------------------------------------------------------


@given(lines, near_noon)
def test_next_is_the_earliest_chosen_second_after(line: str, after: Instant) -> None:
    found = chosen_times(line).next(after)

    assert found == min(second for second in by_brute_force(line) if second > after)


@given(lines, near_noon)
def test_latest_is_the_last_chosen_second_at_or_before(line: str, at: Instant) -> None:
    found = chosen_times(line).latest(at, LONG_AGO)

    assert found == max(second for second in by_brute_force(line) if second <= at)


@given(lines, near_noon)
def test_the_next_is_the_latest_when_it_is_due_and_none_is_between(line: str, moment: Instant) -> None:
    due = chosen_times(line)

    found = due.next(moment)

    assert found is not None
    assert due.latest(found, LONG_AGO) == found
    assert due.latest(found - MICROSECOND, LONG_AGO) == due.latest(moment, LONG_AGO)


@given(lines, near_noon)
def test_from_just_before_the_latest_the_next_is_the_latest(line: str, moment: Instant) -> None:
    due = chosen_times(line)

    found = due.latest(moment, LONG_AGO)

    assert found is not None
    assert due.next(found - MICROSECOND) == found
    assert due.next(found) == due.next(moment)


@given(lines, near_noon, near_noon)
def test_before_the_instant_that_matters_nothing_needs_to_be_found(line: str, at: Instant, since: Instant) -> None:
    found = chosen_times(line).latest(at, since)

    later = [second for second in by_brute_force(line) if since < second <= at]
    assert found == later[-1] if later else found is None or found <= since


@given(lines, st.lists(near_noon, min_size=2, max_size=6))
def test_earlier_searches_never_change_a_chosen_second(line: str, questions: list[Instant]) -> None:
    asked = chosen_times(line)
    for each in questions:
        assert asked.next(each) == chosen_times(line).next(each)
        assert asked.latest(each, LONG_AGO) == chosen_times(line).latest(each, LONG_AGO)


def test_a_search_decides_again_nothing_that_the_last_two_have_decided() -> None:
    task = chosen_times("* * * * * @win(around,4h)")
    task.next(NOON)
    task.latest(NOON, LONG_AGO)

    with counted(decide) as calls:
        task.next(NOON + MINUTE)
        task.latest(NOON + MINUTE, LONG_AGO)

    assert calls["decide"] < 10  # of some hundred periods that may hold the answers


def test_a_task_whose_windows_hold_few_periods_remembers_none_of_them() -> None:
    task = chosen_times("*/5 * * * * @win(around,2h)")

    with counted(decide) as calls:
        for _ in range(3):
            task.next(NOON)

    assert calls["decide"] % 3 == 0
    assert calls["decide"] > 3 * 12


@given(near_noon)
def test_without_modifiers_the_chosen_seconds_are_the_occurrences(moment: Instant) -> None:
    due, schedule = chosen_times("*/20 * * * *"), Schedule("*/20 * * * *")

    assert due.next(moment) == schedule.next(moment)
    assert due.latest(moment, LONG_AGO) == schedule.previous(moment)


@pytest.mark.parametrize("line", LINES[:3])
def test_windows_that_overlap_give_their_seconds_in_the_order_of_time(line: str) -> None:
    found = walk(chosen_times(line).next, NOON, most=100)

    assert found == [second for second in by_brute_force(line) if second > NOON][:100]


@pytest.mark.parametrize("line", ["* * * * * @win(after,30h)", "* * * * * @win(around,40h)"])
def test_a_window_over_more_periods_than_a_search_holds_loses_no_second(line: str) -> None:
    found = walk(chosen_times(line).next, NOON, most=20)

    assert found == [second for second in by_brute_force(line) if second > NOON][:20]


# --- seconds that are ruled out ---------------------------------------------------------------------------------------


def test_where_many_periods_are_ruled_out_next_says_when_to_ask_again() -> None:
    due, four = chosen_times("* * * * * @win(after,5m) @only(hours=3)"), NOON.replace(hour=4)

    again = due.next(four)

    assert again is not None
    assert four < again < NOON.replace(hour=3) + DAY


@pytest.mark.slow
@settings(max_examples=10)  # each is thousands of periods
@given(st.sampled_from(["* * * * * @only(hours=3)", "* * * * * @win(after,5m) @only(hours=3)"]), near_noon)
def test_asking_again_at_the_given_instant_misses_no_occurrence(line: str, after: Instant) -> None:
    due, expected = chosen_times(line), min(second for second in by_brute_force(line) if second > after)

    asked = walk(due.next, after, most=9)

    assert expected in asked
    assert all(at in by_brute_force(line) or at < expected for at in asked[: asked.index(expected)])


@pytest.mark.parametrize("since", [LONG_AGO, THE_BEGINNING, NOON + DAY], ids=str)
def test_a_timing_that_never_allows_a_second_has_no_latest_one(since: Instant) -> None:
    assert chosen_times("0 0 * * * @only(hours=12)").latest(NOON, since) is None


def test_a_timing_that_never_allows_a_second_is_asked_for_again_and_again() -> None:
    first, second = walk(chosen_times("0 0 * * * @only(hours=12)").next, NOON, most=2)

    assert NOON + 900 * DAY < first < second - 900 * DAY


# --- where the calendar ends ------------------------------------------------------------------------------------------


def test_the_last_seconds_of_the_calendar_are_found() -> None:
    found = walk(chosen_times("* * * * * @win(after,30m)").next, THE_END - 90 * MINUTE, most=100)

    assert found[-1] > THE_END - 30 * MINUTE
    assert all(one < other for one, other in pairwise(found))


def test_the_first_seconds_of_the_calendar_are_found() -> None:
    due = chosen_times("* * * * * @win(after,30m)")

    found = walk(lambda at: due.latest(at - MICROSECOND, THE_BEGINNING), THE_BEGINNING + 90 * MINUTE, most=100)

    assert found[-1] < THE_BEGINNING + 10 * MINUTE
    assert all(one > other for one, other in pairwise(found))


@pytest.mark.parametrize("line", ["0 0 * * *", "* * * * * @win(after,30m)", "* * * * * @win(around,30m)"])
def test_after_the_end_of_the_calendar_nothing_comes(line: str) -> None:
    assert chosen_times(line).next(THE_END) is None


def test_before_the_first_occurrence_of_the_calendar_nothing_came() -> None:
    assert chosen_times("5 0 * * *").latest(THE_BEGINNING, THE_BEGINNING) is None


@pytest.mark.parametrize("line", ["* * * * * @win(after,30m)", "* * * * * @win(around,30m)"])
def test_in_the_last_minutes_of_the_calendar_the_latest_second_is_found(line: str) -> None:
    assert chosen_times(line).latest(THE_END, THE_END - DAY) is not None


# --- occurrences ------------------------------------------------------------------------------------------------------


@given(near_noon, near_noon)
def test_occurrences_are_those_of_the_schedule_however_long_ago(moment: Instant, since: Instant) -> None:
    schedule = Schedule("0 3 * * *", "Europe/Paris")
    due = Occurrences(schedule)

    assert due.next(moment) == schedule.next(moment)
    assert due.latest(moment, since) == schedule.previous(moment)


def test_occurrences_end_with_the_calendar() -> None:
    due = Occurrences(Schedule("5 0 * * *"))

    assert due.next(THE_END) is None
    assert due.latest(THE_BEGINNING, THE_BEGINNING) is None


@given(st.lists(near_noon, min_size=2))
def test_earlier_queries_never_change_an_answer(questions: list[Instant]) -> None:
    schedule = Schedule("0 3,12 * * *", "Europe/Paris")
    due = Occurrences(schedule)

    answers = [(due.latest(at, LONG_AGO), due.next(at)) for at in questions]

    assert answers == [(schedule.previous(at), schedule.next(at)) for at in questions]


class RecordingSchedule:
    """A schedule that records the instants it is asked about."""

    def __init__(self) -> None:
        self.questions: list[Instant] = []
        self._schedule = Schedule("0 * * * *")

    def next(self, after: Instant) -> Instant:
        self.questions.append(after)
        return self._schedule.next(after)

    def previous(self, at: Instant) -> Instant:
        self.questions.append(at)
        return self._schedule.previous(at)


def test_between_two_occurrences_the_schedule_is_asked_once_in_each_direction() -> None:
    hourly = RecordingSchedule()
    due = Occurrences(cast(Schedule, hourly))

    answers = {(due.latest(at, LONG_AGO), due.next(at)) for at in (NOON, NOON + MINUTE, NOON + HOUR - MICROSECOND)}

    assert answers == {(NOON, NOON + HOUR)}
    assert hourly.questions == [NOON, NOON]


@pytest.mark.parametrize("at", [NOON + HOUR, NOON - MICROSECOND], ids=["later", "earlier"])
def test_beyond_them_it_is_asked_again(at: Instant) -> None:
    hourly = RecordingSchedule()
    due = Occurrences(cast(Schedule, hourly))

    due.next(NOON)
    due.next(at)

    assert set(hourly.questions) == {NOON, at}

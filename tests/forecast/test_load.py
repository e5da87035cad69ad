"""The load of a span equals counting one by one, also when it is added up from slices."""

from collections import Counter
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings, strategies as st

from kron.forecast.load import (
    UNITS,
    Load,
    Peak,
    count_starts,
    epoch_second,
    identities_at,
    series_unit,
    slices,
)
from kron.forecast.runs import ForecastJob, TimeSpan
from tests.forecast.foreseen import NOON, by_brute_force, entry, entry_lists, span, spans

DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)


def highest(seconds: list[int], unit: int) -> Peak:
    counts = Counter(second // unit for second in seconds)
    return min(
        (Peak(count, at) for at, count in counts.items()), key=lambda peak: (-peak.count, peak.at), default=Peak()
    )


def chosen_seconds(entries: list[ForecastJob], wanted: TimeSpan) -> list[int]:
    found = (decision.chosen_time for _, decision in by_brute_force(entries, wanted))
    return [epoch_second(at) for at in found if at is not None]


def in_slices(entries: list[ForecastJob], wanted: TimeSpan, durations: dict[str, timedelta] | None = None) -> Load:
    load = Load()
    for part in slices(wanted):
        load.add(count_starts(entries, part, series_unit(wanted), durations=durations))
    return load


@settings(max_examples=25)
@given(entries=entry_lists, wanted=spans)
def test_chosen_starts_are_counted_by_second_minute_and_hour(entries: list[ForecastJob], wanted: TimeSpan) -> None:
    load, seconds = count_starts(entries, wanted, "minute"), chosen_seconds(entries, wanted)

    assert load.chosen.total == len(seconds)
    assert load.chosen.peaks == {unit: highest(seconds, UNITS[unit]) for unit in ("second", "minute", "hour")}
    assert load.chosen.series == Counter(second // 60 for second in seconds)
    by_minute = Counter(second // 60 % 1440 for second in seconds)
    assert load.chosen.minutes == [by_minute[minute] for minute in range(1440)]


@settings(max_examples=25)
@given(entries=entry_lists, wanted=spans)
def test_nominal_starts_are_those_without_any_window(entries: list[ForecastJob], wanted: TimeSpan) -> None:
    seconds = [epoch_second(at) for each in entries for at in each.timing.schedule.between(*wanted)]

    nominal = count_starts(entries, wanted).nominal

    assert nominal.peaks == {unit: highest(seconds, UNITS[unit]) for unit in ("second", "minute", "hour")}


@settings(max_examples=25)
@given(entries=entry_lists, wanted=spans)
def test_periods_without_a_second_are_counted(entries: list[ForecastJob], wanted: TimeSpan) -> None:
    failed = [decision for _, decision in by_brute_force(entries, wanted) if decision.chosen_time is None]

    assert count_starts(entries, wanted).unschedulable == len(failed)


@settings(max_examples=15)
@given(entries=entry_lists, start=st.integers(0, 90_000), length=st.integers(0, 200_000), minutes=st.integers(1, 2000))
def test_slices_add_up_to_the_whole(entries: list[ForecastJob], start: int, length: int, minutes: int) -> None:
    wanted = span(NOON + SECOND * start, timedelta(seconds=length))
    durations = {entries[0].identity: timedelta(minutes=minutes)}

    load = in_slices(entries, wanted, durations)

    assert load == count_starts(entries, wanted, series_unit(wanted), durations=durations)


@given(
    wanted=st.builds(
        lambda start, length: span(NOON + SECOND * start, SECOND * length), st.integers(0, 9999), st.integers(1, 10**8)
    )
)
def test_slices_follow_each_other_and_begin_with_an_hour(wanted: TimeSpan) -> None:
    parts = slices(wanted)

    assert [part.until for part in parts[:-1]] == [part.since for part in parts[1:]]
    assert (parts[0].since, parts[-1].until) == wanted
    assert all(epoch_second(part.since + SECOND) % 3600 == 0 for part in parts[1:])


@settings(max_examples=25)
@given(entries=entry_lists, wanted=spans, minutes=st.integers(0, 300))
def test_most_runs_at_once_are_those_of_the_worst_second(
    entries: list[ForecastJob], wanted: TimeSpan, minutes: int
) -> None:
    length = max(1, minutes * 60)
    durations = {each.identity: timedelta(minutes=minutes) for each in entries}
    before = TimeSpan(wanted.since - SECOND * length, wanted.until)
    starts = chosen_seconds(entries, before)
    first, last = epoch_second(wanted.since) + 1, epoch_second(wanted.until)
    moments = {max(start, first) for start in starts}
    active = {at: sum(start <= at < start + length for start in starts) for at in moments if at <= last}
    worst = max(active.values(), default=0)

    found = count_starts(entries, wanted, durations=durations)

    assert found.active.count == worst
    assert found.busy == length * len(chosen_seconds(entries, wanted))
    assert not worst or found.active.at == min(at for at, count in active.items() if count == worst)


def test_jobs_of_unknown_duration_are_not_among_those_that_run_at_once() -> None:
    entries = [entry("0 * * * *", "known"), entry("0 * * * *", "unknown")]

    load = count_starts(entries, span(NOON, DAY), durations={"test/known": timedelta(minutes=5)})

    assert load.active.count == 1


def test_runs_that_began_before_the_span_are_among_those_that_run_at_once() -> None:
    load = count_starts([entry("0 12 * * *")], span(NOON, DAY), durations={"test/job": timedelta(minutes=5)})

    assert load.active == Peak(1, epoch_second(NOON) + 1)


def test_the_worst_collisions_are_the_fullest_seconds_and_of_equal_ones_the_earliest() -> None:
    entries = [
        entry("0 */6 * * *", "a"),
        entry("0 */6 * * *", "b"),
        entry("0 */12 * * *", "c"),
        entry("5 * * * *", "d"),
    ]

    load = in_slices(entries, span(NOON, DAY))

    hours = {3: [12, 24], 2: [6, 18]}
    assert load.worst == [
        (count, epoch_second(NOON + timedelta(hours=hour))) for count, each in hours.items() for hour in each
    ]


def test_those_who_start_in_a_second_are_named() -> None:
    entries = [entry("0 13 * * *", "b"), entry("0 13 * * *", "a"), entry("0 14 * * *", "c")]

    assert [each.identity for each in identities_at(entries, NOON + timedelta(hours=1))] == ["test/a", "test/b"]


def test_a_start_at_the_beginning_of_a_span_is_not_in_it_and_one_at_its_end_is() -> None:
    once = [entry("0 12 29 3 * @win(after,1h)")]
    (second,) = chosen_seconds(once, span(NOON, DAY))
    at = NOON + SECOND * (second - epoch_second(NOON))

    assert count_starts(once, TimeSpan(at, at + DAY)).chosen.total == 0
    assert count_starts(once, TimeSpan(at - SECOND, at)).chosen.total == 1


def test_a_span_of_nothing_has_no_load() -> None:
    assert count_starts([], span(NOON, DAY)) == Load()


def test_the_last_hours_of_the_calendar_have_a_load() -> None:
    end = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)

    load = in_slices([entry("0 * * * * @win(after,10m)")], TimeSpan(end - DAY, end))

    assert load.chosen.total == 24

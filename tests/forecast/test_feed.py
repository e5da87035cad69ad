"""The feed: the coming decisions as JSON, CSV and iCalendar."""

import csv
import json
from datetime import timedelta
from io import StringIO

from hypothesis import given, settings, strategies as st

from kron.forecast.feed import COLUMNS, feed
from kron.forecast.runs import ForecastJob, TimeSpan
from tests.forecast.foreseen import NOON, by_brute_force, entry, entry_lists, span, spans

DAY = timedelta(days=1)
NEVER = "0 12 * * * @only(hours=5)"


def text(entries: list[ForecastJob], wanted: TimeSpan, form: str) -> str:
    return "".join(feed(entries, wanted, form))


def properties(calendar: str) -> list[tuple[str, str]]:
    """Return names and values of all lines, unfolded."""
    lines = calendar.replace("\r\n ", "").split("\r\n")
    assert lines.pop() == ""
    return [(line.partition(":")[0], line.partition(":")[2]) for line in lines]


def values(calendar: str, name: str) -> list[str]:
    return [value for found, value in properties(calendar) if found == name]


@settings(max_examples=30)
@given(entries=entry_lists, wanted=spans)
def test_json_has_a_row_for_each_decision_and_its_name(entries: list[ForecastJob], wanted: TimeSpan) -> None:
    expected = [{**decision.to_dict(), "name": each.name} for each, decision in by_brute_force(entries, wanted)]

    assert json.loads(text(entries, wanted, "json")) == expected


def test_nothing_expected_is_an_empty_array() -> None:
    assert text([entry("0 0 1 1 *")], span(NOON, DAY), "json") == "[]\n"


@settings(max_examples=30)
@given(entries=entry_lists, wanted=spans)
def test_csv_has_the_columns_of_the_json_rows(entries: list[ForecastJob], wanted: TimeSpan) -> None:
    rows = list(csv.DictReader(StringIO(text(entries, wanted, "csv"))))
    expected = json.loads(text(entries, wanted, "json"))

    assert [row["chosen_time"] or None for row in rows] == [row["chosen_time"] for row in expected]
    assert [json.loads(row["distribution"]) for row in rows] == [row["distribution"] for row in expected]
    assert all(tuple(row) == COLUMNS for row in [*rows, *expected])


def test_csv_of_nothing_still_has_its_columns() -> None:
    assert text([], span(NOON, DAY), "csv") == ",".join(COLUMNS) + "\n"


def test_an_event_begins_at_the_chosen_second_and_is_named_by_the_seed() -> None:
    each = entry("0 * * * * @win(after,30m)", "backup")
    wanted = span(NOON, timedelta(hours=1))
    ((_, decision),) = by_brute_force([each], wanted)
    assert decision.chosen_time is not None

    calendar = text([each], wanted, "ics")

    assert values(calendar, "UID") == [f"{decision.seed_hash[:32]}@kron"]
    assert values(calendar, "DTSTART") == [decision.chosen_time.strftime("%Y%m%dT%H%M%SZ")]
    assert values(calendar, "SUMMARY") == ["backup"]


def test_a_calendar_is_the_same_text_every_time() -> None:
    entries, wanted = [entry("0 * * * * @win(after,30m)")], span(NOON, DAY)

    assert text(entries, wanted, "ics") == text(entries, wanted, "ics")


def test_a_period_without_a_chosen_time_is_a_row_and_not_an_event() -> None:
    assert [row["chosen_time"] for row in json.loads(text([entry(NEVER)], span(NOON, DAY), "json"))] == [None]
    assert values(text([entry(NEVER)], span(NOON, DAY), "ics"), "UID") == []


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=120))
def test_with_any_job_name_the_lines_are_short_and_none_is_forged(name: str) -> None:
    calendar = text([ForecastJob(name, entry("0 13 29 3 *").timing)], span(NOON, DAY), "ics")

    assert all(len(line.encode()) <= 75 for line in calendar.split("\r\n"))
    assert [found for found, _ in properties(calendar)] == [
        "BEGIN", "VERSION", "PRODID", "BEGIN", "UID", "DTSTAMP", "DTSTART", "SUMMARY", "DESCRIPTION", "TRANSP", "END",
        "END",
    ]  # fmt: skip


def test_separators_in_values_are_escaped() -> None:
    calendar = text([ForecastJob("a,b;c\\d", entry("0 13 29 3 *").timing)], span(NOON, DAY), "ics")

    assert values(calendar, "SUMMARY") == ["a\\,b\\;c\\\\d"]


def test_periods_that_share_a_seed_are_different_events() -> None:
    each = entry("0 * * * * @win(after,10m) @seed(daily)")
    uids = values(text([each], span(NOON, timedelta(days=3)), "ics"), "UID")

    assert len(set(uids)) == len(uids) == 72


def test_the_first_period_of_a_seed_has_its_plain_name_whatever_span_is_asked_for() -> None:
    each, midnight = entry("0 * * * * @win(after,10m) @seed(daily)"), NOON + timedelta(hours=12, minutes=-1)
    uids = values(text([each], span(midnight, timedelta(hours=3)), "ics"), "UID")

    later = values(text([each], span(midnight + timedelta(hours=1, minutes=15), DAY), "ics"), "UID")

    assert ["-" in uid for uid in uids] == [False, True, True]
    assert later[0] == uids[2]

"""Traces: every written trace can be read; invalid ones are refused by line and field, with a fix."""

import json

import pytest
from hypothesis import given, strategies as st

from kron.errors import InvalidTraceError
from kron.theory.alphabet import EVENTS
from kron.theory.trace_format import (
    ResponseBounds,
    TracedRecord,
    TracedTask,
    TraceEvent,
    TraceHeader,
    events_of,
    memories_of,
    read_trace,
    registrations_of,
    write_event,
    write_header,
)

CONTRACTS = ("declarative", "polling")
HEADER = '{"trace": 2, "contract": "declarative"}'
START = '{"t": 0, "event": "RunStart", "task": "a"}'
YEAR_10000, YEAR_0 = 253_402_300_800_000, -62_135_596_800_001


def read(*lines: str) -> list[TraceEvent]:
    """Return the events of a trace with the usual header."""
    return [event for line in read_trace([HEADER, *lines], CONTRACTS)[1] for event in events_of(line)]


def refusal(*lines: str) -> InvalidTraceError:
    """Return the error that the reader of a trace gets."""
    with pytest.raises(InvalidTraceError) as caught:
        list(read_trace(lines, CONTRACTS)[1])
    return caught.value


# --- there and back ---------------------------------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
counts = st.integers(0, 2**53)
instants = st.integers(YEAR_0 + 1, YEAR_10000 - 1)
bounds = st.none() | st.builds(ResponseBounds, counts, counts, counts)
headers = st.builds(TraceHeader, st.sampled_from(CONTRACTS), st.text(), bounds, st.booleans(), counts)
registrations = st.lists(
    st.fixed_dictionaries({"name": st.text(), "cron": st.text(), "retryDelayMs": counts | st.floats(allow_nan=False)})
)
memories = st.lists(
    st.fixed_dictionaries(
        {"task": texts, "cron": texts, "retryDelayMs": counts, "first": instants},
        optional={"lastStart": instants, "retryAt": instants, "interrupted": st.booleans()},
    )
)
FIELDS: dict[str, st.SearchStrategy[object]] = {
    "task": texts, "identity": texts, "period": texts, "error": st.text(), "cause": st.text(), "call": counts,
    "attempt": counts, "retries": counts, "deadlineMs": counts, "slackMs": counts, "acceptedMs": st.integers(),
    "concurrency": st.sampled_from(["allow", "forbid", "replace"]),
    "ended": st.integers(), "closed": st.booleans(), "valid": st.booleans(),
    "registrations": registrations, "remembered": memories, "lastDue": st.dictionaries(st.text(), st.integers()),
}  # fmt: skip


@st.composite
def positions(draw: st.DrawFn) -> TraceEvent:
    event = draw(st.sampled_from(sorted(EVENTS)))
    kind = EVENTS[event]
    optional = draw(st.sets(st.sampled_from(kind.optional))) if kind.optional else set[str]()
    return TraceEvent(
        draw(instants),
        event,
        {field: draw(FIELDS.get(field, st.text())) for field in (*kind.required, *sorted(optional))},
    )


@given(headers, st.lists(positions()))
def test_a_trace_that_was_written_is_read_as_it_was(header: TraceHeader, events: list[TraceEvent]) -> None:
    events.sort(key=lambda position: position.time_ms)
    lines = [write_header(header), *map(write_event, events)]

    found, read_back = read_trace(lines, CONTRACTS)

    assert found == header
    assert list(read_back) == events


@given(positions())
def test_a_position_is_one_line_of_json(position: TraceEvent) -> None:
    line = write_event(position)

    assert "\n" not in line
    assert "\r" not in line
    assert json.loads(line) == {"t": position.time_ms, "event": position.kind, **position.fields}


def test_a_header_says_what_it_has_to_and_no_more() -> None:
    assert write_header(TraceHeader("polling")) == '{"trace": 2, "contract": "polling", "timezone": "UTC"}'


def test_a_header_without_zone_and_bounds_means_utc_and_the_usual_ones() -> None:
    header, _ = read_trace([HEADER], CONTRACTS)

    assert header == TraceHeader("declarative", "UTC", None)


def test_the_list_of_an_initialisation_is_at_hand() -> None:
    item = '{"name": "a", "cron": "* * * * *", "retryDelayMs": 0.5}'
    (position,) = read(f'{{"t": 0, "event": "InitStart", "call": 1, "registrations": [{item}]}}')

    assert registrations_of(position) == [TracedTask("a", "* * * * *", 0.5)]


def test_blank_lines_may_stand_at_the_end_and_nowhere_else() -> None:
    assert [position.kind for position in read(START, "", "  \n")] == ["RunStart"]
    assert refusal(HEADER, START, "\t", "", START).line == 3


@pytest.mark.parametrize("version", ["true", "1.0", '"1"', "null", "3"])
def test_the_version_is_a_whole_number(version: str) -> None:
    assert refusal(f'{{"trace": {version}, "contract": "declarative"}}').line == 1


def test_a_line_deeper_than_any_reader_is_refused() -> None:
    assert refusal(HEADER, "[" * 100_000).line == 2


def test_a_name_that_no_line_can_hold_is_refused() -> None:
    assert refusal(HEADER, '{"t": 0, "event": "RunStart", "task": "\\ud800"}').field == "task"


def test_the_remembered_records_of_a_ledger_are_read() -> None:
    task = '"task": "a", "cron": "* * * * *", "retryDelayMs": 0, "first": 5'
    (position,) = read(f'{{"t": 9, "event": "InitSuccess", "call": 1, "remembered": [{{{task}, "retryAt": 7}}]}}')

    memory = TracedRecord(TracedTask("a", "* * * * *", 0), 5, None, 7, is_interrupted=False)
    assert memories_of(position) == {"a": memory}


def test_positions_may_share_an_instant() -> None:
    assert len(read(START, START)) == 2


def test_an_unknown_field_is_kept() -> None:
    (position,) = read('{"t": 0, "event": "Freeze", "host": "a"}')

    assert position.fields == {"host": "a"}


def test_the_rest_is_read_only_when_it_is_asked_for() -> None:
    _, rest = read_trace([HEADER, START, "damaged"], CONTRACTS)

    assert next(rest) == TraceEvent(0, "RunStart", {"task": "a"})


def test_a_position_is_about_its_task_or_its_job() -> None:
    assert TraceEvent(0, "RunStart", {"task": "a"}).subject == "a"
    assert TraceEvent(0, "Suspended", {"identity": "b"}).subject == "b"
    assert TraceEvent(0, "Freeze").subject == ""


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "field", "right"),
    [
        ("", "line", "must be a JSON object"),
        (START[:20], "line", "must be a JSON object in one line; this one is cut off or damaged"),
        ("trace: 1", "line", "must be a JSON object"),
        ("[1]", "line", "must be a JSON object"),
        ("{}", "trace", "must be 1 or 2, in a header"),
        (START, "trace", "must be 1 or 2, in a header"),
        ('{"trace": 3, "contract": "declarative"}', "trace", "must be 1 or 2, in a header"),
        ('{"trace": "1", "contract": "declarative"}', "trace", "must be 1 or 2, in a header"),
        ('{"trace": 1}', "contract", "must be one of declarative, polling"),
        ('{"trace": 1, "contract": "kron"}', "contract", "must be one of declarative, polling"),
        ('{"trace": 1, "contract": ["polling"]}', "contract", "must be one of declarative, polling"),
        ('{"trace": 1, "contract": "polling", "timezone": 2}', "timezone", "must be the name of a zone"),
    ],
)
def test_a_header_that_is_none_is_refused(line: str, field: str, right: str) -> None:
    error = refusal(line, START)

    assert (error.line, error.field) == (1, field)
    assert right in str(error)


def test_a_file_without_any_line_has_no_header() -> None:
    assert refusal().line == 1


@pytest.mark.parametrize(
    "bounds",
    [
        "1",
        "[]",
        "{}",
        '{"a": 1, "b": 2}',
        '{"a": 1, "b": 2, "lag": 3, "c": 4}',
        '{"a": -1, "b": 2, "lag": 3}',
        '{"a": 0.5, "b": 2, "lag": 3}',
        '{"a": true, "b": 2, "lag": 3}',
        '{"a": "1", "b": 2, "lag": 3}',
    ],
)
def test_bounds_that_are_not_three_whole_numbers_are_refused(bounds: str) -> None:
    error = refusal(f'{{"trace": 1, "contract": "polling", "bounds": {bounds}}}')

    assert (error.line, error.field) == (1, "bounds")
    assert "a, b and lag, each a whole number of milliseconds" in str(error)


@pytest.mark.parametrize(
    ("line", "field", "right"),
    [
        (START[:-1], "line", "must be a JSON object in one line; this one is cut off or damaged"),
        ("RunStart a", "line", "must be a JSON object in one line"),
        ('["RunStart"]', "line", "must hold JSON objects, at least one"),
        ("null", "line", "must be a JSON object, or a list of them"),
        ('{"t": 0}', "event", "must be one of InitStart, "),
        ('{"t": 0, "event": "TaskRunStarted"}', "event", "RunStart"),
        ('{"t": 0, "event": ["RunStart"]}', "event", "must be one of InitStart, "),
        ('{"event": "RunStart", "task": "a"}', "t", "must be a whole number of milliseconds"),
        ('{"t": 0.5, "event": "RunStart", "task": "a"}', "t", "must be a whole number of milliseconds"),
        ('{"t": true, "event": "RunStart", "task": "a"}', "t", "must be a whole number of milliseconds"),
        ('{"t": "0", "event": "RunStart", "task": "a"}', "t", "must be a whole number of milliseconds"),
        (f'{{"t": {YEAR_10000}, "event": "Freeze"}}', "t", "must lie in the years 1 to 9999"),
        (f'{{"t": {YEAR_0}, "event": "Freeze"}}', "t", "must lie in the years 1 to 9999"),
        ('{"t": -1, "event": "Freeze"}', "t", "must not be before that of the line above, 0"),
    ],
)
def test_a_line_that_is_no_event_is_refused(line: str, field: str, right: str) -> None:
    error = refusal(HEADER, START, line)

    assert (error.line, error.field) == (3, field)
    assert right in str(error)


REQUIRED = [(event, field) for event, kind in EVENTS.items() for field in kind.required]
ANYTHING: dict[str, object] = {"call": 1, "registrations": [], "closed": True}


@pytest.mark.parametrize(("event", "field"), REQUIRED)
def test_an_event_has_the_fields_it_needs(event: str, field: str) -> None:
    others = {other: ANYTHING.get(other, "x") for other in EVENTS[event].required if other != field}

    error = refusal(HEADER, write_event(TraceEvent(0, event, others)))

    assert (error.line, error.field) == (2, field)
    assert f"must be there: {event} needs it" in str(error)


@pytest.mark.parametrize(
    ("field", "found", "right"),
    [
        *((field, found, "must be a text") for field in ("task", "identity", "period") for found in ("", 1, None)),
        *((field, found, "must be a whole number") for field in ("call", "attempt") for found in (-1, 0.5, True, "1")),
        *(
            (field, found, "must be a whole number of milliseconds")
            for field in ("ended", "acceptedMs")
            for found in (0.5, True, None, "1")
        ),
        *((field, found, "must be true or false") for field in ("closed", "valid") for found in (0, None, "true")),
    ],
)
def test_a_field_of_another_type_is_refused(field: str, found: object, right: str) -> None:
    error = refusal(HEADER, write_event(TraceEvent(0, "Freeze", {field: found})))

    assert (error.line, error.field) == (2, field)
    assert right in str(error)


@pytest.mark.parametrize(
    ("found", "right"),
    [
        (None, "must be a list"),
        ({}, "must be a list"),
        (["a"], "must have a name and a cron expression"),
        ([{}], "must have a name and a cron expression"),
        ([{"name": "a", "cron": "* * * * *"}], "retryDelayMs, which is a number"),
        ([{"name": "a", "cron": "* * * * *", "retryDelayMs": True}], "retryDelayMs, which is a number"),
        ([{"name": "a", "cron": "* * * * *", "retryDelayMs": "1"}], "retryDelayMs, which is a number"),
        ([{"name": 1, "cron": "* * * * *", "retryDelayMs": 1}], "which are texts"),
        ([{"name": "a", "cron": 5, "retryDelayMs": 1}], "which are texts"),
        ([["a", "* * * * *", 1]], "must have a name and a cron expression"),
    ],
)
def test_a_list_of_the_wrong_shape_is_refused(found: object, right: str) -> None:
    error = refusal(HEADER, write_event(TraceEvent(0, "InitStart", {"call": 1, "registrations": found})))

    assert (error.line, error.field) == (2, "registrations")
    assert right in str(error)

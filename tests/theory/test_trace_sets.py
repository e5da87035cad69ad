"""Traces, version 2: a line may hold several events, and each of them is checked."""

from random import Random

import pytest
from hypothesis import given, strategies as st

from kron.theory.trace_format import SimultaneousEvents, TraceEvent, events_of, read_trace, write_event
from tests.theory.test_trace_format import CONTRACTS, HEADER, START, instants, positions, refusal


@given(st.lists(positions(), min_size=2, max_size=4), instants)
def test_a_set_of_events_is_one_line_of_json_and_is_read_as_it_was(events: list[TraceEvent], t: int) -> None:
    together = SimultaneousEvents(tuple(event._replace(time_ms=t) for event in events))
    line = write_event(together)

    assert "\n" not in line
    assert list(read_trace([HEADER, line], CONTRACTS)[1]) == [together]


def test_a_list_of_one_event_is_that_event() -> None:
    assert list(read_trace([HEADER, f"[{START}]"], CONTRACTS)[1]) == [TraceEvent(0, "RunStart", {"task": "a"})]


@given(st.lists(positions(), min_size=2, max_size=4), st.randoms())
def test_the_events_of_a_set_have_no_order(events: list[TraceEvent], chance: Random) -> None:
    events = [event._replace(time_ms=0) for event in events]
    others = chance.sample(events, len(events))

    assert events_of(SimultaneousEvents(tuple(events))) == events_of(SimultaneousEvents(tuple(others)))


def test_a_list_is_no_line_of_version_1() -> None:
    error = refusal(HEADER.replace("2", "1"), f"[{START}]")

    assert (error.line, error.field) == (2, "line")
    assert "must be a JSON object" in str(error)


@pytest.mark.parametrize("slack", ["-1", "0.5", "true", '"1s"', "null"])
def test_a_slack_that_is_no_whole_number_is_refused(slack: str) -> None:
    error = refusal(f'{{"trace": 2, "contract": "polling", "slackMs": {slack}}}')

    assert (error.line, error.field) == (1, "slackMs")


@pytest.mark.parametrize(
    ("line", "field", "right"),
    [
        ("[]", "line", "must hold JSON objects, at least one"),
        (f"[{START}, [{START}]]", "line", "must hold JSON objects, at least one"),
        (f"[{START}, {START.replace('0', '1')}]", "t", "must be that of the other events of the line, 0"),
        (f'[{START}, {START[:-1]}, "clock": -1}}]', "clock", "must be that of the other events of the line, 0"),
    ],
)
def test_a_list_that_is_no_set_of_events_is_refused(line: str, field: str, right: str) -> None:
    error = refusal(HEADER, START, line)

    assert (error.line, error.field) == (3, field)
    assert right in str(error)


@pytest.mark.parametrize(
    ("field", "found", "right"),
    [
        *(
            (field, found, "must be a whole number")
            for field in ("retries", "deadlineMs", "slackMs")
            for found in (-1, 0.5)
        ),
        *(("concurrency", found, "must be one of allow, forbid, replace") for found in ("Forbid", 1, None)),
    ],
)
def test_a_policy_of_another_type_is_refused(field: str, found: object, right: str) -> None:
    error = refusal(HEADER, write_event(TraceEvent(0, "Freeze", {field: found})))

    assert (error.line, error.field) == (2, field)
    assert right in str(error)


def test_a_refusal_shows_what_was_found_but_not_all_of_it() -> None:
    error = refusal(HEADER, "x" * 10_000)

    assert "not xxx" in str(error)
    assert len(str(error)) < 400

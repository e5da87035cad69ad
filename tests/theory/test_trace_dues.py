"""Traces with named Dues, or of a clock that was set back: inconsistent ones are refused."""

import pytest

from tests.theory.test_trace_format import HEADER, read, refusal


@pytest.mark.parametrize("dues", ["true", '"added"', '""', "[]"])
def test_dues_are_named_or_not_spoken_of(dues: str) -> None:
    assert refusal(f'{{"trace": 1, "contract": "declarative", "dues": {dues}}}').field == "dues"


@pytest.mark.parametrize("clock", ["6", "1.5", "null", "-99999999999999999"])
def test_a_clock_that_was_set_back_shows_an_earlier_instant(clock: str) -> None:
    assert refusal(HEADER, f'{{"t": 5, "event": "Thaw", "clock": {clock}}}').field == "clock"
    assert read('{"t": 5, "event": "Thaw", "clock": 4}')[0].fields == {"clock": 4}


@pytest.mark.parametrize("last", ['{"a": "noon"}', "[]", '{"a": 1.5}', '{"a": null}'])
def test_when_tasks_were_due_last_is_said_by_their_names(last: str) -> None:
    assert refusal(HEADER, f'{{"t": 5, "event": "InitSuccess", "call": 1, "lastDue": {last}}}').field == "lastDue"

"""Tests of Checker: due instants that a trace names, and those that a clock set back shows again."""

from kron.theory.checker import Checker
from kron.theory.formula import TruthValue
from kron.theory.results import TraceReport
from kron.theory.trace_format import TraceEvent, TraceHeader, events_of
from tests.theory.traces import judge, trace, violated


def test_a_due_that_the_trace_names_makes_its_minute_one_in_which_a_list_is_owed_a_run() -> None:
    assert judge("Due(a)@60 IS@70 IEs RS@71 REs").verdict is TruthValue.HOLDS
    assert violated(judge("Due(a)@60 IS@120 IEs RS@121 REs")) == {"S1"}
    assert violated(judge("Due(a)@60 IS()@61 IEs SS SE IS(R)@70 IEs End@131")) == {"L1"}


def test_a_line_with_modifiers_is_believed_where_dues_are_named() -> None:
    items = [{"name": "a", "cron": "0 3 * * * @win(after,1h)", "retryDelayMs": 0}]
    for adds_due, found in ((True, {"S6"}), (False, set())):
        checker = Checker(TraceHeader("declarative"), adds_due=adds_due)
        checker.read(TraceEvent(0, "InitStart", {"call": 1, "registrations": items}))
        checker.read(TraceEvent(0, "InitSuccess", {"call": 1}))

        assert violated(checker.report()) == found


# --- a clock that was set back ----------------------------------------------------------------------------------------


def with_clock(text: str, **clocks: float) -> TraceReport:
    """Return the report on a trace in which some lines say what the clock showed, in seconds."""
    checker = Checker(TraceHeader("declarative"))
    for number, position in enumerate(event for line in trace(text) for event in events_of(line)):
        second = clocks.get(f"at{number}")
        fields = position.fields if second is None else {**position.fields, "clock": round(second * 1000)}
        checker.read(position._replace(fields=fields))
    return checker.report()


def test_a_served_instant_is_not_due_again_when_the_clock_shows_it_again() -> None:
    assert with_clock("I@0 RS@300 REs@301 Thaw@400 End@700", at4=200).verdict is TruthValue.HOLDS
    assert violated(with_clock("I@0 RS@300 REs@301 Thaw@400 RS@400", at4=200, at5=300)) == {"S1"}


def test_an_unserved_instant_is_due_when_the_clock_shows_it_again() -> None:
    started = "I@0 RS@300 Thaw@4000 REs@4000 RS@4000 REs@4000 End@4100"  # due at 300 and, while it ran, at 3900

    assert with_clock(started, at3=3800, at4=3850, at5=3900, at6=3900).verdict is TruthValue.HOLDS
    assert violated(with_clock("I@0 RS@300 Thaw@4000 REs@4000 End@4100", at3=3800, at4=3850)) == {"L1"}


def test_a_task_that_comes_then_is_due_by_what_the_clock_shows() -> None:
    assert with_clock("Thaw@400 I@400 RS@400 REs@401", at0=200, at1=200, at2=200, at3=300).verdict is TruthValue.HOLDS
    assert violated(with_clock("Thaw@400 I@400 RS@400 REs@401")) == {"S1"}


def test_a_retry_waits_by_what_the_clock_shows() -> None:
    early, right = (
        with_clock("I@0 RS@300 Thaw@4000 REf@4000 RS@4000 REs@4001", at3=1000, at4=1000, at5=clock, at6=clock)
        for clock in (1299.999, 1300)
    )

    assert violated(early) == {"S1"}
    assert right.verdict is TruthValue.HOLDS

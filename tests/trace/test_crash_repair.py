"""Tests of CrashRepair: events that a crash kept out of a trace are added from the ledger, before the crash."""

from typing import Any

import pytest

from kron.theory.checker import Checker
from kron.theory.trace_format import TraceEvent, TraceHeader
from kron.trace.crash_repair import CrashRepair
from tests.theory.traces import violated

MINUTE, HOUR = 60_000, 3_600_000
DUE = 5 * MINUTE  # of the task, in every hour


def item(name: str = "a", cron: str = "5 * * * *", delay: int = MINUTE) -> dict[str, object]:
    return {"name": name, "cron": cron, "retryDelayMs": delay}


class Life:
    """A trace, and what its ledger comes to know."""

    def __init__(self) -> None:
        self.positions: list[TraceEvent] = []
        self.repair = CrashRepair(self.positions.append)
        self.put(0, "InitStart", call=1, registrations=[item()])
        self.put(0, "InitSuccess", call=1)

    def put(self, t: int, event: str, **fields: object) -> None:
        self.repair(TraceEvent(t, event, fields))

    def crash(self, t: int) -> None:
        self.put(t, "UnexpectedShutdown")

    def restart(self, t: int, **memory: object) -> None:
        """Let the next life accept the same list, with what its ledger remembers of the task."""
        remembered = {"task": "a", "cron": "5 * * * *", "retryDelayMs": MINUTE, "first": 0, **memory}
        self.put(t, "InitStart", call=1, registrations=[item()])
        self.put(t, "InitSuccess", call=1, remembered=[remembered])

    @property
    def events(self) -> list[str]:
        return [position.kind for position in self.positions[2:]]

    def violated(self) -> set[str]:
        checker = Checker(TraceHeader("declarative"))
        for position in self.positions:
            checker.read(position)
        return violated(checker.report())


AGAIN = ["UnexpectedShutdown", "InitStart", "InitSuccess"]


def test_an_unreported_start_is_placed_before_the_crash_at_its_instant() -> None:
    life = Life()
    life.crash(HOUR)
    life.restart(HOUR + 10 * MINUTE, lastStart=DUE + 7, interrupted=True)
    life.put(HOUR + 10 * MINUTE, "RunStart", task="a")

    assert life.events == ["RunStart", *AGAIN, "RunStart"]
    assert life.positions[2] == TraceEvent(DUE + 7, "RunStart", {"task": "a"})
    assert not life.violated()


def test_an_unreported_success_ends_the_run() -> None:
    life = Life()
    life.put(DUE, "RunStart", task="a")
    life.crash(DUE + MINUTE)
    life.restart(20 * MINUTE, lastStart=DUE, lastSuccess=DUE + 9)
    life.put(40 * MINUTE, "End", closed=False)

    assert life.events == ["RunStart", "RunSuccess", *AGAIN, "End"]
    assert not life.violated()  # nothing was cut off, and no restart is waited for


def test_an_unreported_failure_is_retried_in_its_time() -> None:
    life = Life()
    life.put(DUE, "RunStart", task="a")
    life.crash(DUE)
    life.restart(DUE + 2, lastStart=DUE, lastFailure=DUE - 1, retryAt=DUE - 1 + MINUTE)
    life.put(DUE - 1 + MINUTE, "RunStart", task="a")

    assert life.positions[3].fields == {"task": "a", "ended": DUE - 1}  # it ended by a clock that was set back
    assert not life.violated()


def test_an_unreported_end_and_the_next_start_are_both_placed() -> None:
    life = Life()
    life.put(DUE, "RunStart", task="a")
    life.crash(3 * HOUR)
    life.restart(3 * HOUR, lastStart=HOUR + DUE, lastSuccess=HOUR + DUE - 1, lastFailure=-9, interrupted=True)

    assert life.events == ["RunStart", "RunSuccess", "RunStart", *AGAIN]
    assert [position.time_ms for position in life.positions[3:5]] == [HOUR + DUE - 1, HOUR + DUE]


def test_a_run_recorded_after_a_disk_failure_was_not_done_during_it() -> None:
    life = Life()
    life.put(DUE, "Freeze")
    life.crash(HOUR)
    life.restart(HOUR, lastStart=DUE + MINUTE, interrupted=True)

    assert life.events == ["Freeze", "Thaw", "RunStart", "Freeze", *AGAIN]
    assert not life.violated()


def test_the_disk_failed_until_the_last_of_what_was_recorded_then() -> None:
    life = Life()
    life.put(DUE, "RunStart", task="a")
    life.put(HOUR + 6 * MINUTE, "Freeze")
    life.crash(HOUR + 20 * MINUTE)
    success, start = HOUR + 6 * MINUTE, HOUR + 10 * MINUTE  # the start was owed at once, and could not be recorded
    life.restart(HOUR + 20 * MINUTE, lastStart=start, lastSuccess=success, interrupted=True)

    assert life.events.count("Freeze") == 3
    assert not life.violated()


def test_an_accepted_list_that_was_not_reported_counts_as_accepted() -> None:
    life = Life()
    life.put(HOUR, "StopStart", call=1)
    life.put(HOUR, "StopEnd", call=1)
    life.put(HOUR, "InitStart", call=2, registrations=[item("b")])
    life.crash(HOUR + 4 * MINUTE)
    life.put(HOUR + 30 * MINUTE, "InitStart", call=1, registrations=[item("b")])
    memory = {"task": "b", "cron": "5 * * * *", "retryDelayMs": MINUTE, "first": HOUR + MINUTE}
    life.put(HOUR + 30 * MINUTE, "InitSuccess", call=1, remembered=[memory])
    life.put(HOUR + 30 * MINUTE, "RunStart", task="b")  # that of five past one, which it has been owed since

    assert life.positions[5] == TraceEvent(HOUR + MINUTE, "InitSuccess", {"call": 2})
    assert not life.violated() - {"L1"}  # no scheduler served the first list


def test_an_event_lost_while_the_clock_was_behind_has_the_time_of_the_clock() -> None:
    life = Life()
    life.put(2 * HOUR, "StopStart", call=1)
    life.put(2 * HOUR, "StopEnd", call=1)
    life.put(2 * HOUR, "InitStart", call=2, registrations=[item("b")], clock=HOUR)
    life.put(2 * HOUR, "UnexpectedShutdown", clock=HOUR + 2 * MINUTE)
    life.put(2 * HOUR, "InitStart", call=1, registrations=[item("b")], clock=HOUR + 3 * MINUTE)
    memory = {"task": "b", "cron": "5 * * * *", "retryDelayMs": MINUTE, "first": HOUR + MINUTE}
    life.put(2 * HOUR, "InitSuccess", call=1, remembered=[memory], clock=HOUR + 3 * MINUTE)
    life.put(2 * HOUR, "RunStart", task="b", clock=HOUR + DUE)

    assert life.positions[5] == TraceEvent(2 * HOUR, "InitSuccess", {"call": 2, "clock": HOUR + MINUTE})
    assert not life.violated() - {"L1"}


def test_a_list_of_which_the_ledger_knows_nothing_was_not_accepted() -> None:
    life = Life()
    life.put(HOUR, "InitStart", call=2, registrations=[item("b")])
    life.crash(HOUR)
    life.restart(2 * HOUR)

    assert life.events == ["InitStart", *AGAIN]


def test_a_reported_event_is_not_reported_again() -> None:
    life = Life()
    life.put(DUE, "RunStart", task="a")
    life.put(DUE + 1, "RunSuccess", task="a")
    life.put(HOUR + DUE, "RunStart", task="a")
    life.crash(2 * HOUR)
    life.restart(2 * HOUR, lastStart=HOUR + DUE, lastSuccess=DUE + 1, interrupted=True)

    assert life.events == ["RunStart", "RunSuccess", "RunStart", *AGAIN]


def test_a_run_that_was_cut_off_before_is_not_a_start_that_was_lost() -> None:
    life = Life()
    life.put(DUE, "RunStart", task="a")
    life.crash(HOUR)
    life.put(HOUR, "InitStart", call=1, registrations=[item()])
    life.crash(HOUR + 1)
    life.restart(HOUR + 2, lastStart=DUE, interrupted=True)

    assert life.events == ["RunStart", "UnexpectedShutdown", "InitStart", *AGAIN]


def test_no_end_is_invented_for_a_run_of_which_the_ledger_has_forgotten_all() -> None:
    life = Life()
    life.put(DUE, "RunStart", task="a")
    life.crash(HOUR)
    life.restart(2 * HOUR, lastSuccess=DUE - HOUR)

    assert life.events == ["RunStart", *AGAIN]


def test_a_ledger_without_memory_adds_nothing() -> None:
    life = Life()
    life.crash(HOUR)
    life.put(HOUR, "InitStart", call=1, registrations=[item()])
    life.put(HOUR, "InitSuccess", call=1)

    assert life.events == AGAIN


def test_starts_from_before_the_trace_are_not_lost_ones() -> None:
    positions: list[TraceEvent] = []
    repair = CrashRepair(positions.append)
    memory: dict[str, Any] = {"task": "a", "cron": "5 * * * *", "retryDelayMs": MINUTE, "first": 0, "lastStart": DUE}
    for _ in range(2):
        repair(TraceEvent(HOUR, "InitStart", {"call": 1, "registrations": [item()]}))
        repair(TraceEvent(HOUR, "InitSuccess", {"call": 1, "remembered": [memory]}))
        repair(TraceEvent(HOUR, "UnexpectedShutdown"))
    repair.flush()

    assert {position.kind for position in positions} == {"InitStart", "InitSuccess", "UnexpectedShutdown"}


def test_an_event_that_waits_for_a_list_that_never_comes_is_reported_at_the_end() -> None:
    life = Life()
    life.crash(HOUR)
    assert not life.events

    life.put(HOUR, "End", closed=False)

    assert life.events == ["UnexpectedShutdown", "End"]


@pytest.mark.parametrize("has_crashed", [False, True])
@pytest.mark.parametrize("lost", [{}, {"lastStart": 2 * HOUR, "interrupted": True}])
def test_runs_of_one_instant_are_taken_together_as_one_by_one(lost: dict[str, object], *, has_crashed: bool) -> None:
    apart, together = Life(), Life()
    for life in (apart, together):
        if has_crashed:
            life.crash(1)
            life.put(2, "InitStart", call=1, registrations=[item()])
    for t, event in ((DUE, "RunStart"), (DUE + 1, "RunSuccess"), (DUE + HOUR, "RunStart")):
        for name in ("a", "b"):
            apart.put(t, event, task=name)
        together.repair.emit_batch(t, event, ["a", "b"])
    for life in (apart, together):
        life.crash(3 * HOUR)
        life.restart(3 * HOUR, **lost)

    assert together.positions == apart.positions


AHEAD = 50 * HOUR  # by how much the clock was wrong


def corrected() -> Life:
    """Return a life whose task ran at a time that the clock, since it was set back by days, has yet to show again."""
    life = Life()
    life.put(AHEAD + DUE, "RunStart", task="a")
    life.put(AHEAD + DUE, "RunSuccess", task="a")
    life.put(AHEAD + DUE, "ClockSet", clock=AHEAD - 9 * HOUR)
    return life


def test_a_lost_start_at_the_instant_of_one_before_the_correction_keeps_its_instant() -> None:
    life = corrected()
    life.put(AHEAD + DUE, "UnexpectedShutdown", clock=AHEAD + DUE)
    life.restart(AHEAD + DUE + MINUTE, lastStart=AHEAD + DUE, interrupted=True)

    assert life.events == ["RunStart", "RunSuccess", "ClockSet", "RunStart", *AGAIN]
    assert life.positions[5] == TraceEvent(AHEAD + DUE, "RunStart", {"task": "a"})


@pytest.mark.parametrize("known", [AHEAD + DUE, AHEAD - 9 * HOUR])
def test_a_start_before_two_corrections_is_not_lost_whichever_of_them_the_ledger_knows(known: int) -> None:
    life = corrected()
    life.put(AHEAD + DUE, "ClockSet", clock=AHEAD - 20 * HOUR)
    life.put(AHEAD + DUE, "UnexpectedShutdown", clock=AHEAD - 20 * HOUR)
    life.restart(AHEAD + DUE, lastStart=known)

    assert life.events == ["RunStart", "RunSuccess", "ClockSet", "ClockSet", *AGAIN]

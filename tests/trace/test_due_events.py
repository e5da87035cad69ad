"""Tests of DueEventInserter: a trace with windows names each due instant of its lists, and the checker uses it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.instant import epoch_milliseconds, parse_instant
from kron.rules.contract import PRESETS
from kron.theory.checker import Checker
from kron.theory.trace_format import TraceEvent, TraceHeader, TracePosition, events_of
from kron.trace.due_events import DueEventInserter, DueInstants
from tests.theory.traces import violated

NOON = epoch_milliseconds(parse_instant("2026-03-02T12:00:00Z"))
SECOND, MINUTE, HOUR = 1_000, 60_000, 3_600_000
SPREAD = "0 * * * * @win(after,30m)"
AROUND = "0 * * * * @win(around,3h)"  # windows that overlap
NAMED = TraceHeader("declarative", names_dues=True)


def chosen(line: str, name: str, hour: int) -> int:
    """Return the second that was chosen for the period of an hour of that day."""
    found = decide(Timing.parse(line, identity=name), parse_instant(f"2026-03-02T{hour:02}:00:00Z")).chosen_time
    assert found is not None
    return epoch_milliseconds(found)


class Trace:
    """What NamedDues hands on, and short ways to give it something."""

    def __init__(self, contract: str = "declarative", **identities: str) -> None:
        self.positions: list[TraceEvent] = []
        self.lines: list[TracePosition] = []
        self.contract, self.identities = PRESETS[contract], identities
        self.naming = self.another()
        self.calls = 0

    def another(self) -> DueEventInserter:
        """Return one that continues this trace."""
        self.naming = DueEventInserter(self.contract, "UTC", self.take, self.identities)
        for line in self.lines:
            self.naming.replay(line)
        return self.naming

    def take(self, line: TracePosition) -> None:
        self.lines.append(line)
        self.positions += events_of(line)

    def put(self, t: int, event: str, **fields: object) -> None:
        self.naming(TraceEvent(t, event, fields))

    def lists(self, t: int, **lines: str) -> None:
        """Let a list be accepted."""
        self.calls += 1
        items = [{"name": name, "cron": line, "retryDelayMs": 0} for name, line in lines.items()]
        self.put(t, "InitStart", call=self.calls, registrations=items)
        self.put(t, "InitSuccess", call=self.calls)

    @property
    def dues(self) -> list[tuple[int, str]]:
        return [(position.time_ms, position.subject) for position in self.positions if position.kind == "Due"]

    def last(self, event: str) -> TraceEvent:
        return next(position for position in reversed(self.positions) if position.kind == event)


def brute_force(line: str, name: str, since: int, until: int) -> list[int]:
    """Return the chosen seconds of all periods of two days that lie in between."""
    timing = Timing.parse(line, identity=name)
    start = parse_instant("2026-03-01T12:00:00Z")
    found = [decide(timing, at).chosen_time for at in timing.schedule.between(start, start + timedelta(days=3))]
    return sorted(t for each in found if each is not None and since < (t := epoch_milliseconds(each)) <= until)


@pytest.mark.parametrize("line", [SPREAD, AROUND, "*/10 * * * *", "0 * * * * @win(after,5h) @only(hours=10-18)"])
def test_each_chosen_second_is_named_once_and_in_order(line: str) -> None:
    trace = Trace()

    trace.lists(NOON, a=line)
    for minutes in range(0, 600, 7):
        trace.put(NOON + minutes * MINUTE, "Thaw")

    assert [t for t, _ in trace.dues] == brute_force(line, "a", NOON, NOON + 595 * MINUTE)
    assert [position.time_ms for position in trace.positions] == sorted(
        position.time_ms for position in trace.positions
    )


def test_a_due_comes_before_everything_else_at_its_instant() -> None:
    trace, due = Trace(), chosen(SPREAD, "a", 13)
    trace.lists(NOON + HOUR, a=SPREAD)

    trace.put(due, "RunStart", task="a")

    assert [position.kind for position in trace.positions[-2:]] == ["Due", "RunStart"]
    assert trace.dues == [(due, "a")]


def test_dues_at_one_instant_share_a_position() -> None:
    trace = Trace()
    trace.lists(NOON, a="10 * * * *", b="10 * * * *", c="20 * * * *")

    trace.put(NOON + 10 * MINUTE, "RunStart", task="a")
    trace.put(NOON + 20 * MINUTE, "Thaw")

    named = [[event.subject for event in events_of(line) if event.kind == "Due"] for line in trace.lines[2:]]
    assert named == [["a", "b"], [], ["c"], []]


def test_a_shared_position_is_recalled_by_the_next_life() -> None:
    trace = Trace()
    trace.lists(NOON, a="10,20 * * * *", b="10 * * * *")
    trace.put(NOON + 10 * MINUTE, "Thaw")

    trace.another()
    trace.put(NOON + 20 * MINUTE, "Thaw")

    assert trace.dues == [(NOON + 10 * MINUTE, "a"), (NOON + 10 * MINUTE, "b"), (NOON + 20 * MINUTE, "a")]


def test_dues_come_also_while_nothing_is_active() -> None:
    trace = Trace()
    trace.lists(NOON + HOUR - 1, a=SPREAD)
    trace.put(NOON + HOUR, "UnexpectedShutdown")

    trace.put(NOON + 4 * HOUR - 1, "InitStart", call=1, registrations=[])

    assert trace.dues == [(chosen(SPREAD, "a", hour), "a") for hour in (13, 14, 15)]


def test_tasks_of_one_line_have_seconds_of_their_own() -> None:
    trace = Trace()
    trace.lists(NOON - 1, a=SPREAD, b=SPREAD)

    trace.put(NOON + HOUR - 1, "Thaw")

    assert sorted(trace.dues) == sorted([(chosen(SPREAD, "a", 12), "a"), (chosen(SPREAD, "b", 12), "b")])
    assert trace.dues[0][0] != trace.dues[1][0]


def test_an_identity_that_is_not_the_name_decides_and_is_in_the_list() -> None:
    trace = Trace(a="/etc/jobs.kron:a")
    trace.lists(NOON - 1, a=SPREAD, b=SPREAD)

    trace.put(NOON + HOUR - 1, "Thaw")

    assert (chosen(SPREAD, "/etc/jobs.kron:a", 12), "a") in trace.dues
    items: Any = trace.positions[0].fields["registrations"]
    assert [item.get("identity") for item in items] == ["/etc/jobs.kron:a", None]


def test_a_list_says_of_new_and_changed_tasks_when_they_were_due_last() -> None:
    trace, due = Trace(), chosen(SPREAD, "a", 12)
    trace.lists(due + SECOND, a=SPREAD, b="0 0 1 6 *")
    assert trace.last("InitSuccess").fields.get("lastDue") == ({"a": due} if due % MINUTE < 59 * SECOND else None)

    trace.lists(NOON + 50 * MINUTE, a=SPREAD, b="40,45 * * * *")

    assert trace.last("InitSuccess").fields.get("lastDue") == {"b": NOON + 45 * MINUTE}


def test_under_a_contract_that_forgets_a_changed_task_it_was_due_in_this_minute_or_never() -> None:
    trace = Trace("polling")
    trace.lists(NOON, a="0 0 1 6 *")

    trace.lists(NOON + 50 * MINUTE, a="40,45 * * * *")

    assert "lastDue" not in trace.last("InitSuccess").fields


def test_an_invalid_schedule_is_marked_because_the_checker_cannot_see_it() -> None:
    trace = Trace()
    items = [{"name": "a", "cron": "0 * * * * @win(sideways,3h)", "retryDelayMs": 0}]

    trace.put(NOON, "InitStart", call=1, registrations=items)
    trace.put(NOON, "InitFailure", call=1)

    assert trace.positions[0].fields["valid"] is False
    assert not violated(judged(trace.positions))


def test_a_change_of_the_line_changes_what_is_due() -> None:
    trace = Trace()
    trace.lists(NOON, a="0,10 * * * *")
    trace.lists(NOON + 5 * MINUTE, a="0,20 * * * *")

    trace.put(NOON + 30 * MINUTE, "Thaw")

    assert trace.dues == [(NOON + 20 * MINUTE, "a")]


def test_a_trace_is_continued_where_it_ended() -> None:
    trace = Trace()
    trace.lists(NOON, a="0,10,20,30 * * * *")
    trace.put(NOON + 15 * MINUTE, "UnexpectedShutdown")

    trace.another()
    trace.put(NOON + 25 * MINUTE, "Thaw")

    assert [t for t, _ in trace.dues] == [NOON + 10 * MINUTE, NOON + 20 * MINUTE]


def test_dues_that_a_crash_kept_out_of_the_trace_are_added_after_the_restart() -> None:
    trace = Trace()
    trace.lists(NOON, a="10 * * * *", b="10 * * * *")
    due = NOON + 10 * MINUTE
    for line in (TraceEvent(due, "Due", {"task": "b"}), TraceEvent(due, "UnexpectedShutdown")):
        trace.take(line)

    trace.another()
    trace.put(NOON + 25 * MINUTE, "Thaw")

    assert trace.dues == [(due, "b"), (due, "a")]


# --- the judge --------------------------------------------------------------------------------------------------------


def judged(positions: list[TraceEvent], header: TraceHeader = NAMED) -> Any:
    checker = Checker(header)
    for position in positions:
        checker.read(position)
    return checker.report()


def story(start: Callable[[int], int]) -> list[TraceEvent]:
    """Return a trace in which the second of one o'clock is served at an instant that depends on it."""
    trace, due = Trace(), chosen(SPREAD, "a", 13)
    trace.lists(NOON + HOUR - 1, a=SPREAD)
    trace.put(start(due), "RunStart", task="a")
    trace.put(start(due) + 1, "RunSuccess", task="a")
    trace.put(NOON + 2 * HOUR - 1, "End", closed=False)
    return trace.positions


def test_a_start_at_the_chosen_second_is_sound() -> None:
    assert not violated(judged(story(lambda due: due)))


def test_a_start_before_the_chosen_second_is_a_violation() -> None:
    assert "S1" in violated(judged(story(lambda due: due - SECOND)))


def test_a_start_long_after_the_chosen_second_is_a_violation() -> None:
    assert violated(judged(story(lambda due: due + MINUTE + SECOND))) == {"L1"}


def test_the_last_due_decides_whether_a_new_task_owes_a_run() -> None:
    for ago, owed in ((20 * SECOND, True), (40 * SECOND, False)):
        trace = Trace()
        now = NOON + 30 * SECOND
        trace.naming(
            TraceEvent(now, "InitStart", {"call": 1, "registrations": [item("a", "0 * * * * @win(after,1s)")]})
        )
        trace.naming(TraceEvent(now, "InitSuccess", {"call": 1}))
        due = trace.positions[1]._replace(fields={"call": 1, "lastDue": {"a": now - ago}})

        report = judged([trace.positions[0], due, TraceEvent(now + 1, "RunStart", {"task": "a"})])

        assert ("S1" not in violated(report)) is owed


def item(name: str, line: str) -> dict[str, object]:
    return {"name": name, "cron": line, "retryDelayMs": 0}


def test_plain_expressions_of_such_a_trace_are_still_judged() -> None:
    items = [item("a", "61 * * * *")]

    report = judged(
        [TraceEvent(0, "InitStart", {"call": 1, "registrations": items}), TraceEvent(0, "InitSuccess", {"call": 1})]
    )

    assert violated(report) == {"S6"}


def test_the_instants_of_a_schedule_end_with_the_calendar() -> None:
    last = epoch_milliseconds(parse_instant("9999-12-31T23:58:00Z"))
    instants = DueInstants(Timing.parse("* * * * * @win(after,0s)", identity="a"))

    assert [due for _, due in instants.since(last)] == [last + MINUTE]


@pytest.mark.parametrize("knows_clamp", [False, True])
def test_after_a_crash_the_ledger_says_whether_a_baseline_was_clamped(*, knows_clamp: bool) -> None:
    trace, ahead = Trace(), NOON + 72 * HOUR
    trace.lists(ahead - HOUR, a=SPREAD)
    trace.put(ahead, "RunStart", task="a")
    trace.put(ahead, "ClockSet", clock=NOON)
    trace.put(ahead, "UnexpectedShutdown", clock=NOON)
    memory = {"task": "a", "cron": SPREAD, "retryDelayMs": 0, "first": NOON - HOUR}
    items = [{"name": "a", "cron": SPREAD, "retryDelayMs": 0}]
    trace.put(ahead, "InitStart", call=9, registrations=items, clock=ahead - MINUTE)
    start = {"lastStart": NOON if knows_clamp else ahead}
    trace.put(ahead, "InitSuccess", call=9, remembered=[{**memory, **start}], clock=ahead - MINUTE)

    assert ("lastDue" in trace.positions[-1].fields) == knows_clamp

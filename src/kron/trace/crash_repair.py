"""CrashRepair: adds to the positions of a trace the lines that a crash kept out of it.

A start, an end and a list are durable before they are traced. If the process dies in between, the ledger has them and
the trace does not. So a crash is held back until the next life has opened the ledger; what is in the ledger and not in
the trace happened before the crash, and is written before it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from kron.theory.environment import is_far_ahead
from kron.theory.trace_format import TraceEvent, TracePosition, clock_of, events_of

_List: TypeAlias = dict[str, tuple[object, object]]  # names, with expression and delay
_LONG_AGO = -(1 << 62)
_make = tuple.__new__  # what calling a named tuple does, in half the time


class CrashRepair:
    """Takes positions and hands them on; those from a crash until the next list is accepted come a little later."""

    def __init__(self, take: Callable[[TraceEvent], object]) -> None:
        self._take = take
        self._calls: dict[object, _List] = {}  # of initialisations that have not returned
        self._listed: _List | None = None  # the current list
        self._started: dict[str, int] = {}  # when each task was started last
        self._ahead: dict[str, set[int]] = {}  # what that was before a clock that was far ahead was set back
        self._running: set[str] = set()
        self._cut_off: set[str] = set()  # by a crash, and not started since
        self._is_frozen = False
        self._t = self._clock = _LONG_AGO
        self._held: list[TraceEvent] = []

    def __call__(self, position: TraceEvent) -> None:
        """Take a position."""
        if not self._held and position.kind != "UnexpectedShutdown":
            self._hand_on(position)
            return
        self._held.append(position)
        if position.kind == "InitSuccess":
            self._hand_on_held(position.fields.get("remembered") or ())
        elif position.kind == "End":
            self.flush()

    def emit_batch(self, t: int, event: str, names: Sequence[str]) -> None:
        """Take starts or successes of one instant, while the clock was not set: nearly all that there are."""
        if self._held:
            for name in names:
                self(TraceEvent(t, event, {"task": name}))
            return
        self._t = self._clock = t
        is_start = event == "RunStart"
        for name in names:
            if is_start:
                self._started[name] = max(t, self._started.get(name, t))
                self._ahead.pop(name, None)
                self._running.add(name)
                self._cut_off.discard(name)
            else:
                self._running.discard(name)
            self._take(_make(TraceEvent, (t, event, {"task": name})))

    def replay(self, line: TracePosition) -> None:
        """Take a position that is in the trace already, and hand nothing on."""
        for event in events_of(line):
            self._see(event)

    def _see(self, position: TraceEvent) -> None:
        self._t, self._clock = position.time_ms, clock_of(position)
        fields: Mapping[str, Any] = position.fields
        match position.kind:
            case "RunStart":  # runs first: they are nearly all there is
                name = fields["task"]
                started = self._started.get(name, _LONG_AGO)
                self._started[name] = max(started, self._clock)
                self._ahead.pop(name, None)
                self._running.add(name)
                self._cut_off.discard(name)
            case "RunSuccess" | "RunFailure":
                self._running.discard(fields["task"])
            case "InitStart":
                items = fields["registrations"]
                self._calls[fields["call"]] = {item["name"]: (item["cron"], item["retryDelayMs"]) for item in items}
            case "InitSuccess":
                self._listed = self._calls.pop(fields["call"], None)
                remembered = {memory["task"]: memory for memory in fields.get("remembered") or ()}
                for name, memory in remembered.items():
                    if "lastStart" in memory:
                        self._started.setdefault(name, memory["lastStart"])
                self._clamp(remembered)
            case "ClockSet":
                self._clamp({})
            case "InitFailure":
                self._calls.pop(fields["call"], None)
            case "Freeze" | "Thaw":
                self._is_frozen = position.kind == "Freeze"
            case "UnexpectedShutdown":
                self._calls.clear()
                self._cut_off |= self._running
                self._running.clear()
                self._is_frozen = False

    def _clamp(self, remembered: Mapping[str, Any]) -> None:
        """Forget starts of a clock that was far ahead: those that follow are earlier."""
        clock = self._clock
        for name, known in self._started.items():
            started = max(known, remembered.get(name, {}).get("lastStart", known))
            if is_far_ahead(started, clock):
                self._ahead.setdefault(name, set()).add(started)
                self._started[name] = min(clock, remembered.get(name, {}).get("lastStart", clock))

    def flush(self) -> None:
        """Hand on what was held back, as no ledger can show whether anything was lost."""
        held, self._held = self._held, []
        for position in held:
            self._hand_on(position)

    def _hand_on_held(self, memories: Any) -> None:
        """Hand on what was held back, and before each crash what the ledger knows and the trace does not."""
        held, self._held = self._held, []
        for position in held:
            if position.kind == "UnexpectedShutdown":
                for lost in self._missing_events(memories, position):
                    for each in self._between_freezes(lost):
                        self._hand_on(each)
            self._hand_on(position)

    def _hand_on(self, position: TraceEvent) -> None:
        self._see(position)
        self._take(position)

    def _between_freezes(self, lost: TraceEvent) -> tuple[TraceEvent, ...]:
        """Return a position as it can stand here: while the disk failed nothing else was done."""
        if not self._is_frozen:
            return (lost,)
        shown = {"clock": lost.fields["clock"]} if "clock" in lost.fields else {}
        return TraceEvent(lost.time_ms, "Thaw", shown), lost, TraceEvent(lost.time_ms, "Freeze", shown)

    def _missing_events(self, memories: Any, crash: TraceEvent) -> Iterator[TraceEvent]:
        """Yield what happened before a crash and was not traced: a list, ends, starts."""
        found = {memory["task"]: (memory["cron"], memory["retryDelayMs"]) for memory in memories}
        at = max((memory["first"] for memory in memories), default=_LONG_AGO)
        for call, listed in [*self._calls.items()]:
            if self._listed is not None and found == listed != self._listed and at <= clock_of(crash):
                yield self._between(at, TraceEvent(crash.time_ms, "InitSuccess", {"call": call}), crash)
        for memory in memories:
            for at, lost in self._lost_runs(memory["task"], memory):
                yield self._between(at, TraceEvent(crash.time_ms, lost, {"task": memory["task"]}), crash)

    def _lost_runs(self, name: str, memory: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
        """Yield the end of a run that was in flight, and the next start: no more fits between two records."""
        start, is_running = memory.get("lastStart", _LONG_AGO), memory.get("interrupted", False)
        was_running, known = name in self._running, self._started.get(name, _LONG_AGO)
        is_new = is_running and not was_running and name not in self._cut_off
        if start in self._ahead.get(name, ()) and not is_new:
            start = known  # the trace has it; the ledger does not know yet that it was clamped
        is_lost = is_new or start > known
        if was_running and (is_lost or not is_running):
            yield from _end(known, memory)
        if is_lost:
            yield start, "RunStart"
            if not is_running:
                yield from _end(start, memory)

    def _between(self, at: int, lost: TraceEvent, crash: TraceEvent) -> TraceEvent:
        """Return a position at its instant, or as near to it as the line before and the crash allow."""
        t, clock = min(max(at, self._t), crash.time_ms), min(max(at, self._clock), clock_of(crash))
        fields = dict(lost.fields)
        if clock < t:
            fields["clock"] = clock
        if lost.kind == "RunFailure" and at < clock:
            fields["ended"] = at
        return TraceEvent(t, lost.kind, fields)


def _end(since: int, memory: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    """Yield the last end of a task, if it came after a start; what is older does not end that run."""
    success, failure = memory.get("lastSuccess", _LONG_AGO), memory.get("lastFailure", _LONG_AGO)
    if "retryAt" in memory or (failure >= since and failure > success):  # a retry waits only after a failure
        yield failure, "RunFailure"
    elif success >= since:
        yield success, "RunSuccess"

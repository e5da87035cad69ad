"""Checker: the events of a trace in, one after the other; a verdict on each property out, at any time.

It adds what the environment owes the trace (Due from cron, RetryDue from failures) and lets each task or period, each
call and the world see the letters that concern them. Its memory depends on the number of tasks, or of jobs, not on the
length of the trace.
"""

from collections.abc import Callable, Mapping, Sequence

from kron.theory.alphabet import LETTERS, world_letter
from kron.theory.environment import Calendar, is_far_ahead
from kron.theory.evaluator import Evaluator
from kron.theory.formula import Letter
from kron.theory.period_monitors import PeriodMonitors
from kron.theory.properties import ACTIVE, SUITES, Scope
from kron.theory.property_monitor import CallInstance, MonitorInstance, PropertyMonitor
from kron.theory.results import PropertyResult, TraceReport, undecided_instances
from kron.theory.task_instances import ImplicitEvents
from kron.theory.task_monitors import TaskMonitors
from kron.theory.trace_format import (
    SimultaneousEvents,
    TraceEvent,
    TraceHeader,
    TracePosition,
    clock_of,
    events_of,
    last_dues_of,
    memories_of,
    registrations_of,
)

_ACTION = frozenset({"Action"})
_FOR_ALL = frozenset(
    {"InitSuccess", "InitFailure", "StopStart", "StopEnd", "UnexpectedShutdown", "Suspended", "Resumed"}
)


class Checker:
    """Reads one trace."""

    def __init__(self, header: TraceHeader, *, adds_due: bool = True, adds_retry_due: bool = True) -> None:
        """A trace that names its Dues, or its RetryDues, is believed, and none is added."""
        suite = self._suite = SUITES[header.contract]
        court = self._court = Evaluator(header.bounds, bounds_grow=suite.bounds_grow)
        adds_due &= not header.names_dues
        self._calendar = Calendar(header, suite, adds_due=adds_due)
        self._pulses = ImplicitEvents(dues=adds_due, retries=adds_retry_due)
        self._runs: TaskMonitors | PeriodMonitors = (
            PeriodMonitors(suite, court, header.slack)
            if suite.of(Scope.PERIOD)
            else TaskMonitors(suite, self._calendar, self._pulses, court)
        )
        self._jury = self._runs.jury
        self._inits_jury, self._stops_jury = (
            PropertyMonitor(suite.of(Scope.INITIALIZE)),
            PropertyMonitor(suite.of(Scope.STOP)),
        )
        self._world_jury = PropertyMonitor(suite.of(Scope.WORLD), (ACTIVE,))
        self._world = MonitorInstance("", self._world_jury.initial(), -1, self._world_jury.no_pending)
        self._calm = -1  # a state of the world that an action does not change
        self._inits: dict[int, CallInstance] = {}
        self._stops: dict[int, CallInstance] = {}
        self._stops_begun: list[CallInstance] = []  # by events of the set that is being taken
        self._is_closed = self._has_ended = False
        self._lead = 0  # by how much time has gone on farther than the clock, which was set back
        self._readers: Mapping[str, Callable[[TraceEvent], None]] = {
            "InitStart": self._on_init_start,
            "InitSuccess": self._on_init_success,
            "InitFailure": self._on_init_failure,
            "StopStart": self._on_stop_start,
            "StopEnd": self._on_stop_end,
            "RunStart": self._on_run,
            "RunSuccess": self._on_run,
            "RunFailure": self._on_run,
            "UnexpectedShutdown": self._on_crash,
            "Freeze": self._on_freeze,
            "Thaw": self._on_freeze,
            "ClockSet": self._on_clock_set,
            "End": self._on_end,
            **self._runs.readers,
        }

    # --- reading ------------------------------------------------------------------------------------------------------

    def read(self, position: TracePosition) -> None:
        """Take one position; InvalidTraceError if it cannot stand here."""
        if isinstance(position, SimultaneousEvents):
            self._read_set(position)
            return
        court = self._court
        t, court.event, fields = position
        self._arrive(t, fields.get("clock", t))  # type: ignore[arg-type] # it was checked when the line was read
        reader = self._readers.get(court.event)
        if reader is not None:
            reader(position)

    def _arrive(self, t: int, clock: int) -> None:
        """Come to the next position, past what falls due before it."""
        court = self._court
        court.line += 1
        if self._has_ended:
            raise court.invalid_event("event", court.event, "must not follow End")
        before, court.clock = court.clock, clock
        if clock < before:
            self._pulses.rewind(clock, before)
        if clock >= self._pulses.soonest:
            self._pulses.emit_until(clock, self._pulse)
        if court.clocks.advance_to(max(t, clock + self._lead, court.clocks.t) if self._lead else t):
            court.expire()
        court.position += 1

    def _read_set(self, found: SimultaneousEvents) -> None:
        """Take the events of one position: each subject sees one letter, the union of what each event shows it."""
        court = self._court
        events = events_of(found)
        court.event = events[0].kind
        self._arrive(found.time_ms, clock_of(events[0]))
        if any(event.kind in _FOR_ALL for event in events):  # subjects named in the same set read them, too
            for event in events:
                self._runs.meet(event)
        court.gather()
        if self._world_jury.untimed_properties:
            self._tell_world(world_letter([event.kind for event in events]))
        for event in events:
            if event.kind == "End":  # the last: all that happens with it has to be seen before
                break
            court.event = event.kind
            reader = self._readers.get(event.kind)
            if reader is not None:
                reader(event)
        if self._stops:
            for call, letter in self._stop_letters(self._stops_begun):
                court.step(self._stops_jury, call, letter)
        self._stops_begun = []
        court.show()
        if events[-1].kind == "End":
            court.event = "End"
            self._on_end(events[-1])

    def read_batch(self, t: int, event: str, tasks: Sequence[str]) -> None:
        """Take a RunStart, or a RunSuccess, of each of these tasks: what `read` does with one after the other."""
        if not tasks:
            return
        self.read(TraceEvent(t, event, {"task": tasks[0]}))  # it moves time on, and the world
        runs = self._runs
        if isinstance(runs, TaskMonitors) and self._world.stand.state == self._calm and not self._stops:
            runs.on_run_batch(t, event, tasks)
        else:
            for name in tasks[1:]:
                self.read(TraceEvent(t, event, {"task": name}))

    def report(self) -> TraceReport:
        """Return what is known by now."""
        self._pulses.emit_until(self._court.clock, self._pulse)
        groups: list[tuple[PropertyMonitor, list[MonitorInstance]]] = [
            (self._jury, list(self._runs.members())),
            (self._inits_jury, list(self._inits.values())),
            (self._stops_jury, list(self._stops.values())),
        ]
        findings = self._court.findings
        found = [
            findings.of(each, undecided_instances(each, () if self._is_closed else groups))
            for each in self._suite.properties
        ]
        return TraceReport(found, self._court.position + 1)

    def listen(self, on_violation: Callable[[PropertyResult], object]) -> None:
        """Call a function with each violation as it is found, the first of each property."""
        self._court.findings.on_violation = on_violation

    def _pulse(self, at: int, tasks: Sequence[MonitorInstance], letter: Letter) -> bool:
        court = self._court
        # A retry may have come while its failure was being recorded.
        if court.clocks.advance_to(max(at + self._lead, court.clocks.t)):
            court.expire()
        return court.step_all(self._jury, tasks, letter)

    # --- runs ---------------------------------------------------------------------------------------------------------

    def _on_run(self, position: TraceEvent) -> None:
        self._runs.on_run(position)
        if self._world.stand.state != self._calm:
            self._tell_world(_ACTION)
        if self._stops:
            self._tell_stops()

    def _on_crash(self, _: TraceEvent) -> None:
        for calls, jury in ((self._inits, self._inits_jury), (self._stops, self._stops_jury)):
            for call in calls.values():
                self._court.step(jury, call, LETTERS[self._court.event])
            calls.clear()
        self._runs.running.clear()
        self._court.clocks.thaw()
        self._tell_world(LETTERS[self._court.event])
        self._runs.step_all(LETTERS[self._court.event])

    # --- calls --------------------------------------------------------------------------------------------------------

    def _on_init_start(self, position: TraceEvent) -> None:
        call = self._begin(position, self._inits, self._inits_jury)
        call.registrations = registrations_of(position)
        call.is_valid = position.fields.get("valid") is not False and self._calendar.is_valid(call.registrations)
        call.is_excused = self._is_active() or bool(self._stops) or len(self._inits) > 1
        for other in self._inits.values():
            other.is_excused |= other is not call
        self._tell_world(frozenset({"IS", "Action"}))
        size = len(call.registrations)  # of its own list, not the current one
        self._court.step(self._inits_jury, call, frozenset({"Begin"}), size=size)
        self._tell_stops()

    def _on_init_success(self, position: TraceEvent) -> None:
        call = self._return(position, self._inits, self._inits_jury)
        seen = {"IEs", "Overtaken"} if call.is_overtaken else {"IEs"}
        valid = {"Valid"} if call.is_valid else set[str]()
        if not self._is_active():
            self._runs.on_armed()
        self._tell_world(frozenset({"Action", *seen, *valid}))
        self._calendar.last_dues = last_dues_of(position)
        self._court.is_behind = self._court.clock < position.time_ms
        self._follow_clock(position.time_ms)
        self._runs.on_init_success(call.registrations, seen, memories_of(position))
        self._tell_stops()

    def _on_init_failure(self, position: TraceEvent) -> None:
        call = self._return(position, self._inits, self._inits_jury)
        seen = {"IEf", "Action"}
        if call.is_valid:
            seen.add("Valid")
        if call.is_excused or position.fields.get("cause") == "environment":
            seen.add("Excused")
        if self._suite.failed_reinitialize_ends and self._is_active():
            self._runs.step_all(frozenset({"IEf", "Dropped"}))
            seen.add("Dropped")
        self._tell_world(frozenset(seen))
        self._tell_stops()

    def _on_stop_start(self, position: TraceEvent) -> None:
        call = self._begin(position, self._stops, self._stops_jury)
        for init in self._inits.values():
            init.is_overtaken = init.is_excused = True
        self._tell_world(frozenset({"SS", "Action"}))
        self._runs.step_all(LETTERS[self._court.event])
        self._tell_stops(call)

    def _on_stop_end(self, position: TraceEvent) -> None:
        self._return(position, self._stops, self._stops_jury)
        self._tell_world(frozenset({"SE", "Action"}))
        self._runs.step_all(LETTERS[self._court.event])

    def _begin(self, position: TraceEvent, calls: dict[int, CallInstance], jury: PropertyMonitor) -> CallInstance:
        number = position.fields["call"]
        if number in calls or not isinstance(number, int):
            raise self._court.invalid_event("call", number, "must be a number of its own")
        kind = "initialize" if calls is self._inits else "stop"
        call = calls[number] = CallInstance(f"{kind} {number}", jury.initial(), jury.no_pending)
        return call

    def _return(self, position: TraceEvent, calls: dict[int, CallInstance], jury: PropertyMonitor) -> CallInstance:
        number = position.fields["call"]
        call = calls.pop(number, None) if isinstance(number, int) else None
        if call is None:
            raise self._court.invalid_event("call", number, f"of {position.kind} must be that of a call in progress")
        self._court.step(jury, call, frozenset({"Return"}))
        return call

    # --- the rest -----------------------------------------------------------------------------------------------------

    def _on_freeze(self, position: TraceEvent) -> None:
        if position.kind == "Freeze":
            self._court.clocks.freeze()
        else:
            self._court.clocks.thaw()
        self._tell_world(LETTERS[position.kind])

    def _on_clock_set(self, position: TraceEvent) -> None:
        if isinstance(self._runs, TaskMonitors):
            self._calendar.last_dues = last_dues_of(position)
            self._court.is_behind = True
            self._follow_clock(position.time_ms)
            self._runs.on_clock_set()

    def _follow_clock(self, t: int) -> None:
        """Let time follow a clock that is far behind, so that responses are due before it has caught up."""
        if is_far_ahead(t, self._court.clock):
            self._lead = self._court.clocks.t - self._court.clock

    def _on_end(self, position: TraceEvent) -> None:
        self._has_ended = True
        self._is_closed = position.fields["closed"] is True
        if self._is_closed:  # pending events without a deadline never come
            for member in self._runs.members():
                for each in self._jury.undecided(member.stand.state):
                    self._court.violate(self._jury, each, member)

    def _tell_world(self, letter: Letter) -> None:
        before = self._world.stand.state
        self._court.step(self._world_jury, self._world, letter)
        if letter is _ACTION and self._world.stand.state == before and not self._court.is_gathering:
            self._calm = before  # one more action would change nothing

    def _tell_stops(self, begins: CallInstance | None = None) -> None:
        begun = [] if begins is None else [begins]
        if self._court.is_gathering:  # whether it is quiet is known when all events of the set are taken
            self._stops_begun += begun
            return
        for call, letter in self._stop_letters(begun):
            self._court.step(self._stops_jury, call, letter)

    def _stop_letters(self, begun: Sequence[CallInstance]) -> list[tuple[CallInstance, Letter]]:
        quiet = set[str]() if self._runs.running or self._inits else {"Quiet"}
        calls = self._stops.values()
        return [(call, frozenset({"Begin", *quiet} if call in begun else quiet)) for call in calls]

    def _is_active(self) -> bool:
        return self._world_jury.holds(self._world.stand.state, ACTIVE)

"""Checker: the events of a trace in, one after the other; a verdict on each property out, at any time.

It adds what the environment owes the trace (Due from cron, RetryDue from failures) and lets each task, each call and
the world see the letters that concern them. Its memory depends on the number of tasks, not on the length of the trace.
"""

from collections.abc import Callable, Mapping

from kron.errors import InvalidTraceError
from kron.theory.alphabet import EVENTS
from kron.theory.clocks import Clocks
from kron.theory.environment import Calendar
from kron.theory.explanation import SHOWN
from kron.theory.findings import Findings, waiting
from kron.theory.jury import Jury, Marks
from kron.theory.macros import ACTIVE
from kron.theory.meaning import Letter
from kron.theory.properties import SUITES, History, Property, Scope
from kron.theory.pulses import Pulses
from kron.theory.report import Finding, Report
from kron.theory.subjects import Call, Subject, Task
from kron.theory.trace import Header, Position, Registration, registrations_of

_LETTERS = {name: frozenset({kind.atom}) for name, kind in EVENTS.items()}
_ACTION = frozenset({"Action"})


class Checker:
    """Reads one trace."""

    def __init__(self, header: Header, *, adds_due: bool = True, adds_retry_due: bool = True) -> None:
        """A trace that names its Dues, or its RetryDues, is believed, and none is added."""
        self._suite = SUITES[header.contract]
        self._properties = self._suite.properties
        self._findings = Findings(header.bounds)
        self._calendar = Calendar(header.timezone, self._suite.repeated, self._suite.blanks)
        self._clocks = Clocks(header.bounds)
        self._pulses = Pulses(dues=adds_due, retries=adds_retry_due)
        self._jury = Jury(self._of(Scope.TASK), SHOWN)
        self._inits_jury, self._stops_jury = Jury(self._of(Scope.INITIALIZE)), Jury(self._of(Scope.STOP))
        self._world_jury = Jury(self._of(Scope.WORLD), (ACTIVE,))
        self._world = Subject("", 0, -1, 0)
        self._calm = -1  # a state of the world that an action does not change
        self._stranger = Task("", 0, -1, len(self._jury.timed))  # what a task has seen that nobody has named yet
        self._tasks: dict[str, Task] = {}
        self._inits: dict[int, Call] = {}
        self._stops: dict[int, Call] = {}
        self._running: set[str] = set()
        self._listed = 0  # how many tasks the current list has
        self._line = self._position = -1
        self._event = ""
        self._is_closed = self._has_ended = False
        self._readers: Mapping[str, Callable[[Position], None]] = {
            "InitStart": self._on_init_start,
            "InitSuccess": self._on_init_success,
            "InitFailure": self._on_init_failure,
            "StopStart": self._on_stop_start,
            "StopEnd": self._on_stop_end,
            "RunStart": self._on_run,
            "RunSuccess": self._on_run,
            "RunFailure": self._on_run,
            "Due": self._on_pulse,
            "RetryDue": self._on_pulse,
            "UnexpectedShutdown": self._on_crash,
            "Freeze": self._on_freeze,
            "Thaw": self._on_freeze,
            "End": self._on_end,
        }

    def _of(self, scope: Scope) -> list[Property]:
        return [each for each in self._properties if each.scope is scope]

    # --- reading ------------------------------------------------------------------------------------------------------

    def read(self, position: Position) -> None:
        """Take one event; InvalidTraceError if it cannot stand here."""
        self._line += 1
        t, self._event, _ = position
        if self._has_ended:
            raise self._misplaced("event", self._event, "must not follow End")
        if t >= self._pulses.soonest:
            self._pulse_until(t)
        if self._clocks.set(t):
            self._expire()
        self._position += 1
        reader = self._readers.get(self._event)
        if reader is not None:
            reader(position)

    def report(self) -> Report:
        """Return what is known by now."""
        self._pulse_until(self._clocks.t)
        parties = ((self._jury, self._tasks), (self._inits_jury, self._inits), (self._stops_jury, self._stops))
        groups = [(jury, list[Subject](members.values())) for jury, members in parties]
        found = [self._findings.of(each, waiting(each, () if self._is_closed else groups)) for each in self._properties]
        return Report(found, self._position + 1)

    def listen(self, on_violation: Callable[[Finding], object]) -> None:
        """Call a function with each violation as it is found, the first of each property."""
        self._findings.on_violation = on_violation

    def _misplaced(self, field: str, found: object, reason: str) -> InvalidTraceError:
        return InvalidTraceError(line=self._line + 2, field=field, found=found, reason=reason)

    def _pulse_until(self, t: int) -> None:
        for at, task, letter in self._pulses.until(t):
            if self._clocks.set(at):
                self._expire()
            self._position += 1
            self._tell(task, letter)

    def _expire(self) -> None:
        for jury, subject, place in self._clocks.expired():
            self._findings.violate(jury, jury.timed[place], subject, (self._line, self._event))

    # --- runs ---------------------------------------------------------------------------------------------------------

    def _on_run(self, position: Position) -> None:
        t, event, fields = position
        name = fields["task"]
        task = self._tasks.get(name) or self._task(str(name))  # type: ignore[call-overload] # a text, or not found
        self._tell(task, _LETTERS[event])
        task.lines[event] = self._line
        if self._world.state != self._calm:
            self._tell_world(_ACTION)
        if event == "RunStart":
            task.last_start, task.retry_at = t, None
            self._running.add(task.name)
        else:
            self._running.discard(task.name)
            if event == "RunFailure" and task.is_listed:
                ended = fields.get("ended", t)  # told late, because its record took time
                self._pulses.expect_retry(task, (ended if isinstance(ended, int) else t) + round(task.delay))
        if self._stops:
            self._tell_stops()

    def _on_pulse(self, position: Position) -> None:
        task = self._task(position.task)
        self._tell(task, _LETTERS[position.event])
        task.lines[position.event] = self._line

    def _on_crash(self, _: Position) -> None:
        for calls in (self._inits, self._stops):
            for call in calls.values():
                call.release()
            calls.clear()
        self._running.clear()
        self._clocks.thaw()
        self._tell_world(_LETTERS[self._event])
        self._tell_all(_LETTERS[self._event])

    # --- calls --------------------------------------------------------------------------------------------------------

    def _on_init_start(self, position: Position) -> None:
        call = self._begin(position, self._inits, self._inits_jury)
        call.registrations = registrations_of(position)
        call.is_valid = position.fields.get("valid") is not False and self._calendar.is_valid(call.registrations)
        call.is_excused = self._is_active() or bool(self._stops) or len(self._inits) > 1
        for other in self._inits.values():
            other.is_excused |= other is not call
        self._tell_world(frozenset({"IS", "Action"}))
        marks = self._inits_jury.step(call, frozenset({"Begin"}), self._position)
        self._look(self._inits_jury, call, marks, len(call.registrations))
        self._tell_stops()

    def _on_init_success(self, position: Position) -> None:
        call = self._return(position, self._inits, self._inits_jury)
        seen = {"IEs", "Overtaken"} if call.is_overtaken else {"IEs"}
        valid = {"Valid"} if call.is_valid else set[str]()
        self._tell_world(frozenset({"Action", *seen, *valid}))
        listed = {each.name: each for each in call.registrations}
        self._listed = len(listed)
        for task in [self._task(name) for name in {**self._tasks, **listed}]:
            registration = listed.get(task.name)
            if registration is None:
                task.unlist()
            self._tell(task, frozenset(seen if registration is None else seen | self._list(task, registration)))
            task.lines[self._event] = self._line
        self._jury.step(self._stranger, frozenset(seen), self._position)
        self._tasks = {name: task for name, task in self._tasks.items() if task.is_listed or name in self._running}
        self._tell_stops()

    def _list(self, task: Task, registration: Registration) -> set[str]:
        """Take a task of the new list as it is there, and return what the task sees of that."""
        if task.is_as_in(registration):
            return {"Listed"}
        t, keeps = self._clocks.t, self._suite.changed_task is History.KEEP
        seen = task.take(registration, self._calendar.times(registration.cron), t, keeps_history=keeps)
        self._pulses.expect_due(task, t)
        return {"Listed", *seen}

    def _on_init_failure(self, position: Position) -> None:
        call = self._return(position, self._inits, self._inits_jury)
        seen = {"IEf", "Action"}
        if call.is_valid:
            seen.add("Valid")
        if call.is_excused or position.fields.get("cause") == "environment":
            seen.add("Excused")
        if self._suite.failed_reinitialize_ends and self._is_active():
            self._tell_all(frozenset({"IEf", "Dropped"}))
            seen.add("Dropped")
        self._tell_world(frozenset(seen))
        self._tell_stops()

    def _on_stop_start(self, position: Position) -> None:
        call = self._begin(position, self._stops, self._stops_jury)
        for init in self._inits.values():
            init.is_overtaken = init.is_excused = True
        self._tell_world(frozenset({"SS", "Action"}))
        self._tell_all(_LETTERS[self._event])
        self._tell_stops(call)

    def _on_stop_end(self, position: Position) -> None:
        self._return(position, self._stops, self._stops_jury)
        self._tell_world(frozenset({"SE", "Action"}))
        self._tell_all(_LETTERS[self._event])

    def _begin(self, position: Position, calls: dict[int, Call], jury: Jury) -> Call:
        number = position.fields["call"]
        if number in calls or not isinstance(number, int):
            raise self._misplaced("call", number, "must be a number of its own")
        kind = "initialize" if calls is self._inits else "stop"
        call = calls[number] = Call(f"{kind} {number}", len(jury.timed))
        return call

    def _return(self, position: Position, calls: dict[int, Call], jury: Jury) -> Call:
        number = position.fields["call"]
        call = calls.pop(number, None) if isinstance(number, int) else None
        if call is None:
            raise self._misplaced("call", number, f"of {self._event} must be that of a call in progress")
        self._look(jury, call, jury.step(call, frozenset({"Return"}), self._position), self._listed)
        return call

    # --- the rest -----------------------------------------------------------------------------------------------------

    def _on_freeze(self, _: Position) -> None:
        if self._event == "Freeze":
            self._clocks.freeze()
        else:
            self._clocks.thaw()
        self._tell_world(_LETTERS[self._event])

    def _on_end(self, position: Position) -> None:
        self._has_ended = True
        self._is_closed = position.fields["closed"] is True
        if self._is_closed:  # what was to come some day never does
            for task in self._tasks.values():
                for each in self._jury.open(task):
                    self._findings.violate(self._jury, each, task, (self._line, self._event))

    # --- telling ------------------------------------------------------------------------------------------------------

    def _task(self, name: str) -> Task:
        task = self._tasks.get(name)
        if task is None:
            stranger = self._stranger
            task = self._tasks[name] = Task(name, stranger.state, stranger.touched, len(self._jury.timed))
            task.lines |= stranger.lines
        return task

    def _tell(self, task: Task, letter: Letter) -> None:
        marks = self._jury.step(task, letter, self._position)
        if marks is not task.marks:
            self._look(self._jury, task, marks, self._listed)

    def _tell_all(self, letter: Letter) -> None:
        for task in self._tasks.values():
            self._tell(task, letter)
            task.lines[self._event] = self._line
        self._jury.step(self._stranger, letter, self._position)
        self._stranger.lines[self._event] = self._line

    def _tell_world(self, letter: Letter) -> None:
        before = self._world.state
        marks = self._world_jury.step(self._world, letter, self._position)
        self._look(self._world_jury, self._world, marks, 0)
        if letter is _ACTION and self._world.state == before:
            self._calm = before  # one more action would change nothing

    def _tell_stops(self, begins: Call | None = None) -> None:
        quiet = set[str]() if self._running or self._inits else {"Quiet"}
        for call in self._stops.values():
            letter = frozenset({"Begin", *quiet} if call is begins else quiet)
            self._look(self._stops_jury, call, self._stops_jury.step(call, letter, self._position), self._listed)

    def _is_active(self) -> bool:
        return self._world_jury.shows(self._world.state, ACTIVE)

    # --- what they found ----------------------------------------------------------------------------------------------

    def _look(self, jury: Jury, subject: Subject, marks: Marks, size: int) -> None:
        subject.marks = marks
        for each in marks.broken:
            self._findings.violate(jury, each, subject, (self._line, self._event))
        for place, (is_asked, has_ended) in enumerate(zip(marks.asked, marks.ended, strict=True)):
            if has_ended:
                subject.deadlines[place] = None
            elif is_asked and subject.deadlines[place] is None:
                self._clocks.start(jury, subject, place, size)
                subject.owed[place] = self._line

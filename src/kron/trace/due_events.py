"""Due events of windowed schedules, inserted into a trace; the instants are found by deciding."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import heappop, heappush
from itertools import count, groupby
from operator import itemgetter
from typing import Any, TypeAlias

from kron.cron.schedule import Schedule
from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.errors import CronCalculationError, KronError, OutOfRangeError
from kron.instant import MICROSECOND, SECOND, Instant, epoch_milliseconds, from_epoch_milliseconds
from kron.rules.contract import ChangedTaskHistory, Contract
from kron.rules.registration import ScheduleReader
from kron.theory.environment import is_far_ahead
from kron.theory.trace_format import TraceEvent, TracePosition, clock_of, events_of, simultaneous

Milliseconds: TypeAlias = int  # since the epoch, as traces count

_DRAWS = 200_000  # that a search back may try without success: farther than the scheduler itself looks


class DueInstants:
    """Those of one task. Windows may overlap, so due instants need not come in the order of periods."""

    __slots__ = ("_first", "_last", "_schedule", "_timing")

    def __init__(self, found: Schedule | Timing) -> None:
        self._timing = found if isinstance(found, Timing) else None
        self._schedule = found.schedule if isinstance(found, Timing) else found
        first, last = found.window.bounds if isinstance(found, Timing) else (0, 0)
        self._first, self._last = SECOND * first, SECOND * last

    def since(self, after: Milliseconds) -> Iterator[tuple[Milliseconds, Milliseconds | None]]:
        """Yield, for each period that can be due after an instant, when its window opens and when it is due."""
        try:
            nominal = self._schedule.next(from_epoch_milliseconds(after) - self._last)
            while True:
                yield epoch_milliseconds(nominal + self._first), self._due(nominal)[0]
                nominal = self._schedule.next(nominal)
        except (CronCalculationError, OverflowError):  # the calendar ends
            return

    def latest(self, at: Milliseconds, since: Milliseconds) -> Milliseconds | None:
        """Return the last due instant at or before, None if there is none since then."""
        best, draws = None, _DRAWS
        try:
            nominal = self._schedule.previous(from_epoch_milliseconds(at) - self._first)
            oldest = epoch_milliseconds(nominal + self._last)
            while oldest >= (since if best is None else best) and (draws > 0 or best is not None):
                due, cost = self._due(nominal)
                if due is not None and since <= due <= at and (best is None or due > best):
                    best = due
                draws -= cost
                nominal = self._schedule.previous(nominal - MICROSECOND)
                oldest = epoch_milliseconds(nominal + self._last)
        except (CronCalculationError, OverflowError):  # the calendar begins
            return best
        return best

    def _due(self, nominal: Instant) -> tuple[Milliseconds | None, int]:
        """Return when a period is due, if ever, and how many draws that took."""
        if self._timing is None:
            return epoch_milliseconds(nominal), 1
        try:
            decision = decide(self._timing, nominal)
        except OutOfRangeError:
            return None, 1
        chosen = decision.chosen_time
        return None if chosen is None else epoch_milliseconds(chosen), max(1, decision.attempts)


_MINUTE: Milliseconds = 60_000
_LONG_AGO: Milliseconds = -(1 << 62)


class _DueTask:
    """A task of a list: when it is due, and since when what falls due is owed."""

    __slots__ = ("_instants", "came", "coming", "cron", "delay", "is_doubtful", "last_start", "name")

    def __init__(self, name: str, cron: str, delay: object, instants: DueInstants) -> None:
        self.name, self.cron, self.delay = name, cron, delay
        self._instants = instants
        self.came: Milliseconds = 0
        self.last_start: Milliseconds | None = None
        self.is_doubtful = False  # since its last start a clock far behind may have changed what a ledger remembers
        self.coming: Iterator[tuple[Milliseconds, Milliseconds | None]] = iter(())

    def is_as(self, other: "_DueTask") -> bool:
        """Whether nothing has changed."""
        return (self.cron, self.delay) == (other.cron, other.delay)

    def is_in(self, memory: Mapping[str, Any]) -> bool:
        """Whether a ledger remembers it as it is."""
        return (memory["cron"], memory["retryDelayMs"]) == (self.cron, self.delay)

    def expect(self, after: Milliseconds) -> None:
        """Begin to be due after an instant."""
        self.coming = self._instants.since(after)

    @property
    def first(self) -> Milliseconds:
        """The beginning of the minute in which it came."""
        return self.came - self.came % _MINUTE

    def clamp(self, t: Milliseconds, clock: Milliseconds, memory: Mapping[str, Any] | None) -> bool:
        """Count from the clock, or from what was remembered, what a clock far ahead has recorded.

        Return whether what is owed has to be counted again; `t` is the latest instant that any clock has shown.
        """
        is_behind = is_far_ahead(t, clock)
        if memory is not None and (is_behind or self.is_doubtful):
            self.came, self.last_start = memory["first"], memory.get("lastStart")
            is_recounted, self.is_doubtful = True, is_behind
        else:
            is_recounted, self.is_doubtful = clock < t, self.is_doubtful or is_behind
        if is_far_ahead(self.came if self.last_start is None else max(self.came, self.last_start), clock):
            self.came = min(clock, self.came)
            self.last_start = None if self.last_start is None else min(clock, self.last_start)
        return is_recounted

    def owes(self, due: Milliseconds) -> bool:
        """Whether a due instant is one that no start has served; after a clock was set back most are."""
        return due >= self.first and (self.last_start is None or due > self.last_start)

    def latest(self, at: Milliseconds) -> Milliseconds | None:
        """Return the last due instant that could be owed."""
        return self._instants.latest(at, self.first if self.last_start is None else self.last_start)


class DueEventInserter:
    """Takes positions and hands them on, each after the Dues that came before it."""

    def __init__(
        self,
        contract: Contract,
        timezone: str,
        take: Callable[[TracePosition], object],
        identities: Mapping[str, str] | None = None,
    ) -> None:
        """`identities` are those of tasks whose name is not their identity."""
        self._identities = dict(identities or {})
        self._read = ScheduleReader(contract, "extended", timezone, identities=self._identities)
        self._keeps_history = contract.changed_task_history is ChangedTaskHistory.KEEP
        self._take = take
        self._calls: dict[object, list[_DueTask]] = {}  # of initialisations that have not returned
        self._tasks: dict[str, _DueTask] = {}  # of the current list
        self._has_begun = False
        self._coming: list[tuple[Milliseconds, int, _DueTask, Milliseconds | None, bool]] = []
        self._numbers = count()  # they keep the rest from comparison
        self._t = self._clock = _LONG_AGO
        self._told: set[tuple[Milliseconds, str]] = set()  # Dues that stand in the trace after its last other line
        self._missing: list[tuple[Milliseconds, str]] = []  # Dues that a crash kept out of it

    def __call__(self, position: TraceEvent) -> None:
        """Take a position. What falls due at one instant shares one, before everything else that happens then."""
        for _, name in self._missing:
            self._take(TraceEvent(self._t, "Due", {"task": name}))
        self._missing.clear()
        for due, group in groupby(self._until(clock_of(position)), key=itemgetter(0)):
            t = max(due, self._t)
            clock = {} if due == t else {"clock": due}
            names = [name for _, name in group if (due, name) not in self._told]
            if names:
                self._take(simultaneous(TraceEvent(t, "Due", {"task": name, **clock}) for name in names))
        self._take(self._see(position))

    def replay(self, line: TracePosition) -> None:
        """Take a position that is in the trace already, and hand nothing on."""
        for event in events_of(line):
            self._replay(event)

    def _replay(self, position: TraceEvent) -> None:
        if position.kind == "Due":
            self._told.add((clock_of(position), position.subject))
            return
        self._missing += [each for each in self._until(clock_of(position)) if each not in self._told]
        self._see(position)

    def is_listed(self, name: str) -> bool:
        """Whether the current list has a task of this name, with a line that can be read."""
        return name in self._tasks

    # --- lists and starts ---------------------------------------------------------------------------------------------

    def _see(self, position: TraceEvent) -> TraceEvent:
        """Take the lists and starts of a position, and return it with the fields that its judge needs."""
        self._t, self._clock = position.time_ms, clock_of(position)
        self._told.clear()
        match position.kind:
            case "InitStart":
                return self._begin(position)
            case "InitSuccess":
                return self._take_list(position)
            case "InitFailure":
                self._calls.pop(position.fields["call"], None)
            case "UnexpectedShutdown":
                self._calls.clear()
            case "ClockSet":
                last_dues = self._recount(self._tasks.values())
                return position._replace(fields={**position.fields, "lastDue": last_dues}) if last_dues else position
            case "RunStart" if (task := self._tasks.get(position.subject)) is not None:
                task.last_start = max(self._clock, _LONG_AGO if task.last_start is None else task.last_start)
                task.is_doubtful = False
        return position

    def _begin(self, position: TraceEvent) -> TraceEvent:
        """Read the lines of a list; mark it if one is invalid, because the judge cannot read modifiers."""
        items: Any = position.fields["registrations"]
        tasks: list[_DueTask] = []
        fields = dict(position.fields)
        for item in items:
            if "identity" in item:
                self._identities[item["name"]] = item["identity"]
            try:
                found = self._read.read(item["cron"], item["name"])
            except KronError:
                fields["valid"] = False
            else:
                tasks.append(_DueTask(item["name"], item["cron"], item["retryDelayMs"], DueInstants(found)))
        self._calls[fields["call"]] = tasks
        if any(item["name"] in self._identities for item in items):
            fields["registrations"] = [self._with_identity(item) for item in items]
        return position._replace(fields=fields)

    def _with_identity(self, item: Mapping[str, object]) -> Mapping[str, object]:
        identity = self._identities.get(str(item["name"]))
        return item if identity is None else {**item, "identity": identity}

    def _take_list(self, position: TraceEvent) -> TraceEvent:
        """Make a list the current one, and write when its new and changed tasks were last due."""
        memories: Any = position.fields.get("remembered", ())
        remembered = {memory["task"]: memory for memory in memories}
        has_begun = self._has_begun
        self._has_begun = True
        known, self._tasks = self._tasks, {}
        last_dues: dict[str, Milliseconds] = {}
        for task in self._calls.pop(position.fields["call"], ()):
            old, memory = known.get(task.name), remembered.get(task.name)
            if memory is not None and not (self._keeps_history or task.is_in(memory)):
                memory = None  # it is of a task that this list has made another one
            if old is not None and old.is_as(task):
                self._tasks[task.name] = old
                if old.clamp(self._t, self._clock, memory):
                    last_dues.update(self._owed(old))
                continue
            self._tasks[task.name] = task
            self._place(task, old, None if has_begun else memory)
            task.clamp(self._t, self._clock, memory)
            if (due := task.latest(self._clock)) is not None:
                last_dues[task.name] = due
            self._expect(task)
        return position._replace(fields={**position.fields, "lastDue": last_dues}) if last_dues else position

    def _place(self, task: _DueTask, old: _DueTask | None, memory: Mapping[str, Any] | None) -> None:
        """Say since when a task is owed what falls due."""
        task.came, task.last_start = self._clock, None
        if old is not None and self._keeps_history:
            task.came, task.last_start, task.is_doubtful = old.came, old.last_start, old.is_doubtful
        elif memory is not None:
            task.came, task.last_start = memory["first"], memory.get("lastStart")

    def _recount(self, tasks: Iterable[_DueTask]) -> dict[str, Milliseconds]:
        """Return when tasks were due last, those that owe a run by a clock that was set back."""
        found: dict[str, Milliseconds] = {}
        for task in tasks:
            task.clamp(self._t, self._clock, None)
            found.update(self._owed(task))
        return found

    def _owed(self, task: _DueTask) -> dict[str, Milliseconds]:
        """Return when a task was due last, if no start has served that."""
        due = task.latest(self._clock)
        return {task.name: due} if due is not None and task.owes(due) else {}

    # --- what falls due -----------------------------------------------------------------------------------------------

    def _expect(self, task: _DueTask) -> None:
        task.expect(self._clock)
        self._open_next(task)

    def _open_next(self, task: _DueTask) -> None:
        """Look at the next period of a task when its window opens."""
        if (period := next(task.coming, None)) is not None:
            heappush(self._coming, (period[0], next(self._numbers), task, period[1], False))

    def _until(self, clock: Milliseconds) -> Iterator[tuple[Milliseconds, str]]:
        """Yield what falls due until the clock shows an instant; one that was set back shows some instants again."""
        since = self._clock
        if clock < since:
            since = self._clock = clock
            self._coming.clear()
            for task in self._tasks.values():
                self._expect(task)
        while self._coming and self._coming[0][0] <= clock:
            at, _, task, due, is_due = heappop(self._coming)
            if self._tasks.get(task.name) is not task:
                continue  # it has changed, or is gone
            if not is_due:
                if due is not None and due > since:
                    heappush(self._coming, (due, next(self._numbers), task, due, True))
                self._open_next(task)
            elif task.owes(at):
                yield at, task.name

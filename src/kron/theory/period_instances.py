"""PeriodInstance, JobInstances: a period of a trace, and the state that all periods of one identity share."""

from typing import NamedTuple

from kron.theory.property_monitor import MonitorInstance

_SETTLED = 128  # a second start or outcome comes soon or never, and each one remembered costs about a kilobyte
_AWAITED = 2_048  # more than a day of minutes: so many windows may be open at once
_STEP = 64  # new periods between two looks at what can be forgotten
_DEFINITIONS = 8  # of one period: after more edits while it waits, the oldest are no longer checked

Microseconds = int  # since the epoch: finer than a trace, as fine as an instant
LONG_AGO: Microseconds = -(1 << 62)
_MILLISECOND: Microseconds = 1_000
_SECOND: Microseconds = 1_000_000


class JobTerms(NamedTuple):
    """Under which policy a period was judged, as far as its Decision says."""

    deadline: Microseconds | None = None
    forbids_overlap: bool = False
    retries: int | None = None


class Decided(NamedTuple):
    """The fields of a Decision; `chosen` is None where no time is possible."""

    chosen: Microseconds | None
    window: tuple[Microseconds, Microseconds]
    seed_hash: str

    @property
    def is_in_window(self) -> bool:
        """Whether the chosen time lies within the window, whose ends belong to it."""
        return self.chosen is not None and self.window[0] <= self.chosen <= self.window[1]


class PeriodInstance(MonitorInstance):
    """A period of a job, or the job's runs without a period."""

    __slots__ = (
        "_decided", "chosen", "executed_as", "forbids_overlap", "has_outcome", "is_executed", "is_forgotten", "remarks",
        "starts", "terms",
    )  # fmt: skip

    def __init__(self, name: str, stranger: MonitorInstance, *, is_forgotten: bool) -> None:
        """It begins in the state of the default instance; `is_forgotten`: it may be older than the job's memory."""
        super().__init__(name, stranger.stand, stranger.last_position, stranger.pending)
        self.lines |= stranger.lines
        self._decided: dict[str, Decided] = {}  # by definition
        self.chosen: Microseconds | None = None  # by the latest decision
        self.terms = JobTerms()  # the same
        self.starts = 0
        self.executed_as = 0  # its number among the executions of its job
        self.forbids_overlap = False  # by the decision under which it was executed
        self.remarks: dict[str, str] = {}  # by the name of a property: how it was violated
        self.is_executed = self.has_outcome = False
        self.is_forgotten = is_forgotten

    @property
    def is_settled(self) -> bool:
        """Whether nothing is to come of it but the end of its execution."""
        return self.is_executed or self.has_outcome

    def remark(self, name: str) -> str:
        """Return how a property was violated, nothing if its sentence says it all."""
        return self.remarks.get(name, "")

    def start(self, now: Microseconds, attempt: int, retries: int | None) -> set[str]:
        """Take the start of an attempt, and return the atoms beside it."""
        seen: set[str] = set()
        self.starts += 1
        if self.chosen is not None and self.chosen >= now + _MILLISECOND:  # a trace knows milliseconds, no more
            seen.add("Early")
            self.remarks["I8"] = f"starts {_seconds(self.chosen - now)} before its chosen time"
        allowed = self.terms.retries if retries is None else retries
        number = max(attempt, self.starts)
        if allowed is not None and number > allowed + 1:
            seen.add("Excess")
            self.remarks["I12"] = f"attempt {number} starts, but its job allows {_count(allowed, 'retry', 'retries')}"
        return seen

    def accept(self, at: Microseconds, slack: Microseconds) -> set[str]:
        """Take when the period was accepted, and return the atoms; lateness is counted in whole seconds."""
        if self.chosen is None or self.terms.deadline is None:
            return set()
        late = (at - at % _SECOND - self.chosen) // _SECOND * _SECOND
        if late <= self.terms.deadline + slack:
            return set()
        self.remarks["I9"] = (
            f"accepted {_seconds(late)} after its chosen time, but its deadline is {_seconds(self.terms.deadline)} "
            f"and the slack {_seconds(slack)}"
        )
        return {"Late"}

    def decide(self, definition: str, decided: Decided, terms: JobTerms) -> set[str]:
        """Take a decision, and return the atoms beside it."""
        self.chosen, self.terms = decided.chosen, terms
        seen = set[str]() if decided.chosen is None else {"Chosen"}
        if decided.is_in_window:
            seen.add("InWindow")
        if self._decided.setdefault(definition, decided) != decided:
            seen.add("Differs")
        if len(self._decided) > _DEFINITIONS:
            del self._decided[next(iter(self._decided))]
        return seen


class JobInstances:
    """The periods of an identity. Memory is bounded: periods settled long ago are forgotten, active ones never."""

    __slots__ = (
        "_executions",
        "_forgotten",
        "_forgotten_chosen",
        "_limit",
        "_replayed",
        "_replayed_at",
        "active",
        "armed",
        "is_suspended",
        "name",
        "periods",
        "stranger",
    )

    def __init__(self, name: str, stranger: MonitorInstance, armed: Microseconds) -> None:
        """It begins in the state of the default instance, armed when the host was."""
        self.name = name
        self.stranger = MonitorInstance(
            "", stranger.stand, stranger.last_position, stranger.pending
        )  # a period yet to come
        self.stranger.lines |= stranger.lines
        self.armed = armed
        self.is_suspended = False
        self.periods: dict[Microseconds | None, PeriodInstance] = {}  # None: runs that name no period
        self._replayed = LONG_AGO  # the latest arming since which a period chosen before it was executed
        self._replayed_at = 0  # its line
        self._forgotten = LONG_AGO  # the latest period whose state was dropped
        self._forgotten_chosen = LONG_AGO  # the latest second that was chosen for one of them
        self._limit = _STEP
        self._executions = 0
        self.active: set[PeriodInstance] = set()  # those that were started and have not ended; a crash ends them all

    def period(self, nominal: Microseconds | None, text: str, running: set[MonitorInstance]) -> PeriodInstance:
        """Return a period; a new one begins in the state shared by all periods of the job."""
        found = self.periods.get(nominal)
        if found is None:
            if len(self.periods) >= self._limit:
                self._forget(running)
            name = f"{self.name} {text}" if text else self.name
            is_forgotten = nominal is not None and nominal <= self._forgotten
            found = self.periods[nominal] = PeriodInstance(name, self.stranger, is_forgotten=is_forgotten)
        return found

    def expect(self, period: PeriodInstance, decided: Decided) -> None:
        """Take a decision: while its window is open, a period may be named for the first time after later ones are
        settled and forgotten. After an outage hundreds of them are closed in the order of their chosen seconds."""
        if decided.window[1] > self._forgotten_chosen:
            period.is_forgotten = False

    def execute(self, period: PeriodInstance, line: int) -> set[str]:
        """Take the first attempt of a period, and return the atoms beside its start."""
        seen = {"Execution", "Forgotten"} if period.is_forgotten else {"Execution"}
        if not period.is_executed and period.chosen is not None and period.chosen < self.armed:
            if period.chosen < self._replayed:  # armings only get later: the latest one used stands for all before it
                seen.add("Replayed")
                period.lines["RunStart of another"] = self._replayed_at
            self._replayed, self._replayed_at = self.armed, line
        period.is_executed = True
        return seen

    def overlap(self, period: PeriodInstance, running: set[MonitorInstance]) -> set[str]:
        """Take the start of an attempt; return whether a period runs beside it although the later one forbids that.

        The policy counts under which the later one was judged: a job may be edited while the earlier one runs.
        """
        if not period.executed_as:
            self._executions += 1
            period.executed_as, period.forbids_overlap = self._executions, period.terms.forbids_overlap
        self.active = {each for each in self.active if each in running and each is not period}
        beside = next((each for each in self.active if _later(each, period).forbids_overlap), None)
        self.active.add(period)
        if beside is None:
            return set()
        period.remarks["I10"] = f"starts while {beside.name} runs, but its job forbids that"
        return {"Overlap"}

    def _forget(self, running: set[MonitorInstance]) -> None:
        settled: list[Microseconds] = []
        awaited: list[Microseconds] = []
        for nominal in sorted(nominal for nominal in self.periods if nominal is not None):
            period = self.periods[nominal]
            if period not in running:
                (settled if period.is_settled else awaited).append(nominal)
        for nominal in settled[:-_SETTLED] + awaited[:-_AWAITED]:
            period = self.periods.pop(nominal)
            self._forgotten = max(self._forgotten, nominal)
            self._forgotten_chosen = max(self._forgotten_chosen, nominal if period.chosen is None else period.chosen)
        self._limit = len(self.periods) + _STEP


def _later(one: PeriodInstance, other: PeriodInstance) -> PeriodInstance:
    return one if one.executed_as > other.executed_as else other


def _seconds(time: Microseconds) -> str:
    return f"{time / _SECOND:.3f}".rstrip("0").rstrip(".") + " s"


def _count(number: int, one: str, many: str) -> str:
    return f"{number or 'no'} {one if number == 1 else many}"

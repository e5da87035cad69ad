"""Job: what all periods of one identity share, and the periods of it that are still remembered."""

from typing import NamedTuple

from kron.theory.subjects import Subject

_SETTLED = 128  # a second start or outcome comes soon or never, and each one remembered costs about a kilobyte
_AWAITED = 2_048  # more than a day of minutes: so many windows may be open at once
_STEP = 64  # new periods between two looks at what can be forgotten
_DEFINITIONS = 8  # of one period: whoever edits a job more often while it waits is not held to the oldest ones

Microseconds = int  # since the epoch: finer than a trace, as fine as an instant
LONG_AGO: Microseconds = -(1 << 62)


class Decided(NamedTuple):
    """What a Decision says of its period; `chosen` is None where no time is possible."""

    chosen: Microseconds | None
    window: tuple[Microseconds, Microseconds]
    seed_hash: str

    @property
    def is_in_window(self) -> bool:
        """Whether the chosen time lies within the window, whose ends belong to it."""
        return self.chosen is not None and self.window[0] <= self.chosen <= self.window[1]


class Period(Subject):
    """A period of a job, or what was run of it without one."""

    __slots__ = ("_decided", "chosen", "has_outcome", "is_executed", "is_forgotten")

    def __init__(self, name: str, stranger: Subject, *, is_forgotten: bool) -> None:
        """It has seen what a stranger has, and may be as old as what was forgotten."""
        super().__init__(name, stranger.stand, stranger.touched, stranger.debts)
        self.lines |= stranger.lines
        self._decided: dict[str, Decided] = {}  # by definition
        self.chosen: Microseconds | None = None  # by the latest decision
        self.is_executed = self.has_outcome = False
        self.is_forgotten = is_forgotten

    @property
    def is_settled(self) -> bool:
        """Whether nothing is to come of it but the end of its execution."""
        return self.is_executed or self.has_outcome

    def decide(self, definition: str, decided: Decided) -> set[str]:
        """Take a decision, and return what the period sees of it."""
        self.chosen = decided.chosen
        seen = set[str]() if decided.chosen is None else {"Chosen"}
        if decided.is_in_window:
            seen.add("InWindow")
        if self._decided.setdefault(definition, decided) != decided:
            seen.add("Differs")
        if len(self._decided) > _DEFINITIONS:
            del self._decided[next(iter(self._decided))]
        return seen


class Job:
    """An identity. Its memory is bounded: what was settled long ago is forgotten, what runs never is."""

    __slots__ = (
        "_forgotten",
        "_limit",
        "_replayed",
        "_replayed_at",
        "armed",
        "is_suspended",
        "name",
        "periods",
        "stranger",
    )

    def __init__(self, name: str, stranger: Subject, armed: Microseconds) -> None:
        """It has seen what a stranger has, and was armed when the host was."""
        self.name = name
        self.stranger = Subject("", stranger.stand, stranger.touched, stranger.debts)  # a period yet to come
        self.stranger.lines |= stranger.lines
        self.armed = armed
        self.is_suspended = False
        self.periods: dict[Microseconds | None, Period] = {}  # None: runs that name no period
        self._replayed = LONG_AGO  # the latest arming since which a period chosen before it was executed
        self._replayed_at = 0  # its line
        self._forgotten = LONG_AGO  # the latest period of which nothing is known any more
        self._limit = _STEP

    def period(self, nominal: Microseconds | None, text: str, running: set[Subject]) -> Period:
        """Return a period; one that nobody named before has seen what all of them saw."""
        found = self.periods.get(nominal)
        if found is None:
            if len(self.periods) >= self._limit:
                self._forget(running)
            name = f"{self.name} {text}" if text else self.name
            is_forgotten = nominal is not None and nominal <= self._forgotten
            found = self.periods[nominal] = Period(name, self.stranger, is_forgotten=is_forgotten)
        return found

    def execute(self, period: Period, line: int) -> set[str]:
        """Take the first attempt of a period, and return what the period sees of it beside its start."""
        seen = {"Execution", "Forgotten"} if period.is_forgotten else {"Execution"}
        if not period.is_executed and period.chosen is not None and period.chosen < self.armed:
            if period.chosen < self._replayed:  # armings only get later: the latest one used stands for all before it
                seen.add("Replayed")
                period.lines["RunStart of another"] = self._replayed_at
            self._replayed, self._replayed_at = self.armed, line
        period.is_executed = True
        return seen

    def _forget(self, running: set[Subject]) -> None:
        settled: list[Microseconds] = []
        awaited: list[Microseconds] = []
        for nominal in sorted(nominal for nominal in self.periods if nominal is not None):
            period = self.periods[nominal]
            if period not in running:
                (settled if period.is_settled else awaited).append(nominal)
        for nominal in settled[:-_SETTLED] + awaited[:-_AWAITED]:
            del self.periods[nominal]
            self._forgotten = max(self._forgotten, nominal)
        self._limit = len(self.periods) + _STEP

"""Subject: somebody whom properties are about, a task, a call or the world, and what is remembered of it."""

from kron.theory.environment import Times, minute_of
from kron.theory.trace import Memory, Registration


class Subject:
    """Where an automaton stands for it, and what it is owed. A trace may have a million of them."""

    __slots__ = ("before", "deadlines", "is_queued", "lines", "marks", "name", "owed", "state", "touched")

    def __init__(self, name: str, state: int, touched: int, timed: int) -> None:
        """It stands at a state that it reached at position `touched`, and has so many timed properties."""
        self.name = name
        self.state = self.before = state
        self.touched = touched
        self.marks: object = None  # what its jury said last
        self.deadlines: list[int | None] = [None] * timed  # in active time; None: nothing is owed
        self.is_queued: list[bool] = [False] * timed  # whether a clock looks at the deadline
        self.owed: list[int] = [0] * timed  # the line since which it is owed
        self.lines: dict[str, int] = {}  # the last line of each kind of event: what explanations are made of

    def release(self) -> None:
        """Owe it nothing any more; what its jury says next is looked at in any case."""
        self.deadlines = [None] * len(self.deadlines)
        self.marks = None


class Task(Subject):
    """A task: also when it is due, how long it waits after a failure, and since when it is known."""

    __slots__ = ("cron", "delay", "first", "is_listed", "last_due", "last_start", "retry_at", "times")

    def __init__(self, name: str, state: int, touched: int, timed: int) -> None:
        super().__init__(name, state, touched, timed)
        self.cron = ""
        self.delay = 0.0
        self.first = 0  # the beginning of the minute in which it came in
        self.is_listed = False
        self.last_due: int | None = None  # of those that the trace names
        self.last_start: int | None = None
        self.retry_at: int | None = None
        self.times: Times | None = None

    def is_as_in(self, registration: Registration) -> bool:
        """Whether it is in the current list already, and the same."""
        return self.is_listed and (self.cron, self.delay) == (registration.cron, registration.retry_delay_ms)

    def take(self, registration: Registration, times: Times | None, t: int, *, keeps_history: bool) -> set[str]:
        """Become what a list says, and return what the task sees of that: whether it changed, and what it owes."""
        is_new = not self.is_listed
        self.cron, self.delay, self.is_listed, self.times = registration.cron, registration.retry_delay_ms, True, times
        latest = times.latest(t) if times is not None else None
        if not is_new and keeps_history:
            since = self.first - 1 if self.last_start is None else self.last_start
            return {"Changed", "Redue"} if latest is not None and latest > since else {"Changed"}
        self.first, self.last_start, self.retry_at = minute_of(t), None, None
        dues = (latest, self.last_due if is_new else None)  # one that was listed was due by another schedule
        boot = {"Boot"} if any(due is not None and due >= self.first for due in dues) else set[str]()
        return boot if is_new else {"Renewed", *boot}

    def recall(self, memory: Memory, registration: Registration, times: Times | None, t: int) -> set[str]:
        """Become a task whose past this trace does not show; return whether it owes a run by what was remembered."""
        self.take(registration, times, t, keeps_history=True)
        self.first, self.last_start = minute_of(memory.first), memory.last_start
        since = self.first - 1 if self.last_start is None else self.last_start
        latest = times.latest(t) if times is not None else None
        is_due = latest is not None and latest > since
        is_retry = memory.retry_at is not None and memory.retry_at <= t
        return {"Redue"} if is_due or is_retry or memory.is_interrupted else set()

    def owes(self, due: int) -> bool:
        """Whether no start has served a due instant, which a clock that was set back shows once more."""
        return due >= self.first and (self.last_start is None or due > self.last_start)

    def unlist(self) -> None:
        """Leave the list: nothing falls due any more."""
        self.is_listed, self.times, self.retry_at = False, None, None


class Call(Subject):
    """A call of initialize or stop that has not returned."""

    __slots__ = ("is_excused", "is_overtaken", "is_valid", "registrations")

    def __init__(self, name: str, timed: int) -> None:
        super().__init__(name, 0, -1, timed)
        self.registrations: list[Registration] = []
        self.is_valid = True
        self.is_overtaken = False  # a stop began after it
        self.is_excused = False  # something was in its way, so that it may fail

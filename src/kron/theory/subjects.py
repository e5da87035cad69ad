"""Subject: somebody whom properties are about, a task, a call or the world, and what is remembered of it."""

from collections.abc import Sequence
from typing import NamedTuple

from kron.theory.environment import Times, is_far_ahead, minute_of
from kron.theory.stand import Debts, Stand
from kron.theory.trace import Memory, Registration


class Subject:
    """Where it stands, and what it is owed. A trace may have a million of them."""

    __slots__ = ("debts", "lines", "name", "stand", "touched")

    def __init__(self, name: str, stand: Stand, touched: int, debts: Debts) -> None:
        """It came to where it stands at position `touched`, or earlier if it was not the last that saw something."""
        self.name, self.stand, self.touched, self.debts = name, stand, touched, debts
        self.lines: dict[str, int] = {}  # the last line of each kind of event, as far as it is not kept elsewhere

    def past(self) -> dict[str, int]:
        """Return the last line of each kind of event: what explanations are made of."""
        return self.lines

    def remark(self, name: str) -> str:  # noqa: ARG002  # those who know more say it
        """Return how a property was violated, nothing if its sentence says it all."""
        return ""


class Lines(NamedTuple):
    """Lines of one event, each of another task: what these share, because hardly any of them is ever asked for."""

    first: int
    names: Sequence[str]

    def of(self, name: str) -> int:
        """Return that of a task."""
        return self.first + self.names.index(name)


class Task(Subject):
    """A task: also when it is due, how long it waits after a failure, and since when it is known."""

    __slots__ = (
        "came", "cron", "delay", "failed", "first", "is_clamped", "is_listed", "last_due", "last_start",
        "retry_at", "retry_delay", "start_line", "success_line", "times",
    )  # fmt: skip

    def __init__(self, name: str, stand: Stand, touched: int, debts: Debts) -> None:
        super().__init__(name, stand, touched, debts)
        self.start_line: int | Lines | None = None  # of the last RunStart and RunSuccess: nearly all there is
        self.success_line: int | Lines | None = None
        self.cron = ""
        self.delay = 0.0
        self.came = 0  # when it came in
        self.first = 0  # the beginning of the minute in which it came in
        self.is_listed = False
        self.last_due: int | None = None  # of those that the trace names
        self.last_start: int | None = None
        self.retry_at: int | None = None
        self.failed: int | None = None  # when its last run did, unless it was started since
        self.retry_delay = 0  # of that time
        self.is_clamped = False  # since its last start, or since it came: whether the ledger knows it has to say
        self.times: Times | None = None

    def past(self) -> dict[str, int]:
        """Return the last line of each kind of event."""
        found = dict(self.lines)
        for event, line in (("RunStart", self.start_line), ("RunSuccess", self.success_line)):
            if line is not None:
                found[event] = line.of(self.name) if isinstance(line, Lines) else line
        return found

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
        self.came, self.first, self.last_start, self.retry_at, self.failed = t, minute_of(t), None, None, None
        self.is_clamped = False
        dues = (latest, self.last_due if is_new else None)  # one that was listed was due by another schedule
        boot = {"Boot"} if any(due is not None and self.first <= due <= t for due in dues) else set[str]()
        return boot if is_new else {"Renewed", *boot}

    def recall(self, memory: Memory, registration: Registration, times: Times | None, t: int) -> set[str]:
        """Become a task whose past this trace does not show; return whether it owes a run by what was remembered."""
        self.take(registration, times, t, keeps_history=True)
        self._remember(memory)
        since = self.first - 1 if self.last_start is None else self.last_start
        latest = times.latest(t) if times is not None else None
        is_due = latest is not None and latest > since
        is_retry = memory.retry_at is not None and memory.retry_at <= t
        return {"Redue"} if is_due or is_retry or memory.is_interrupted else set()

    def owes(self, due: int) -> bool:
        """Whether no start has served a due instant, which a clock that was set back shows once more."""
        return due >= self.first and (self.last_start is None or due > self.last_start)

    def clamp(self, clock: int, memory: Memory | None) -> bool:
        """Count from the clock what a clock far ahead has recorded; return whether there was anything.

        Baseline and retry are judged each on its own. The scheduler counts from what its ledger remembers: a crash may
        have kept a clamp out of the trace, or out of the ledger.
        """
        is_remembered = False
        if memory is not None:
            times = [self.came, self.last_start, self.failed, memory.first, memory.last_start]
            times += [memory.last_failure if memory.retry_at is not None else None]
            is_remembered = self.is_clamped or any(at is not None and is_far_ahead(at, clock) for at in times)
            if is_remembered:
                self._remember(memory)
        is_ahead = is_far_ahead(self.came if self.last_start is None else max(self.came, self.last_start), clock)
        if is_ahead:
            self.came = min(self.came, clock)
            self.first = minute_of(self.came)
            self.last_start = None if self.last_start is None else min(self.last_start, clock)
        is_retry_ahead = self.failed is not None and is_far_ahead(self.failed, clock)
        if is_retry_ahead:
            self.failed = clock
        self.is_clamped |= is_ahead or is_retry_ahead
        return is_remembered or is_ahead or is_retry_ahead

    def recount(self, clock: int) -> set[str]:
        """Return what the task sees of a clock that was set back: whether one of its times has come by it."""
        since = self.first - 1 if self.last_start is None else self.last_start
        latest = self.times.latest(clock) if self.times is not None else None
        return {"Recounted", "Redue"} if latest is not None and since < latest <= clock else {"Recounted"}

    def _remember(self, memory: Memory) -> None:
        self.came, self.first, self.last_start = memory.first, minute_of(memory.first), memory.last_start
        self.failed, self.is_clamped = None, False
        if memory.retry_at is not None:
            failed, delay = memory.last_failure, round(memory.registration.retry_delay_ms)
            self.failed = memory.retry_at - delay if failed is None else failed
            self.retry_delay = memory.retry_at - self.failed

    def unlist(self) -> None:
        """Leave the list: nothing falls due any more."""
        self.is_listed, self.times, self.retry_at, self.failed = False, None, None, None


class Call(Subject):
    """A call of initialize or stop that has not returned."""

    __slots__ = ("is_excused", "is_overtaken", "is_valid", "registrations")

    def __init__(self, name: str, stand: Stand, debts: Debts) -> None:
        super().__init__(name, stand, -1, debts)
        self.registrations: list[Registration] = []
        self.is_valid = True
        self.is_overtaken = False  # a stop began after it
        self.is_excused = False  # something was in its way, so that it may fail

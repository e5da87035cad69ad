"""Clock, Ledger, Runner, Sink: what the engine needs of the world. The docstrings are the specification."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple, Protocol, TypeVar

from kron.engine.wake import WakeUp
from kron.errors import LedgerConflictError
from kron.instant import Instant
from kron.rules.events import Event
from kron.rules.periods import NO_PERIODS, HandledPeriods
from kron.rules.registration import Callback
from kron.rules.task_record import TaskRecord, TaskRunRecord


class Clock(Protocol):
    """What time it is, and waiting for it."""

    max_sleep: timedelta | None
    """How long the engine may wait before it must compare wall and monotonic time; None: a jump cannot go unnoticed."""

    def now(self) -> Instant:
        """Return the present by the wall clock, which people set and machines adjust."""

    def monotonic(self) -> float:
        """Return seconds since some moment, by a clock that nobody sets."""

    async def wait_until(self, deadline: Instant | None, wake: WakeUp, /) -> None:
        """Return at the deadline by the wall clock, or as soon as `wake` is set; None: only then.

        Coming back a little early is allowed, coming back late is reported by the engine.
        """

    def busy(self, *, watched: bool = False) -> AbstractContextManager[object]:
        """Surround a wait for something other than time (a disk), so that a virtual clock does not move meanwhile.

        `watched`: also count for how long the process does not run in it. That costs some microseconds.
        """

    def stood_still(self) -> timedelta:
        """Return for how long in all the process did not run in watched waits: stopped, or without a turn."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A record that contradicts the ledger. No record of the same job in that batch was committed."""

    identity: str
    nominal: Instant | None
    """The period of the record; None: a task, or a run without a period."""
    error: LedgerConflictError
    """What the ledger has instead."""
    run_id: str = ""
    """The run that the record starts or ends; "": a period without a run."""
    handled: HandledPeriods = NO_PERIODS
    """The periods of this job that have an outcome, from the first one on to which the batch gives an outcome."""


class Batch(NamedTuple):
    """What one transaction remembers, in this order: the last word on a task counts."""

    forgotten: Sequence[str] = ()
    """Names of tasks to forget."""
    records: Sequence[TaskRecord] = ()
    """Tasks as they are now."""
    begun: Sequence[TaskRecord] = ()
    """Known tasks that begin: only `last_attempt`, `retry_until` (None), `retry_count`, `running_since` and `scheduler`
    differ from what is remembered, and most of them have these in common."""
    runs: Sequence[TaskRunRecord] = ()
    """Runs that have ended."""

    def __bool__(self) -> bool:
        """Whether there is anything to write."""
        return bool(self.forgotten or self.records or self.begun or self.runs)


Written = TypeVar("Written", contravariant=True)
Stored = TypeVar("Stored", covariant=True)


class Store(Protocol[Written, Stored]):
    """What survives a crash: what rules read, and a bounded history that no rule reads."""

    async def open(self) -> None:
        """Take possession, for this scheduler alone; LedgerInUseError if another has it, LedgerUnusableError if broken.

        What is found there is not changed by looking at it.
        """

    async def load(self) -> Stored:
        """Return what is remembered, or raise the error of the first part that is damaged."""

    async def append(self, batch: Written, /) -> Sequence[Refusal]:
        """Commit the batch durably in one transaction, and return what contradicts the ledger; others get a turn.

        A contradiction drops the records of one task or job, which is named once; all other records are committed.
        LedgerError: nothing is committed. Once it has returned, a power cut does not undo it. Repeating a batch changes
        nothing and refuses nothing.
        """

    async def close(self) -> None:
        """Give up possession. Closing twice is harmless."""


class Ledger(Store[Batch, Mapping[str, TaskRecord]], Protocol):
    """The state of each task, by name, and the history of their runs.

    A damaged record is a TaskTryDeserializeError. An append that fails because of one record may say so: `task` of its
    LedgerError is then the name.
    """


class Run:
    """One run: of which task, for which instant, since when; and once it has ended, when, how long it took, and how."""

    __slots__ = (
        "callback", "ended", "error", "name", "scheduled", "seconds", "started", "started_monotonic", "timed_out",
    )  # fmt: skip

    def __init__(
        self, name: str, callback: Callback, scheduled: Instant, started: Instant, started_monotonic: float
    ) -> None:
        self.name = name
        self.callback = callback
        self.scheduled = scheduled
        self.started = started
        self.started_monotonic = started_monotonic
        self.timed_out = False
        self.ended: Instant | None = None
        self.error: BaseException | None = None
        self.seconds = 0.0


Ended = Callable[[Run, BaseException | None], None]


class Runner(Protocol):
    """What carries runs out."""

    start_is_idempotent: bool
    """Whether starting the same run a second time, after a crash between record and start, is harmless."""

    def start(self, run: Run, ended: Ended, /) -> None:
        """Begin the run; `ended` is called once, when it has really ended, with what it raised, if anything."""

    def terminate(self, run: Run, /) -> None:
        """Ask the run to end soon. It lasts until it has."""

    def abandon(self) -> None:
        """Let go of all runs without a word: what a crash does. `ended` is not called any more."""


Sink = Callable[[Event], object]
"""Takes each event. May have a method `wants(level) -> bool`, so that events nobody reads are not made, and a set
`needs` of names of events that it gets whatever their level. May have methods `on_starts(names, at)` and
`on_ends(runs)`, called for all runs of a step together: for those who want to know of each run at the least cost."""

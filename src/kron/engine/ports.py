"""Clock, Ledger, Runner, RunObserver, Sink: what the engine needs of the world. Docstrings are the specification."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, NamedTuple, Protocol, TypeVar

from kron.decision.decision import Decision
from kron.engine.clock_watch import ClockDeviation, WakeUp
from kron.engine.runs import AnyRun, Run, RunResult, TaskRun
from kron.errors import LedgerConflictError
from kron.instant import Instant
from kron.rules.events import Event
from kron.rules.job_record import PeriodRecord, RunEnd, RunHandle
from kron.rules.job_spec import JobSpec
from kron.rules.periods import NO_PERIODS, HandledPeriods
from kron.rules.task_record import TaskRecord, TaskRunRecord


class Clock(Protocol):
    """What time it is, and waiting for it."""

    max_sleep: timedelta | None
    """How long the engine may wait before it must compare wall and monotonic time; None: a jump cannot go unnoticed."""

    def now(self) -> Instant:
        """Return the present by the wall clock, which people set and machines adjust."""

    def monotonic(self) -> float:
        """Return seconds since some moment, by a clock that is never set."""

    async def wait_until(self, deadline: Instant | None, wake: WakeUp, /) -> None:
        """Return at the deadline by the wall clock, or as soon as `wake` is set; None: only then.

        Others get a turn in any case. To return a little early is allowed, to return late is reported by the engine.
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


class TaskBatch(NamedTuple):
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
_Reported = TypeVar("_Reported", bound=Run, contravariant=True)


class Ledger(Protocol[Written, Stored]):
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


class TaskLedger(Ledger[TaskBatch, Mapping[str, TaskRecord]], Protocol):
    """The state of each task, by name, and the history of their runs.

    A damaged record is a TaskTryDeserializeError. An append that fails because of one record may say so: `task` of its
    LedgerError is then the name.
    """


class RunListener(Protocol[_Reported]):
    """What a runner reports to; it is called on the event loop."""

    def on_started(self, run: _Reported, handle: RunHandle, /) -> None:
        """The run exists, and can be found again by its handle."""

    def on_ended(self, run: _Reported, result: RunResult, /) -> None:
        """The run has ended, or could not be started. Called once."""


class Runner(Protocol[AnyRun]):
    """What carries runs out: callbacks, processes, Kubernetes Jobs."""

    def start(self, runs: Sequence[AnyRun], listener: RunListener[AnyRun], /) -> None:
        """Start them in their order, without waiting; what becomes of each is reported to the listener.

        A run whose handle is not reported does not survive this process.
        """

    def stop(self, run: AnyRun, /) -> None:
        """Ask a run to end, and make sure that it does. It lasts until its end is reported.

        Nothing happens if it has ended, or was never started. One that has not begun yet may end without beginning.
        """

    async def reattach(self, runs: Sequence[AnyRun], listener: RunListener[AnyRun], /) -> Collection[str]:
        """Return the ids of the runs of an earlier life that go on; their ends are reported.

        Asked once, before anything is started. A run that has no handle was recorded, and perhaps never started.
        """

    async def catch_up(self, *, stood_still: bool) -> None:
        """Report every run that has ended by now, as far as that is known within seconds.

        `stood_still`: the host did nothing for longer than its slack, and so may what the runner asks have.
        """

    def detach(self) -> None:
        """Report nothing from now on, as after a crash. What can survive this process keeps running."""


class FailedLedger(NamedTuple):
    """Since when a ledger takes no records, and why. Meanwhile nothing is started."""

    since: Instant
    error: str


class RunObserver(Generic[AnyRun]):
    """Sees what was committed, in order. An observer inherits the methods that do not concern it, which do nothing.

    Its errors are reported and never disturb a run.
    """

    def on_started(self, runs: Sequence[AnyRun], /) -> None:
        """Runs start; the first attempt of a period has its decision."""

    def on_ended(self, ended: Sequence[tuple[AnyRun, RunEnd]], /) -> None:
        """Runs have ended."""

    def on_retry_dropped(self, run_id: str, /) -> None:
        """A failed run is not retried after all."""

    def on_closed(self, work: JobSpec, record: PeriodRecord, last: Decision, /) -> None:
        """A period, or neighbours of which this was the last, are over without a run."""

    def on_suspended(self, identity: str, /, *, suspended: bool) -> None:
        """A job was suspended or resumed by command; what follows from it is reported after it."""

    def on_refused(self, refusal: Refusal, /) -> None:
        """The ledger refused a job, and nothing of it was committed."""

    def on_lost(self, runs: Sequence[AnyRun], /) -> None:
        """The ends of runs could not be recorded before the loop ended."""

    def on_clock(self, deviation: ClockDeviation, /) -> None:
        """The wall clock was set, or the loop stood still."""

    def on_append(self, seconds: float, /) -> None:
        """An append to the ledger took so long, whether it succeeded or failed."""

    def on_ledger(self, failed: FailedLedger | None, /) -> None:
        """A step could not be recorded; None: steps can be recorded again."""


class SchedulerObserver(RunObserver[TaskRun]):
    """Sees the life of a scheduler of the library, too."""

    def on_initialize(self, registrations: object, /) -> None:
        """A list of registrations was passed to the scheduler; it may be wrong."""

    def on_initialized(self, at: Instant, remembered: Mapping[str, TaskRecord], /) -> None:
        """The list was accepted. `remembered` is what the ledger had when it was opened, empty if it was open."""

    def on_initialize_failed(self, error: BaseException, /) -> None:
        """The list was refused, or could not be recorded."""

    def on_stop(self) -> None:
        """A stop was asked for."""

    def on_stopped(self) -> None:
        """The scheduler has stopped."""


Sink = Callable[[Event], object]
"""Takes each event. May have a method `wants(level) -> bool`, so that events without a reader are not made."""

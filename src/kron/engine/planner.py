"""Planner, Step, Change: what the engine asks of a planner. The docstrings are the specification."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import timedelta
from typing import Generic, Protocol, TypeVar

from kron.engine.clock_watch import ClockReading
from kron.engine.emitter import Observers
from kron.engine.ports import Refusal
from kron.engine.runs import AnyRun, RunNews
from kron.instant import Instant
from kron.rules.job_record import ResultCode

Batch = TypeVar("Batch", covariant=True)  # what a ledger writes in one transaction
Stored = TypeVar("Stored", contravariant=True)  # what it remembers
Result = TypeVar("Result", covariant=True)


class Change(ABC, Generic[Batch, Result, AnyRun]):
    """A change of what is declared. Nothing is changed by it yet. One that starts and stops nothing inherits that."""

    batch: Batch  # what to remember first; nothing needs to be written if it is empty
    starts: Sequence[AnyRun] = ()  # the runs that start once it is committed
    stops: Sequence[tuple[AnyRun, ResultCode]] = ()  # the runs that are asked to end then, and why

    @abstractmethod
    def commit(self, refused: Sequence[Refusal], /) -> Result:
        """Apply the committed change; what is `refused` was not committed. Raise what prevents all of it."""

    def report(self, observers: Observers[AnyRun], /) -> None:
        """Report what was committed, after its runs have started."""


class Step(Protocol[Batch, AnyRun]):
    """One step, at one instant: what ended is settled, what is due is planned. It is undone until it is committed."""

    @property
    def batch(self) -> Batch:
        """What to remember first; nothing needs to be written if it is empty."""

    @property
    def record_count(self) -> int:
        """How many jobs it speaks of."""

    @property
    def starts(self) -> Sequence[AnyRun]:
        """The runs that start; what was refused or withdrawn is not among them."""

    @property
    def stops(self) -> Sequence[tuple[AnyRun, ResultCode]]:
        """The runs that are asked to end, and why."""

    def rollback(self) -> None:
        """Nothing is durable: put everything back as it was. What was due is still due."""

    def refuse(self, refused: Sequence[Refusal], /) -> RunNews[AnyRun]:
        """Undo the step for the jobs that the ledger refuses, before anything starts. All others are not concerned.

        Return the news of those jobs, which the next step takes up again.
        """

    def withdraw(self) -> None:
        """Take back durable starts that must not happen, because a stop was asked for since they were planned."""

    def commit(self) -> None:
        """All is durable, and its runs are started: go on from there."""

    def report(self, observers: Observers[AnyRun], /, *, written: bool | None, monotonic: float) -> None:
        """Report what was committed, and how the step went; None: the ledger failed."""


class Planner(Protocol[Batch, Stored, AnyRun]):
    """All that is declared, and that is to come, as a state machine: no clock, no disk, no processes."""

    def load(self, stored: Stored, /) -> None:
        """Take what the ledger remembers, before anything is declared."""

    def arm(self, now: Instant, /) -> None:
        """From now on runs may start."""

    @property
    def slack(self) -> timedelta | None:
        """How late a step may be before that is a freeze, None: lateness changes nothing."""

    def step(
        self, reading: ClockReading, news: RunNews[AnyRun], free: int, /, *, is_draining: bool
    ) -> Step[Batch, AnyRun]:
        """Take up what ended and what is due, a bounded number of jobs, and start as many runs as there are slots."""

    def next_wake(self, now: Instant, free: int, /, *, is_draining: bool) -> Instant | None:
        """Return when the next step is due at the latest, None: when there is news."""

    def has_unrecorded(self) -> bool:
        """Whether something is to be recorded that is no news of a runner."""

    def on_draining(self, now: Instant, /) -> None:
        """Plan no more starts, and drop what will never start."""

    def on_drained(self, lost: Sequence[AnyRun], /) -> None:
        """Nothing runs. The ends of the lost runs could not be recorded."""

"""Planner, Step, Change: what the engine asks of a planner. The docstrings are the specification."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol, TypeVar

from kron.engine.ports import Refusal
from kron.engine.wake import WakeUp
from kron.instant import Instant
from kron.rules.outage import Freeze

Batch = TypeVar("Batch", covariant=True)  # what a ledger writes in one transaction
Stored = TypeVar("Stored", contravariant=True)  # what it remembers
Result = TypeVar("Result", covariant=True)


class Change(Protocol[Batch, Result]):
    """A change of what is declared. Nothing is changed by it yet."""

    @property
    def batch(self) -> Batch:
        """What to remember first; nothing needs to be written if it is empty."""

    def commit(self, refused: Sequence[Refusal], /) -> Result:
        """Apply the committed change; what is `refused` was not committed. Raise what prevents all of it."""


class Step(Protocol[Batch]):
    """One step, at one moment: what ended is settled, what is due is planned."""

    @property
    def batch(self) -> Batch:
        """What to remember first; nothing needs to be written if it is empty."""

    @property
    def record_count(self) -> int:
        """How many jobs it speaks of."""

    def rollback(self) -> None:
        """Put everything back as it was: it could not be remembered. What was due is still due."""

    def refuse(self, refused: Sequence[Refusal], /) -> None:
        """Undo the step for the jobs that the ledger refuses, before anything starts. All others are not concerned."""

    def act(self, *, hushed: bool) -> None:
        """Tell what ended and start what begins, now that it is remembered; hushed: a stop came, start nothing."""

    def report(self, *, written: bool | None) -> None:
        """Tell how the step went; None: the ledger failed."""


class Planner(Protocol[Batch, Stored]):
    """All that is declared, that runs, and that is to come."""

    wake: WakeUp
    """Set whenever there is something to settle before time comes."""

    def load(self, stored: Stored, /) -> None:
        """Take what the ledger remembers, before anything is declared."""

    def arm(self, now: Instant, /) -> None:
        """From now on runs may start."""

    @property
    def slack(self) -> timedelta | None:
        """How late a step may be before that is a freeze, None: lateness changes nothing."""

    async def catch_up(self, *, stood_still: bool) -> None:
        """Hear of the runs that have ended by now. Called before a step that is late, or after the clock was set.

        It returns within seconds in any case. `stood_still`: the host did nothing for longer than its slack.
        """

    def step(self, now: Instant, *, hushed: bool, leapt: float, freeze: Freeze | None) -> Step[Batch]:
        """Take up what ended and what is due, a bounded number of jobs.

        The clock was set so many seconds ahead. `freeze`: until now the host stood still.
        """

    def next_wake(self, *, hushed: bool) -> Instant | None:
        """Return when the next step is due at the latest, None: when there is news."""

    def has_runs(self) -> bool:
        """Whether anything runs."""

    def has_unrecorded(self) -> bool:
        """Whether something is to be recorded yet."""

    def crash(self) -> None:
        """Let go of all runs without a word."""

    def on_draining(self) -> None:
        """Tell that nothing more starts."""

    def on_drained(self) -> None:
        """Tell that nothing runs any more, and what could not be recorded."""

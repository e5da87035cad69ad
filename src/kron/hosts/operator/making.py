"""Making: an execution whose Job is to be, or is; and what a maker works with."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple, Protocol

from kron.adapters.kubernetes.client import ResourceClient
from kron.adapters.kubernetes.namespace_backoff import NamespaceBackoff
from kron.adapters.kubernetes.work_queue import WorkQueue
from kron.decision.decision import Decision
from kron.engine.runs import JobRun
from kron.hosts.operator.accounts import Accounts
from kron.hosts.operator.error_boundary import ErrorBoundary
from kron.hosts.operator.world import World
from kron.instant import Instant
from kron.kronjob.period_status import PeriodStatus
from kron.kronjob.snapshot import ChildJob, Key, KronJobSnapshot
from kron.kronjob.status import CreateFailure


class Scribe(Protocol):
    """Who is told what became of a period, once it is certain."""

    def on_made(self, decision: Decision, /) -> None:
        """Its Job is there."""

    def on_failed(self, seen: KronJobSnapshot, decision: Decision, trouble: CreateFailure, /) -> None:
        """Its Job could not be created; it may be tried again."""

    def on_settled(
        self, seen: KronJobSnapshot, decision: Decision, entry: PeriodStatus, job: str, message: str, /
    ) -> None:
        """It has its outcome."""

    def on_deleted(self, seen: KronJobSnapshot, job: ChildJob, /) -> None:
        """Its Job has to go, because another one takes its place."""


class Surroundings(NamedTuple):
    """What a maker works with."""

    api: ResourceClient
    world: World
    accounts: Accounts
    errands: WorkQueue
    refusals: NamespaceBackoff
    scribe: Scribe
    may_write: Callable[[], bool]  # asked right before every write
    now: Callable[[], Instant]
    see_again: Callable[[], Awaitable[object]]  # lists everything, and returns within seconds in any case
    fence: ErrorBoundary


class Making:
    """An execution whose Job is to be, or is."""

    __slots__ = (
        "_decision", "execution", "is_doubtful", "is_held", "is_replaced", "job", "key", "start_before", "tries",
    )  # fmt: skip

    def __init__(self, execution: JobRun, decision: Decision | None, key: Key) -> None:
        """`decision` is None for a Job that exists: what its annotations say may be no period of the schedule."""
        self.execution, self._decision = execution, decision
        accepted = execution.acceptance
        self.start_before = None if accepted is None else accepted.start_before
        self.key = key  # of the Job
        self.job: ChildJob | None = None
        self.tries = 0
        self.is_held = False  # by something else than the number of those before it
        self.is_replaced = False  # another one takes its place: it is not created any more
        self.is_doubtful = False  # a request was not answered: the Job may be there

    def lose_slack(self) -> None:
        """Hold it to the limit of a period whose job was suspended in between."""
        if self.execution.acceptance is not None:
            self.start_before = self.execution.acceptance.resume_before

    @property
    def decision(self) -> Decision:
        """The decision of the period whose Job is to be created."""
        assert self._decision is not None, "a Job that exists is not created"
        return self._decision

"""Making: an execution whose Job is to be, or is; and what a maker works with."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple, Protocol

from kron.adapters.kubernetes.cache import ClusterCache
from kron.adapters.kubernetes.client import ResourceClient
from kron.adapters.kubernetes.error_boundary import ErrorBoundary
from kron.adapters.kubernetes.event_recorder import EventRecorder
from kron.adapters.kubernetes.ledger import Accounts
from kron.adapters.kubernetes.namespace_backoff import NamespaceBackoff
from kron.adapters.kubernetes.resource_store import Key
from kron.adapters.kubernetes.work_queue import WorkQueue
from kron.decision.decision import Decision
from kron.engine.runs import JobRun
from kron.instant import Instant
from kron.kronjob.snapshot import ChildJob, KronJobSnapshot
from kron.kronjob.status import PeriodStatus


class Scribe(Protocol):
    """Who is told what became of a period, once it is certain."""

    def on_made(self, decision: Decision, /) -> None:
        """Its Job is there."""

    def on_settled(
        self, seen: KronJobSnapshot, decision: Decision, entry: PeriodStatus, job: str, message: str, /
    ) -> None:
        """It has its outcome."""


class Surroundings(NamedTuple):
    """What a maker works with."""

    api: ResourceClient
    cache: ClusterCache
    accounts: Accounts
    errands: WorkQueue
    refusals: NamespaceBackoff
    events: EventRecorder
    scribe: Scribe
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

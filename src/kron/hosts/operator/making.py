"""Making: an execution whose Job is to be, or is; and what a maker works with."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import NamedTuple, Protocol

from kron.decision.decision import Decision
from kron.engine.jobs.execution import Execution
from kron.hosts.operator.accounts import Accounts
from kron.hosts.operator.errands import Errands
from kron.hosts.operator.fence import Fence
from kron.hosts.operator.refusals import Refusals
from kron.hosts.operator.seen import Key, SeenJob, SeenKronJob
from kron.hosts.operator.sender import Sender
from kron.hosts.operator.world import World
from kron.instant import Instant
from kron.rules.kronjob.entry import Entry
from kron.rules.kronjob.status import Trouble


class Scribe(Protocol):
    """Who is told what became of a period, once it is certain."""

    def on_made(self, decision: Decision, /) -> None:
        """Its Job is there."""

    def on_failed(self, seen: SeenKronJob, decision: Decision, trouble: Trouble, /) -> None:
        """Its Job could not be created; it may be tried again."""

    def on_settled(self, seen: SeenKronJob, decision: Decision, entry: Entry, job: str, message: str, /) -> None:
        """It has its outcome."""

    def on_deleted(self, seen: SeenKronJob, job: SeenJob, /) -> None:
        """Its Job has to go, because another one takes its place."""


class Surroundings(NamedTuple):
    """What a maker works with."""

    api: Sender
    world: World
    accounts: Accounts
    errands: Errands
    refusals: Refusals
    scribe: Scribe
    may_write: Callable[[], bool]  # asked right before every write
    now: Callable[[], Instant]
    slack: timedelta
    see_again: Callable[[], Awaitable[object]]  # lists everything, and returns within seconds in any case
    fence: Fence


class Making:
    """An execution whose Job is to be, or is."""

    __slots__ = ("_decision", "execution", "is_doubtful", "is_held", "is_replaced", "job", "key", "slack", "tries")

    def __init__(self, execution: Execution, decision: Decision | None, key: Key, slack: timedelta) -> None:
        """`decision` is None for a Job that exists: what its annotations say may be no period of the schedule."""
        self.execution, self._decision, self.slack = execution, decision, slack
        self.key = key  # of the Job
        self.job: SeenJob | None = None
        self.tries = 0
        self.is_held = False  # by something else than the number of those before it
        self.is_replaced = False  # another one takes its place: it is not created any more
        self.is_doubtful = False  # a request was not answered: the Job may be there

    @property
    def decision(self) -> Decision:
        """The decision of the period whose Job is to be created."""
        assert self._decision is not None, "a Job that exists is not created"
        return self._decision

"""SpecChanges: KronJobs whose spec has changed; computes the slow part of their declaration in turns of the loop."""

from collections.abc import Callable, Collection, Iterable, Mapping

from kron.adapters.kubernetes.work_queue import FairQueue
from kron.engine.jobs.planner import PeriodPlanner
from kron.engine.jobs.preparation import PreparedJob, prepare_in_parts
from kron.instant import Instant
from kron.kronjob.snapshot import KronJobSnapshot
from kron.rules.effort import Effort, Ongoing
from kron.rules.job_spec import JobSpec
from kron.rules.periods import HandledPeriods

_TOGETHER = 16  # KronJobs that are declared in one turn of the loop
_TRIES = 3  # for what a beginning period outdates before it is declared; then it is computed while it is declared


class SpecChange:
    """One KronJob that is to be declared again."""

    __slots__ = ("before", "computing", "identity", "prepared", "spec", "tries_left")

    def __init__(self, identity: str, before: KronJobSnapshot | None) -> None:
        self.identity = identity
        self.before = before  # as it was declared, None: it was not there
        self.spec: JobSpec | None = None  # what is computed for; None: it is invalid, or gone
        self.computing: Ongoing[Mapping[str, PreparedJob]] | None = None
        self.prepared: PreparedJob | None = None
        self.tries_left = _TRIES

    def restart(self) -> None:
        """Forget what was computed."""
        self.computing = self.prepared = None

    @property
    def namespace(self) -> str:
        """Return the namespace of the KronJob."""
        return self.identity.partition("/")[0]


class SpecChanges:
    """Namespaces take turns. Within a namespace one change is computed after the other, so that each is done soon.

    A KronJob that is edited while its change waits is computed again behind the others of its namespace. Until its
    change is taken, its old definition is in force.
    """

    def __init__(
        self,
        planner: PeriodPlanner,
        spec_of: Callable[[str], JobSpec | None],
        handled_of: Callable[[Iterable[str]], Mapping[str, Collection[Instant] | HandledPeriods]],
        now: Callable[[], Instant],
    ) -> None:
        """`spec_of` returns the present spec of an identity, `handled_of` the periods that have an outcome."""
        self._planner, self._spec_of, self._handled_of, self._now = planner, spec_of, handled_of, now
        self._waiting: FairQueue[SpecChange] = FairQueue()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, identity: str, before: KronJobSnapshot | None) -> None:
        """Let a changed KronJob wait for its turn; one that waits already keeps its place."""
        change = SpecChange(identity, before)
        if self._waiting.get(change.namespace, identity) is None:
            self._waiting.put(change.namespace, identity, change)

    def take_ready(self) -> list[SpecChange]:
        """Compute for one turn of the loop; return the changes that can be declared now."""
        effort, ready = Effort(), list[SpecChange]()
        while len(ready) < _TOGETHER and not effort.is_spent and (namespace := self._waiting.next()) is not None:
            change = self._waiting.first(namespace)
            is_done = self._advance(change, effort)
            if not is_done and change.computing is not None:
                self._waiting.rotate(namespace)
                continue
            self._waiting.take(namespace)
            if is_done:
                ready.append(change)
            else:
                self._waiting.put(namespace, change.identity, change)
        return ready

    def _advance(self, change: SpecChange, effort: Effort) -> bool:
        """Return whether a change is ready. If it has to be computed again, nothing of it is left."""
        spec = self._spec_of(change.identity)
        if change.computing is None:
            change.spec = spec
            if change.identity not in self._planner.jobs or not change.tries_left:
                return True
            specs, leaving = ([], [change.identity]) if spec is None else ([spec], [])
            handled = self._handled_of([change.identity])
            change.computing = Ongoing(prepare_in_parts(self._planner, specs, self._now(), handled, leaving))
        elif change.spec is not spec:
            change.restart()
            return False
        prepared = change.computing.advance(effort)
        if prepared is None:
            return False
        change.computing, change.prepared = None, prepared.get(change.identity)
        return self._is_valid(change, self._now())

    def _is_valid(self, change: SpecChange, now: Instant) -> bool:
        if change.prepared is None or change.prepared.holds(self._planner, now):
            return True
        change.tries_left -= 1
        change.restart()
        return False

    def still_holds(self, change: SpecChange, now: Instant) -> bool:
        """Return whether a ready change may be declared now; if not, it waits again."""
        if change.spec is self._spec_of(change.identity) and self._is_valid(change, now):
            return True
        change.restart()
        self._waiting.put(change.namespace, change.identity, change)  # also for an edit that waits since
        return False

"""SpecChanges: KronJobs whose spec has changed; computes the slow part of their declaration in turns of the loop."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from kron.adapters.kubernetes.kronjob_record import KronJobRecord
from kron.adapters.kubernetes.work_queue import FairQueue
from kron.engine.jobs.job_state import JobState
from kron.engine.jobs.planner import PeriodPlanner
from kron.engine.jobs.preparation import PreparedJob, prepare_in_parts
from kron.instant import Instant
from kron.kronjob.snapshot import KronJobSnapshot
from kron.rules.effort import PART, Effort, Ongoing
from kron.rules.job_record import JobRecord
from kron.rules.job_spec import JobSpec
from kron.rules.periods import HandledPeriods

_TOGETHER = 16  # KronJobs that are declared in one turn of the loop
_TRIES = 3  # preparations that a period may outdate; after that the declaration computes it, in one turn of the loop


@dataclass(slots=True, eq=False)
class SpecChange:
    """A KronJob whose change the engine has not taken yet."""

    identity: str
    before: KronJobSnapshot | None  # as the cache had it before the first change that waits; None: it was not there
    spec: JobSpec | None = None  # what is prepared; None: the KronJob is invalid, or gone
    preparation: Ongoing[Mapping[str, PreparedJob]] | None = None
    prepared: PreparedJob | None = None
    tries_left: int = _TRIES

    def restart(self) -> None:
        """Forget what was prepared."""
        self.preparation = self.prepared = None

    @property
    def namespace(self) -> str:
        """Return the namespace of the KronJob."""
        return self.identity.partition("/")[0]


class SpecChanges:
    """Queue of changed KronJobs, owned by the LeaderSession. Until a change is taken, the old definition is in force.

    Namespaces take turns. Within a namespace one change is prepared after the other, so that each is done soon. A
    KronJob that is edited while its change waits is prepared again, behind the others of its namespace: if it is edited
    more often than a preparation takes, its changes wait until the edits end.
    """

    def __init__(
        self,
        planner: PeriodPlanner,
        declared: Callable[[str], KronJobSnapshot | None],
        handled: Callable[[Iterable[str]], Mapping[str, Collection[Instant] | HandledPeriods]],
        now: Callable[[], Instant],
    ) -> None:
        """`declared` returns the present KronJob of an identity, or None if it is gone or was created again.

        `handled` returns the periods of identities that have an outcome.
        """
        self._planner, self._declared, self._handled, self._now = planner, declared, handled, now
        self._waiting: FairQueue[SpecChange] = FairQueue()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, identity: str, before: KronJobSnapshot | None) -> None:
        """Let a changed KronJob wait for its turn; one that waits already keeps its place."""
        change = SpecChange(identity, before)
        if not self.is_waiting(change):
            self._waiting.put(change.namespace, identity, change)

    def is_waiting(self, change: SpecChange) -> bool:
        """Whether a change of this KronJob waits, this one or another."""
        return self._waiting.get(change.namespace, change.identity) is not None

    def take_ready(self) -> list[SpecChange]:
        """Return the changes that can be declared now, after preparing for one turn of the loop."""
        effort, ready = Effort(), list[SpecChange]()
        while len(ready) < _TOGETHER and not effort.is_spent and (namespace := self._waiting.next()) is not None:
            change, had_full_turn = self._waiting.first(namespace), effort.left == PART
            try:
                is_ready = self._prepare(change, effort)
            except Exception:  # its declaration meets the error again, and sets this KronJob aside
                change.restart()
                change.tries_left, is_ready = 0, True
            if not is_ready and change.preparation is not None:
                # One that had the rest of another's turn goes first in the next one, and so does one that was outdated.
                if had_full_turn and change.tries_left == _TRIES:
                    self._waiting.rotate(namespace)
                continue
            self._waiting.take(namespace)
            if not is_ready:
                self._waiting.put(namespace, change.identity, change)
                continue
            ready.append(change)
            if not change.tries_left:
                break  # what it costs is part of this turn
        return ready

    def confirm(self, change: SpecChange, now: Instant) -> bool:
        """Return whether a change that was ready may be declared now; if not, it waits again."""
        if self._waiting.get(change.namespace, change.identity) is change:
            return False
        if change.spec is not self._spec(change.identity):
            change.tries_left = _TRIES
        elif self._check(change, now):
            return True
        change.restart()
        self._waiting.put(change.namespace, change.identity, change)  # in place of a later one, whose `before` is later
        return False

    def _spec(self, identity: str) -> JobSpec | None:
        kronjob = self._declared(identity)
        return None if kronjob is None else kronjob.job_spec

    def _prepare(self, change: SpecChange, effort: Effort) -> bool:
        """Return whether a change is ready; if it is not and has no preparation, it begins again."""
        identity, kronjob = change.identity, self._declared(change.identity)
        spec = None if kronjob is None else kronjob.job_spec
        if change.preparation is None:
            change.spec = spec
            if kronjob is None or identity not in self._planner.jobs or not change.tries_left:
                return True
            specs, leaving = ([], [identity]) if spec is None else ([spec], [])
            handled = self._handled([identity])
            change.preparation = Ongoing(prepare_in_parts(self._planner, specs, self._now(), handled, leaving))
        elif change.spec is not spec:
            change.restart()
            change.tries_left = _TRIES
            return False
        prepared = change.preparation.advance(effort)
        if prepared is None:
            return False
        change.preparation, change.prepared = None, prepared.get(identity)
        return self._check(change, self._now())

    def _check(self, change: SpecChange, now: Instant) -> bool:
        """Return whether what was prepared holds; if not, one more try is over."""
        if change.prepared is None or change.prepared.holds(self._planner, now):
            return True
        change.tries_left -= 1
        change.restart()
        return False


class Additions:
    """KronJobs that a declaration adds and drops; nothing is changed in the planner before it is committed."""

    def __init__(self) -> None:
        self.joining: list[JobState] = []
        self.forgotten: list[str] = []
        self.handled: dict[str, HandledPeriods | None] = {}  # of those that are added; None: nothing of it is started

    def add(self, seen: KronJobSnapshot, record: KronJobRecord) -> None:
        """Add a KronJob that the engine does not have."""
        spec = seen.job_spec
        if spec is not None:
            stored = JobRecord(
                spec.identity, spec.identity, spec.definition_key, record.defined_at, record.served_until
            )
            job = JobState(spec, stored, record.handled)
            if seen.resumed_at is not None:
                job.armed = max(job.armed, seen.resumed_at)
            self.joining.append(job)
        self.handled[seen.identity] = None if spec is None else record.handled

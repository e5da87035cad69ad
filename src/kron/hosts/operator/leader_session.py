"""LeaderSession: the engine of a replica that leads, from taking over until the lease is lost."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from functools import partial

from kron.adapters.kubernetes.cache import ClusterCache
from kron.adapters.kubernetes.client import ResourceClient
from kron.adapters.kubernetes.event_recorder import EventRecorder, job_period_text
from kron.adapters.kubernetes.job_cleanup import JobHistoryCleanup
from kron.adapters.kubernetes.job_runner import KubernetesRunner
from kron.adapters.kubernetes.kronjob_record import DeclaredSpec
from kron.adapters.kubernetes.ledger import ClusterLedger
from kron.adapters.kubernetes.namespace_backoff import ErrorBoundary, NamespaceBackoff
from kron.adapters.kubernetes.responses import LoopShare
from kron.adapters.kubernetes.work_queue import WorkQueue
from kron.adapters.prometheus import OperatorMetrics
from kron.engine.active_runs import ActiveRuns
from kron.engine.emitter import Emitter, Observers
from kron.engine.jobs.declaration import JobDeclaration
from kron.engine.jobs.planner import PeriodPlanner
from kron.engine.jobs.preparation import PreparedJob
from kron.engine.ledger import JobBatch, JobSnapshot
from kron.engine.loop import Engine
from kron.engine.ports import Clock
from kron.engine.runs import JobRun
from kron.errors.base import describe_exception
from kron.hosts.operator.job_adoption import JobAdoption
from kron.hosts.operator.log import ERROR, OperatorLog
from kron.hosts.operator.outcome_reporter import OutcomeReporter
from kron.hosts.operator.spec_changes import Additions, SpecChange, SpecChanges
from kron.instant import Instant
from kron.kronjob.kronjob import PLURAL
from kron.kronjob.snapshot import ChildJob, KronJobSnapshot
from kron.kronjob.status import INTERNAL_ERROR, CreateFailure, active_uids
from kron.rules.job_spec import JobSpec
from kron.rules.override import DefinitionChange, compare_definition
from kron.rules.periods import HandledPeriods

_FIRST_TOGETHER = 16  # KronJobs that a new leader declares before the loop has another turn
_PARTING = 5.0  # seconds for writes that are under way when it ends


class LeaderSession:
    """Composition, and what the changes of the cluster mean for the engine."""

    def __init__(
        self,
        api: ResourceClient,
        cache: ClusterCache,
        clock: Clock,
        log: OperatorLog,
        metrics: OperatorMetrics,
        *,
        may_write: Callable[[], bool],
        refresh: Callable[[], Awaitable[object]],
        slack: timedelta,
        workers: int,
        life: str,
    ) -> None:
        """`refresh` lists everything, and returns within seconds in any case; `life` names this process alone."""
        self._cache, self._clock, self._log = cache, clock, log
        now = clock.now
        self.queue = WorkQueue(workers, clock, may_write=may_write, on_bug=self._on_bug)
        self._backoff = NamespaceBackoff(clock.monotonic)
        self._boundary = ErrorBoundary(log.write_set_aside, metrics.on_set_aside, clock.monotonic)
        self._share = LoopShare(clock.monotonic)
        self._events = EventRecorder(api, self.queue, now)
        reporter = OutcomeReporter(cache, self._events, log, metrics, self._boundary, now)
        self._ledger = ClusterLedger(
            api,
            cache,
            self.queue,
            self._share,
            on_outcome=reporter.on_outcome,
            on_conflict=metrics.on_conflict,
            now=now,
            slack=slack,
        )
        self._runner = KubernetesRunner(
            api,
            cache,
            self._ledger,
            self.queue,
            self._backoff,
            self._events,
            self._boundary,
            on_created=reporter.on_created,
            refresh=refresh,
            now=now,
        )
        runs = ActiveRuns[JobRun](clock, self._runner)
        self.planner = PeriodPlanner(runs.running, life, slack=slack)
        self.planner.on_aside = self._on_aside
        self._ledger.follow(self.planner)
        self._adoption = JobAdoption(cache, self._ledger, self.planner, runs, self._runner, self._boundary, clock)
        self._cleanup = JobHistoryCleanup(api, cache, self.queue, self._events, now=now)
        self._engine: Engine[JobBatch, JobSnapshot, JobRun] = Engine(
            clock, self._ledger, self.planner, runs, Emitter(log), Observers([reporter])
        )
        self._changes = SpecChanges(self.planner, self._declared, self._handled, now)
        self._changing: asyncio.Task[None] | None = None

    # --- its life -----------------------------------------------------------------------------------------------------

    async def start(self, armed: Instant) -> None:
        """Declare everything, and begin to start what is due; it could have been since it was armed."""
        cache = self._cache
        await self._engine.open()
        cache.kronjobs.on_change, cache.jobs.on_change = self.on_kronjob_changed, self.on_job_changed
        for number, (namespace, name) in enumerate(list(cache.kronjobs.objects), 1):
            identity = f"{namespace}/{name}"
            with self._around(identity, self._clock.now()):
                await self._adoption.prepare(identity)
                added = Additions()
                for _ in self._open(identity, added):
                    await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
                joining = {job.record.identity: job for job in added.joining}
                self.planner.update(joining, (), self._clock.now())
                self._attach_jobs(added)
            self._ledger.write_status(identity)
            if number % _FIRST_TOGETHER == 0:
                await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
        self._engine.arm(armed)
        self._take_changes()

    async def stop(self) -> None:
        """Start nothing more, and finish the writes that are under way."""
        self._cache.kronjobs.on_change = self._cache.jobs.on_change = None
        if self._changing is not None:
            self._changing.cancel()
            await asyncio.gather(self._changing, return_exceptions=True)
        await self._engine.crash()
        await self.queue.close(_PARTING)

    @property
    def is_alive(self) -> bool:
        """Whether the engine's loop does its work."""
        return self._engine.is_running

    def _on_bug(self, what: object, error: Exception) -> None:
        self._log.write(ERROR, "bug", what=str(what), error=describe_exception(error))

    def _around(self, identity: str, now: Instant) -> AbstractContextManager[None]:
        """Surround work on one KronJob: if that fails, it alone is set aside until its spec is changed."""
        namespace, _, name = identity.partition("/")
        return self._boundary.around(PLURAL, namespace, name, then=partial(self._set_aside, identity, now))

    def _on_aside(self, identity: str, error: Exception) -> None:
        """Report a KronJob that the engine has set aside; the others go on."""
        namespace, _, name = identity.partition("/")
        with self._boundary.around(PLURAL, namespace, name, then=partial(self._show, identity)):
            raise error

    def _show(self, identity: str, error: str) -> None:
        self._ledger.set_create_failure(identity, CreateFailure(INTERNAL_ERROR, error))

    def _set_aside(self, identity: str, now: Instant, error: str) -> None:
        self.planner.update({}, [identity], now)
        self._show(identity, error)

    # --- changes of the cluster ---------------------------------------------------------------------------------------

    def on_kronjob_changed(self, before: KronJobSnapshot | None, after: KronJobSnapshot | None) -> None:
        """Take a change of a KronJob to the engine; several at once go together."""
        seen = after or before
        assert seen is not None, "something is there or was"
        identity = seen.identity
        with self._around(identity, self._clock.now()):
            if before is not None and after is not None:
                if self._ledger.merge_status(after):
                    self._sync_handled(identity)
                    self._ledger.write_status(identity)
                if before.generation == after.generation and before.job_spec is after.job_spec:
                    return  # nothing but the status may have changed
            self._changes.add(identity, before)
            self._take_changes()

    def _take_changes(self) -> None:
        """Declare what has changed, once everything is declared for the first time."""
        if self._engine.is_running and (self._changing is None or self._changing.done()):
            self._changing = asyncio.get_running_loop().create_task(self._change())

    def on_job_changed(self, before: ChildJob | None, after: ChildJob | None) -> None:
        """Take a change of a Job to its run, its record and the clean-up."""
        job = after or before
        assert job is not None, "something is there or was"
        with self._adoption.around(job):
            self._on_job_changed(job, before, after)

    def _on_job_changed(self, job: ChildJob, before: ChildJob | None, after: ChildJob | None) -> None:
        key = job.namespace, job.name
        if after is None or not after.is_active:
            self._backoff.on_change(job.namespace)
        seen = self._cache.kronjob(job.identity)
        if seen is None or not job.identity:
            self._runner.on_job_changed(key, after)
            return
        if after is not None and self._runner.run_of(key) is None:
            self._adopt(seen, after)
        ended = after is not None and after.owner == seen.uid and not after.is_active
        if after is not None and ended and (before is None or before.is_active):
            self._on_job_ended(seen, after)
        self._runner.on_job_changed(key, after)
        if job.owner == seen.uid:
            if not self._runner.is_creating(key):
                self._ledger.write_status(seen.identity)
            if ended:
                self._cleanup.enqueue(seen)

    def _on_job_ended(self, seen: KronJobSnapshot, job: ChildJob) -> None:
        self._ledger.note_success(seen, job)
        how = "succeeded" if job.succeeded else "failed"
        self._events.record(seen, "Normal", "SawCompletedJob", f"Job {job.name} {how}{job_period_text(job)}")

    def _adopt(self, seen: KronJobSnapshot, job: ChildJob) -> None:
        """Take up a Job that another replica has created for us."""
        now = self._clock.now()
        entry = job.outcome(seen.horizon(now))
        if self._ledger.record(seen.identity) is None:
            return
        if entry is not None and self._ledger.record_existing_job(seen.identity, entry):
            self._sync_handled(seen.identity)
        if job.is_active and job.owner == seen.uid:
            self._adoption.reattach(seen, job, now)

    def _attach_jobs(self, added: Additions) -> None:
        """Wait for the active Jobs of new KronJobs, and report which have ended since their statuses were written."""
        now = self._clock.now()
        for identity, handled in added.handled.items():
            if (seen := self._declared(identity)) is None:
                continue
            record = self._ledger.record(identity)
            if record is not None and handled is not None and record.handled is not handled:
                self._sync_handled(identity)  # another replica was quick while the declaration was recorded
            listed = active_uids(seen.status)
            for job in self._cache.owned_jobs(seen):
                with self._adoption.around(job):
                    if job.is_active:
                        self._adoption.reattach(seen, job, now)
                    elif job.uid in listed:
                        self._on_job_ended(seen, job)
            self._cleanup.enqueue(seen)

    def _sync_handled(self, identity: str) -> None:
        """Let the engine know what another client has handled."""
        record = self._ledger.record(identity)
        if record is not None:
            self.planner.mark_handled(identity, record.handled, self._clock.now())

    # --- declaring ----------------------------------------------------------------------------------------------------

    async def _change(self) -> None:
        """Apply what has changed, some KronJobs at a time, until nothing is left."""
        while self._changes:
            ready = list[SpecChange]()
            with self._clock.busy():
                while not ready:
                    async with self._share.part():
                        ready = self._changes.take_ready()
            for change in ready:
                with self._around(change.identity, self._clock.now()):
                    await self._adoption.prepare(change.identity)
            try:
                async with self._share.part():  # it reports each period that an edit has closed
                    await self._declare(ready)
            except Exception:  # what one of them causes does not concern the others
                for change in ready:
                    with self._around(change.identity, self._clock.now()):
                        await self._declare([change])
            for change in ready:
                if not self._changes.is_waiting(change):
                    self._ledger.write_status(change.identity)

    async def _declare(self, changes: Sequence[SpecChange]) -> None:
        """Declare changes together, and attach the Jobs of new KronJobs before the loop has another turn."""
        added = Additions()
        try:
            await self._engine.apply(partial(self._declaration, changes, added))
        except Exception:
            for identity in added.handled:  # it is not declared: the next try opens its record again
                self._ledger.forget(identity)
            raise
        self._attach_jobs(added)

    def _declaration(self, changes: Sequence[SpecChange], added: Additions, now: Instant) -> JobDeclaration:
        specs, leaving, prepared = list[JobSpec](), list[str](), dict[str, PreparedJob]()
        for change in changes:
            with self._around(change.identity, now):
                if self._changes.confirm(change, now):
                    self._apply_change(change.identity, change.before, specs, leaving, added, now)
                    if change.prepared is not None:
                        prepared[change.identity] = change.prepared
        handled = self._handled([*leaving, *(spec.identity for spec in specs)])
        return JobDeclaration(
            self.planner,
            specs,
            now,
            handled,
            prepared,
            leaving=leaving,
            joining=added.joining,
            forgotten=added.forgotten,
        )

    def _handled(self, identities: Iterable[str]) -> dict[str, HandledPeriods]:
        """Return the periods that have an outcome, or a Job that is being created: a definition must not own them."""
        found = dict[str, HandledPeriods]()
        for identity in identities:
            record, job = self._ledger.record(identity), self.planner.jobs.get(identity)
            if record is not None:
                handled, active = record.handled, () if job is None else job.active.values()
                starting = {each.attempt.nominal for each in active if each.attempt.nominal is not None}
                new = tuple((nominal, nominal) for nominal in starting if not handled.has(nominal))
                found[identity] = HandledPeriods((*handled.spans, *new), handled.long) if new else handled
        return found

    def _declared(self, identity: str) -> KronJobSnapshot | None:
        """Return a KronJob as it is now, None if it is gone, or is another one than was declared."""
        seen, record = self._cache.kronjob(identity), self._ledger.record(identity)
        return seen if seen is not None and record is not None and record.uid == seen.uid else None

    def _apply_change(
        self,
        identity: str,
        before: KronJobSnapshot | None,
        specs: list[JobSpec],
        leaving: list[str],
        added: Additions,
        now: Instant,
    ) -> None:
        """Add or drop a KronJob, or note that it is declared with another spec or leaves."""
        seen, record = self._cache.kronjob(identity), self._ledger.record(identity)
        if seen is None or (record is not None and record.uid != seen.uid):
            self._ledger.forget(identity)
            added.forgotten.append(identity)
            record = None
        if seen is None:
            return
        if record is None:
            for _ in self._open(identity, added):
                """At once: what is declared together is declared in one turn."""
            return
        record.declared = DeclaredSpec.of(seen)
        if self._ledger.set_definition(seen, now):
            self._events.record(seen, "Normal", "DefinitionChanged", f"generation {seen.generation} is in force")
        self._record_spec_events(before, seen)
        self._cleanup.enqueue(seen)
        if seen.job_spec is None:
            leaving.append(identity)
        elif identity in self.planner.jobs:
            specs.append(seen.job_spec)
        else:  # it was wrong until now: what came meanwhile is not made up for
            record.defined_at = record.served_until = now
            added.add(seen, record)

    def _open(self, identity: str, added: Additions) -> Iterator[None]:
        """Open the record of a KronJob that is new to this session, in parts, and add it."""
        seen = self._cache.kronjob(identity)
        if seen is None or self._ledger.record(identity) is not None:
            return  # it is gone, or has changed since
        record = yield from self._ledger.open_record(seen)
        if (seen := self._cache.kronjob(identity)) is None or self._ledger.record(identity) is not None:
            return
        change = compare_definition(record.definition_hash, seen.definition_hash)
        if seen.uid != record.uid or change is not DefinitionChange.SAME:
            return  # its change waits, and opens another record
        record.declared = DeclaredSpec.of(seen)
        self._ledger.keep(identity, record)
        self._record_spec_events(None, seen)
        added.add(seen, record)

    def _record_spec_events(self, before: KronJobSnapshot | None, seen: KronJobSnapshot) -> None:
        is_new = before is None or before.errors != seen.errors
        if seen.errors and is_new and seen.stored_errors != seen.errors:
            self._events.record(seen, "Warning", "InvalidSpec", seen.errors)
        if before is None or before.errors or seen.errors:
            return  # what is wrong is neither
        if before.is_suspended != seen.is_suspended:
            word = "Suspended" if seen.is_suspended else "Resumed"
            self._events.record(seen, "Normal", word, f"generation {seen.generation}")

"""LeaderSession: the engine of a replica that leads, from taking over until the lease is lost."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from functools import partial
from typing import NamedTuple, Protocol

from kron.adapters.kubernetes.client import ResourceClient
from kron.adapters.kubernetes.namespace_backoff import NamespaceBackoff
from kron.adapters.kubernetes.resources import JOBS
from kron.adapters.kubernetes.responses import LoopShare
from kron.adapters.kubernetes.work_queue import WorkQueue
from kron.engine.active_runs import ActiveRuns
from kron.engine.emitter import Emitter, Observers
from kron.engine.jobs.declaration import JobDeclaration
from kron.engine.jobs.job_state import JobState
from kron.engine.jobs.planner import PeriodPlanner
from kron.engine.jobs.preparation import PreparedJob
from kron.engine.jobs.store import JobBatch, JobSnapshot
from kron.engine.loop import Engine
from kron.engine.ports import Clock
from kron.engine.runs import JobRun
from kron.errors.base import describe_exception
from kron.hosts.operator.accounts import Account, Accounts, DeclaredSpec, entry_of, horizon_of
from kron.hosts.operator.error_boundary import ErrorBoundary, SetAsideCounter
from kron.hosts.operator.log import ERROR, OperatorLog
from kron.hosts.operator.maker import Adoption, Maker
from kron.hosts.operator.making import Surroundings
from kron.hosts.operator.picture import Picture
from kron.hosts.operator.spec_changes import SpecChange, SpecChanges
from kron.hosts.operator.teller import NORMAL, WARN, Counting, Teller, Ways, period_text
from kron.hosts.operator.tidying import Tidying
from kron.hosts.operator.world import World
from kron.hosts.operator.writer import Desk, Writer
from kron.instant import Instant
from kron.kronjob.kronjob import PLURAL
from kron.kronjob.snapshot import ChildJob, KronJobSnapshot, is_suspended, stored_errors
from kron.kronjob.status import INTERNAL_ERROR, CreateFailure, active_uids
from kron.rules.job_record import JobRecord
from kron.rules.job_spec import JobSpec
from kron.rules.override import DefinitionChange, compare_definition
from kron.rules.periods import HandledPeriods

_FIRST_TOGETHER = 16  # KronJobs that a new leader declares before the loop has another turn
_PARTING = 5.0  # seconds for writes that are under way when it ends


class Numbers(Counting, SetAsideCounter, Protocol):
    """Who counts."""

    def on_conflict(self) -> None:
        """A status was written by somebody else meanwhile."""


class Realm(NamedTuple):
    """What a reign is given."""

    api: ResourceClient
    world: World
    clock: Clock
    log: OperatorLog
    numbers: Numbers
    may_write: Callable[[], bool]
    slack: timedelta
    workers: int
    life: str  # tells this process from any other
    see_again: Callable[[], Awaitable[object]]  # lists everything, and returns within seconds in any case


class LeaderSession:
    """Composition, and what the changes of the cluster mean for the engine."""

    def __init__(self, realm: Realm) -> None:
        self._realm = realm
        now = realm.clock.now
        self.errands = WorkQueue(realm.workers, realm.clock, self._on_bug)
        self._refusals = NamespaceBackoff(realm.clock.monotonic)
        self._fence = ErrorBoundary(realm.log, realm.numbers, realm.clock.monotonic)
        ways = Ways(realm.api, self.errands, realm.log, realm.numbers, realm.world, realm.may_write, now, self._fence)
        self._teller = Teller(ways)
        self._accounts = Accounts(realm.world, now, lambda identity: self._writer.mark(identity))
        self._maker = Maker(
            Surroundings(
                realm.api,
                realm.world,
                self._accounts,
                self.errands,
                self._refusals,
                self._teller,
                realm.may_write,
                now,
                realm.see_again,
                self._fence,
            )
        )
        runs = ActiveRuns[JobRun](realm.clock, self._maker)
        self.book = PeriodPlanner(runs.running, realm.life, slack=realm.slack)
        self._adoption = Adoption(realm.world, self.book, runs, self._maker, realm.clock, self._fenced_job)
        self._share = LoopShare(realm.clock.monotonic)
        self._picture = Picture(realm.world, self.book, self._share)
        desk = Desk(
            realm.api,
            realm.world,
            self._accounts,
            self.errands,
            self._picture.look_ahead,
            self._picture.standing,
            realm.may_write,
            realm.numbers.on_conflict,
            now,
            realm.slack,
        )
        self._writer = Writer(desk)
        self._tidying = Tidying(realm.api, realm.world, self.errands, self._teller, may_write=realm.may_write, now=now)
        self._engine: Engine[JobBatch, JobSnapshot, JobRun] = Engine(
            realm.clock, self._accounts, self.book, runs, Emitter(realm.log), Observers([self._teller])
        )
        self.book.on_aside = self._on_aside
        self._changes = SpecChanges(self.book, self._declared, self._handled, now)
        self._changing: asyncio.Task[None] | None = None

    # --- its life -----------------------------------------------------------------------------------------------------

    async def start(self, armed: Instant) -> None:
        """Declare everything, and begin to start what is due; it could have been since it was armed."""
        world = self._realm.world
        await self._engine.open()
        world.onlooker = self
        for number, (namespace, name) in enumerate(list(world.kronjobs), 1):
            identity = f"{namespace}/{name}"
            with self._fenced(identity, self._realm.clock.now()):
                await self._adoption.meet(identity)
                for _ in self._add(identity):
                    await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
            self._writer.mark(identity)
            if number % _FIRST_TOGETHER == 0:
                await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
        self._engine.arm(armed)
        self._take_changes()

    async def stop(self) -> None:
        """Start nothing any more, and finish the writes that are under way."""
        self._realm.world.onlooker = None
        if self._changing is not None:
            self._changing.cancel()
            await asyncio.gather(self._changing, return_exceptions=True)
        await self._engine.crash()
        await self.errands.close(_PARTING)

    @property
    def is_alive(self) -> bool:
        """Whether the engine's loop does its work."""
        return self._engine.is_running

    def _on_bug(self, what: object, error: Exception) -> None:
        self._realm.log.write(ERROR, "bug", what=str(what), error=describe_exception(error))

    def _fenced(self, identity: str, now: Instant) -> AbstractContextManager[None]:
        """Surround work on one KronJob: if that fails, it alone is set aside until its spec is changed."""
        namespace, _, name = identity.partition("/")
        return self._fence.around(PLURAL, namespace, name, then=partial(self._set_aside, identity, now))

    def _on_aside(self, identity: str, error: Exception) -> None:
        """Report a KronJob that the engine has set aside; the others go on."""
        namespace, _, name = identity.partition("/")
        with self._fence.around(PLURAL, namespace, name, then=partial(self._show, identity)):
            raise error

    def _show(self, identity: str, error: str) -> None:
        self._accounts.trouble(identity, CreateFailure(INTERNAL_ERROR, error))

    def _set_aside(self, identity: str, now: Instant, error: str) -> None:
        self.book.update({}, [identity], now)
        self._show(identity, error)

    # --- what the world tells -----------------------------------------------------------------------------------------

    def on_kronjob(self, before: KronJobSnapshot | None, after: KronJobSnapshot | None) -> None:
        """Take a change of a KronJob to the engine; several at once go together."""
        seen = after or before
        assert seen is not None, "something is there or was"
        with self._fenced(seen.identity, self._realm.clock.now()):
            self._on_kronjob(seen.identity, before, after)

    def _on_kronjob(self, identity: str, before: KronJobSnapshot | None, after: KronJobSnapshot | None) -> None:
        if before is not None and after is not None and before.uid == after.uid:
            if self._accounts.learn(after):
                self._note_handled(after.identity)
                self._writer.mark(after.identity)
            if before.generation == after.generation and before.job_spec is after.job_spec:
                return  # nothing but the status may have changed
        self._changes.add(identity, before)
        self._take_changes()

    def _take_changes(self) -> None:
        """Declare what has changed, once everything is declared for the first time."""
        if self._engine.is_running and (self._changing is None or self._changing.done()):
            self._changing = asyncio.get_running_loop().create_task(self._change())

    def on_job(self, before: ChildJob | None, after: ChildJob | None) -> None:
        """Take a change of a Job to whoever waits for it."""
        job = after or before
        assert job is not None, "something is there or was"
        with self._fenced_job(job):
            self._on_job(job, before, after)

    def _fenced_job(self, job: ChildJob) -> AbstractContextManager[None]:
        """Surround work on one Job: if that fails, it alone is set aside, and its KronJob says so."""

        def show(error: str) -> None:
            self._show(job.identity, f"Job {job.name}: {error}")

        return self._fence.around(JOBS.plural, job.namespace, job.name, then=show)

    def _on_job(self, job: ChildJob, before: ChildJob | None, after: ChildJob | None) -> None:
        key = job.namespace, job.name
        if after is None or not after.is_active:
            self._refusals.on_change(job.namespace)
        seen = self._seen(job.identity)
        if seen is None or not job.identity:
            self._maker.on_job(key, after)
            return
        if after is not None and self._maker.execution(key) is None:
            self._find(seen, after)
        ended = after is not None and after.owner == seen.uid and not after.is_active
        if after is not None and ended and (before is None or before.is_active):
            self._on_ended(seen, after)
        self._maker.on_job(key, after)
        if job.owner == seen.uid:
            if not self._maker.is_creating(key):
                self._writer.mark(seen.identity)
            if ended:
                self._tidying.tidy(seen)

    def _on_ended(self, seen: KronJobSnapshot, job: ChildJob) -> None:
        self._accounts.on_success(seen, job)
        how = "succeeded" if job.succeeded else "failed"
        self._teller.event(seen, NORMAL, "SawCompletedJob", f"Job {job.name} {how}{period_text(job)}")

    def _find(self, seen: KronJobSnapshot, job: ChildJob) -> None:
        """Take up a Job that somebody else has created for us."""
        now = self._realm.clock.now()
        entry = entry_of(job, horizon_of(seen, now))
        if self._accounts.of(seen.identity) is None:
            return
        if entry is not None and self._accounts.find(seen.identity, entry):
            self._note_handled(seen.identity)
        if job.is_active and job.owner == seen.uid:
            self._adoption.go_on(seen, job, now)

    # --- declaring ----------------------------------------------------------------------------------------------------

    async def _change(self) -> None:
        """Tell the engine what has changed, some KronJobs at a time, until nothing has."""
        while self._changes:
            ready = list[SpecChange]()
            with self._realm.clock.busy():
                while not ready:
                    async with self._share.part():
                        ready = self._changes.take_ready()
            for change in ready:
                with self._fenced(change.identity, self._realm.clock.now()):
                    await self._adoption.meet(change.identity)
            try:
                async with self._share.part():  # it reports each period that an edit has closed
                    await self._engine.apply(partial(self._declaration, ready))
            except Exception:  # what one of them causes does not concern the others
                for change in ready:
                    with self._fenced(change.identity, self._realm.clock.now()):
                        await self._engine.apply(partial(self._declaration, [change]))
            for change in ready:
                if not self._changes.is_waiting(change):
                    self._writer.mark(change.identity)

    def _declaration(self, changes: Sequence[SpecChange], now: Instant) -> JobDeclaration:
        works, leaving, prepared = list[JobSpec](), list[str](), dict[str, PreparedJob]()
        for change in changes:
            with self._fenced(change.identity, now):
                if self._changes.confirm(change, now):
                    self._take_change(change.identity, change.before, works, leaving, now)
                    if change.prepared is not None:
                        prepared[change.identity] = change.prepared
        handled = self._handled([*leaving, *(work.identity for work in works)])
        return JobDeclaration(self.book, works, now, handled, prepared, leaving=leaving)

    def _handled(self, identities: Iterable[str]) -> dict[str, HandledPeriods]:
        """Return the periods that have an outcome, or a Job that is being created: a definition must not own them."""
        found = dict[str, HandledPeriods]()
        for identity in identities:
            account, job = self._accounts.of(identity), self.book.jobs.get(identity)
            if account is not None:
                handled, active = account.handled, () if job is None else job.active.values()
                starting = {each.attempt.nominal for each in active if each.attempt.nominal is not None}
                new = tuple((nominal, nominal) for nominal in starting if not handled.has(nominal))
                found[identity] = HandledPeriods((*handled.spans, *new), handled.long) if new else handled
        return found

    def _seen(self, identity: str) -> KronJobSnapshot | None:
        namespace, _, name = identity.partition("/")
        return self._realm.world.kronjobs.get((namespace, name))

    def _declared(self, identity: str) -> KronJobSnapshot | None:
        """Return a KronJob as it is now, None if it is gone, or is another one than was declared."""
        seen, account = self._seen(identity), self._accounts.of(identity)
        return seen if seen is not None and account is not None and account.uid == seen.uid else None

    def _take_change(
        self, identity: str, before: KronJobSnapshot | None, works: list[JobSpec], leaving: list[str], now: Instant
    ) -> None:
        """Add or drop a KronJob, or note that it is declared with another work or leaves."""
        seen, account = self._seen(identity), self._accounts.of(identity)
        if seen is None or (account is not None and account.uid != seen.uid):
            self._accounts.drop(identity)
            self.book.update({}, [identity], now)
            account = None
        if seen is None:
            return
        if account is None:
            for _ in self._add(identity):
                """At once: what is declared together is declared in one turn."""
            return
        account.declared = DeclaredSpec.of(seen)
        if self._accounts.redefine(seen, now):
            self._teller.event(seen, NORMAL, "DefinitionChanged", f"generation {seen.generation} is in force")
        self._tell_changes(before, seen)
        self._tidying.tidy(seen)
        if seen.job_spec is None:
            leaving.append(identity)
        elif identity in self.book.jobs:
            works.append(seen.job_spec)
        else:  # it was wrong until now: what came meanwhile is not made up for
            account.defined_at = account.served = now
            self.book.update({identity: self._job(seen, account)}, (), now)
            self._take_up(seen, now)

    def _add(self, identity: str) -> Iterator[None]:
        """Open the account of a KronJob that is new to this reign in parts, declare it, and take up its Jobs."""
        seen = self._seen(identity)
        if seen is None or self._accounts.of(identity) is not None:
            return  # it is gone, or has changed since
        account = yield from self._accounts.open_account(seen)
        if (seen := self._seen(identity)) is None or self._accounts.of(identity) is not None:
            return
        change = compare_definition(account.definition_hash, seen.definition_hash)
        if seen.uid != account.uid or change is not DefinitionChange.SAME:
            return  # its change waits, and opens another account
        now = self._realm.clock.now()
        account.declared = DeclaredSpec.of(seen)
        self._accounts.put(identity, account)
        self._tell_changes(None, seen)
        self.book.update({} if seen.job_spec is None else {identity: self._job(seen, account)}, (), now)
        self._take_up(seen, now)

    def _job(self, seen: KronJobSnapshot, account: Account) -> JobState:
        assert seen.job_spec is not None, "it is valid"
        record = JobRecord(
            seen.identity, seen.identity, seen.job_spec.definition_key, account.defined_at, account.served
        )
        job = JobState(seen.job_spec, record, account.handled)
        if seen.resumed_at is not None:
            job.armed = max(job.armed, seen.resumed_at)
        return job

    def _tell_changes(self, before: KronJobSnapshot | None, seen: KronJobSnapshot) -> None:
        is_new = before is None or before.errors != seen.errors
        if seen.errors and is_new and stored_errors(seen) != seen.errors:
            self._teller.event(seen, WARN, "InvalidSpec", seen.errors)
        if before is None or before.errors or seen.errors:
            return  # what is wrong is neither
        if is_suspended(before) != is_suspended(seen):
            word = "Suspended" if is_suspended(seen) else "Resumed"
            self._teller.event(seen, NORMAL, word, f"generation {seen.generation}")

    def _take_up(self, seen: KronJobSnapshot, now: Instant) -> None:
        """Wait for the Jobs of a KronJob that run, and tell which have ended since its status was written."""
        listed = active_uids(seen.status)
        for job in self._realm.world.jobs_of(seen):
            with self._fenced_job(job):
                if job.is_active:
                    self._adoption.go_on(seen, job, now)
                elif job.uid in listed:
                    self._on_ended(seen, job)
        self._tidying.tidy(seen)

    def _note_handled(self, identity: str) -> None:
        """Let the engine know what somebody else has handled."""
        job, account = self.book.jobs.get(identity), self._accounts.of(identity)
        if job is not None and account is not None:
            job.handled = account.handled
            job.seek(job.reached)
            self.book.reschedule(job, self._realm.clock.now())

"""KubernetesRunner: the engine's runner: a run is a Job, and creating it is the lock and the record."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import timedelta
from functools import partial
from typing import cast

from kron.adapters.kubernetes.cache import ClusterCache, Key
from kron.adapters.kubernetes.client import JOBS, ResourceClient
from kron.adapters.kubernetes.event_recorder import EventRecorder, period_text
from kron.adapters.kubernetes.kronjob_record import KronJobRecord
from kron.adapters.kubernetes.ledger import ClusterLedger
from kron.adapters.kubernetes.namespace_backoff import ErrorBoundary, NamespaceBackoff
from kron.adapters.kubernetes.responses import ErrorClass, classify, is_already_deleted, retry_delay
from kron.adapters.kubernetes.work_queue import Priority, WorkQueue
from kron.decision.decision import Decision
from kron.engine.ports import RunListener
from kron.engine.runs import JobRun, RunResult
from kron.errors import ApiError, ApiRefusedError
from kron.instant import Instant
from kron.kronjob.kronjob import PLURAL, KronJob, build_job, job_name
from kron.kronjob.snapshot import ChildJob, KronJobSnapshot, ListedPeriods, parse_job
from kron.kronjob.status import (
    DEADLINE_EXCEEDED,
    DEFINITION_CHANGED,
    INTERNAL_ERROR,
    NAME_TAKEN,
    REJECTED,
    SUPERSEDED,
    CreateFailure,
)
from kron.rules.verdict import Outcome

FAILED_CREATE = "FailedCreate"
_UNCERTAIN = 500  # the answers from here on do not say whether it was done
_SOON, _WHILE_SUSPENDED = 0.1, 1.0  # seconds


class PendingJob:
    """A run whose Job is to be created, or is there."""

    __slots__ = ("attempts", "is_replaced", "job", "key", "may_exist", "run", "start_before", "was_blocked")

    def __init__(self, run: JobRun, key: Key, job: ChildJob | None = None) -> None:
        """`key` is that of the Job."""
        self.run, self.key, self.job = run, key, job
        self.start_before = None if run.acceptance is None else run.acceptance.start_before
        self.attempts = 0
        self.was_blocked = False  # by something else than the number of those before it
        self.is_replaced = False  # another one takes its place: it is not created any longer
        self.may_exist = False  # a request was not answered: the Job may be there

    def lose_slack(self) -> None:
        """Hold it to the limit of a period whose job was suspended in between."""
        if self.run.acceptance is not None:
            self.start_before = self.run.acceptance.resume_before

    @property
    def decision(self) -> Decision:
        """The decision of the period whose Job is to be created."""
        assert self.run.decision is not None, "a Job that exists is not created"
        return self.run.decision


class KubernetesRunner:
    """Creates Jobs, deletes those that are replaced, and tells the engine when they are over.

    Of the port it lacks three clauses, which the cluster keeps. Handles: a Job has the name of its period, so there is
    nothing to report. Survival: a Job outlives the operator, but `reattach` does not look for it: Jobs are seen in the
    cluster, and `adopt` takes each up. Force: a Job is deleted, and the kubelet ends its pods.
    """

    def __init__(
        self,
        api: ResourceClient,
        cache: ClusterCache,
        ledger: ClusterLedger,
        queue: WorkQueue,
        backoff: NamespaceBackoff,
        events: EventRecorder,
        boundary: ErrorBoundary,
        *,
        on_created: Callable[[Decision], object],
        refresh: Callable[[], Awaitable[object]],
        now: Callable[[], Instant],
    ) -> None:
        """`on_created` hears that the Job of a decision is there.

        `refresh` lists everything, and returns within seconds in any case.
        """
        self._api, self._cache, self._ledger, self._queue = api, cache, ledger, queue
        self._backoff, self._events, self._boundary = backoff, events, boundary
        self._on_created_job, self._refresh, self._now = on_created, refresh, now
        self._listener: RunListener[JobRun] | None = None
        self._pending: dict[Key, PendingJob] = {}  # by the key of the Job
        self._runs: dict[str, PendingJob] = {}  # the same, by the id of the run

    # --- the engine's runner ------------------------------------------------------------------------------------------

    def start(self, runs: Sequence[JobRun], listener: RunListener[JobRun]) -> None:
        """Let the Jobs be created, as soon as there is a worker."""
        self._listener = listener
        for run in runs:
            namespace, _, name = run.attempt.identity.partition("/")
            with self._boundary.around(PLURAL, namespace, name, then=partial(self._set_aside, run)):
                self._start(run)

    def _start(self, run: JobRun) -> None:
        assert run.decision is not None, "a Job belongs to a period"
        kronjob = _kronjob(run)
        key = kronjob.namespace, job_name(kronjob.identity, run.decision.nominal_time)
        pending = PendingJob(run, key)
        if key in self._pending:  # another replica was quicker while it was recorded
            self._report_end(run, RunResult())
            return
        self._pending[key] = self._runs[run.run_id] = pending
        self._queue.add(Priority.START, key[0], key, partial(self._create, pending))

    def _set_aside(self, run: JobRun, error: str) -> None:
        """Let a run end whose Job cannot even be described."""
        self._ledger.set_create_failure(run.attempt.identity, CreateFailure(INTERNAL_ERROR, error))
        self._report_end(run, RunResult(not_started=INTERNAL_ERROR))

    def adopt(self, run: JobRun, job: ChildJob, listener: RunListener[JobRun]) -> None:
        """Take up a Job that is there."""
        self._listener = listener
        pending = PendingJob(run, (job.namespace, job.name), job)
        self._pending[pending.key] = self._runs[run.run_id] = pending

    def run_of(self, key: Key) -> JobRun | None:
        """Return the run that a Job is, None if it is none of its own."""
        pending = self._pending.get(key)
        return None if pending is None else pending.run

    def is_creating(self, key: Key) -> bool:
        """Whether the answer to a Job's creation is still to come: with it, all that is to be noted is noted."""
        pending = self._pending.get(key)
        return pending is not None and pending.job is None

    def stop(self, run: JobRun) -> None:
        """Delete a Job to make room for another; one that is not there yet is not created."""
        pending = self._runs.get(run.run_id)
        if pending is None:
            return
        namespace, key = pending.key[0], pending.key
        if pending.job is None and not pending.may_exist and self._queue.cancel(Priority.START, namespace, key):
            self._close(pending, Outcome.SKIPPED, SUPERSEDED)
        else:
            pending.is_replaced = True
            self._queue.add(Priority.START, namespace, ("delete", key), partial(self._delete, pending))

    async def reattach(self, _: Sequence[JobRun], __: RunListener[JobRun]) -> Collection[str]:
        """Return nothing: which Jobs are there is seen in the cluster, and they are adopted as they are found."""
        return ()

    async def catch_up(self, *, stood_still: bool) -> None:
        """See which Jobs have ended, if their watch may be behind."""
        if stood_still:
            await self._refresh()

    def detach(self) -> None:
        """Let go of everything."""
        self._listener = None
        self._pending.clear()
        self._runs.clear()

    def on_job_changed(self, key: Key, job: ChildJob | None) -> None:
        """Take note of a Job as it is now, None: it is gone."""
        pending = self._pending.get(key)
        if pending is None or pending.job is None:
            return
        if job is None or job.uid != pending.job.uid:  # another one of its name comes after its end
            self._finish(pending, RunResult())
        elif job.succeeded is not None:
            self._finish(pending, RunResult(exit_code=0 if job.succeeded else 1))
        else:
            pending.job = job

    # --- creating -----------------------------------------------------------------------------------------------------

    def _current(self, pending: PendingJob) -> KronJobSnapshot | None:
        """Return the KronJob as it is now, None if it is gone, or another one of the same name."""
        seen = self._cache.kronjob(pending.run.attempt.identity)
        return seen if seen is not None and seen.uid == _kronjob(pending.run).uid else None

    async def _create(self, pending: PendingJob) -> float | None:
        seen, record = self._current(pending), self._ledger.record(pending.run.attempt.identity)
        if seen is None or record is None or record.handled.has(pending.decision.nominal_time):
            self._finish(pending, RunResult())  # it is not wanted any longer, or another replica was quicker
            return None
        if seen.kronjob is None or seen.job_spec is None:
            return await self._close_without_job(pending, seen, Outcome.SKIPPED, DEFINITION_CHANGED)
        if seen.is_suspended:
            pending.was_blocked = True
            pending.lose_slack()
            return _WHILE_SUSPENDED  # when that is lifted, its deadline decides
        if pending.is_replaced:
            return await self._close_without_job(pending, seen, Outcome.SKIPPED, SUPERSEDED)
        if self._is_late(pending, self._now()):
            return await self._close_without_job(pending, seen, Outcome.MISSED, DEADLINE_EXCEEDED)
        if record.must_be_written:
            pending.was_blocked = pending.was_blocked or record.is_refused
            return _SOON  # first of all it is written what was found, and what this Job supersedes
        if seconds := self._backoff.wait(seen.identity):
            return self._rest(pending, seen, record, seconds)
        try:
            # A crash here, before the answer: the Job is there or is not; the next leader finds out.
            answer = await self._api.request(
                "create", JOBS, seen.namespace, body=build_job(seen.kronjob, pending.decision)
            )
        except Exception as error:  # also a bug: otherwise the others of the namespace would wait for this answer
            self._backoff.on_answer(seen.identity, error)
            if not isinstance(error, ApiError):
                raise
            return await self._on_refusal(pending, seen, error)
        self._backoff.on_answer(seen.identity, None)
        self._on_created(pending, seen, parse_job(answer))
        return None

    def _rest(self, pending: PendingJob, seen: KronJobSnapshot, record: KronJobRecord, seconds: float) -> float:
        """Wait while the KronJob or its namespace rests, and report that once, as for the one that was refused."""
        pending.was_blocked = True
        if record.create_failure is None:
            self._fail(pending, seen, CreateFailure(FAILED_CREATE, self._backoff.reason(seen.identity)))
        return seconds

    async def _on_refusal(self, pending: PendingJob, seen: KronJobSnapshot, error: ApiError) -> float | None:
        match classify(error):
            case ErrorClass.ALREADY_EXISTS:
                return await self._adopt_existing(pending, seen)
            case ErrorClass.NAMESPACE_TERMINATING:
                self._finish(pending, RunResult())
                return None
            case ErrorClass.REJECTED:
                message = f"spec.jobTemplate: the server refuses its Job: {error.message}"
                self._fail(pending, seen, CreateFailure(REJECTED, message))
                return await self._close_without_job(pending, seen, Outcome.MISSED, REJECTED)
        return self._retry(pending, seen, error)

    async def _adopt_existing(self, pending: PendingJob, seen: KronJobSnapshot) -> float | None:
        """Look at the Job that is there: it is ours if it says so."""
        namespace, name = pending.key
        try:
            found = parse_job(await self._api.request("get", JOBS, namespace, name))
        except ApiError as error:
            return self._retry(pending, seen, error)
        if _is_of(pending, found):
            self._on_created(pending, seen, found)
            return None
        message = f"a Job {namespace}/{name} that is not of this period is there already"
        self._fail(pending, seen, CreateFailure(NAME_TAKEN, message))
        self._close(pending, Outcome.MISSED, NAME_TAKEN, message)
        return None

    def _retry(self, pending: PendingJob, seen: KronJobSnapshot, error: ApiError) -> float | None:
        """Try again later, unless its time is over."""
        seconds = retry_delay(error, pending.attempts)
        pending.attempts += 1
        pending.was_blocked = True
        pending.may_exist = pending.may_exist or not isinstance(error, ApiRefusedError) or error.code >= _UNCERTAIN
        self._fail(pending, seen, CreateFailure(FAILED_CREATE, error.message))
        if not pending.may_exist and self._is_late(pending, self._now() + timedelta(seconds=seconds)):
            self._close(pending, Outcome.MISSED, DEADLINE_EXCEEDED, error.message)
            return None
        return seconds

    def _is_late(self, pending: PendingJob, at: Instant) -> bool:
        """Whether its limit has passed at an instant.

        That there are many before it, or that another Job has to go first, makes it late and is no reason to miss it.
        """
        pending.was_blocked = pending.was_blocked or self._queue.was_blocked_since(pending.run.started_monotonic)
        return pending.was_blocked and pending.start_before is not None and at >= pending.start_before

    async def _close_without_job(
        self, pending: PendingJob, seen: KronJobSnapshot, outcome: Outcome, reason: str
    ) -> float | None:
        """Close a period without a Job, unless that turns out to be there."""
        if pending.may_exist:
            try:
                found = parse_job(await self._api.request("get", JOBS, *pending.key))
            except ApiError as error:
                if classify(error) is not ErrorClass.NOT_FOUND:
                    pending.attempts += 1
                    return retry_delay(error, pending.attempts)
            else:
                if _is_of(pending, found):
                    self._on_created(pending, seen, found)
                    return None
        record = self._ledger.record(seen.identity)
        message = "" if record is None or record.create_failure is None else record.create_failure.message
        self._close(pending, outcome, reason, message)
        return None

    def _on_created(self, pending: PendingJob, seen: KronJobSnapshot, job: ChildJob) -> None:
        pending.job = job
        self._ledger.set_create_failure(seen.identity, None)
        self._on_created_job(pending.decision)
        self._ledger.record_outcome(seen, pending.decision, Outcome.EXECUTED, job=job.name)
        self._cache.jobs.put(job)
        if job.owner != seen.uid:
            self._finish(pending, RunResult())  # it is the run of its period, but nothing has to wait for it
        else:
            self.on_job_changed(pending.key, self._cache.jobs.objects.get(pending.key))  # which may know more already

    def _fail(self, pending: PendingJob, seen: KronJobSnapshot, failure: CreateFailure) -> None:
        self._ledger.set_create_failure(seen.identity, failure)
        reason = NAME_TAKEN if failure.reason == NAME_TAKEN else FAILED_CREATE
        self._events.record(seen, "Warning", reason, f"{period_text(pending.decision)}: {failure.message}")

    def _close(self, pending: PendingJob, outcome: Outcome, reason: str, message: str = "") -> None:
        """Close a period that was to be executed."""
        seen = self._current(pending)
        if seen is not None:
            job = "" if pending.job is None else pending.job.name
            self._ledger.record_outcome(seen, pending.decision, outcome, reason, job=job, message=message)
        self._finish(pending, RunResult(not_started=reason))

    # --- deleting -----------------------------------------------------------------------------------------------------

    async def _delete(self, pending: PendingJob) -> float | None:
        """Ask for the end of a Job; it lasts until it is seen to be gone."""
        if self._pending.get(pending.key) is not pending:
            return None
        seen, job = self._current(pending), pending.job
        if job is None or (seen is not None and not ListedPeriods(seen, self._now()).has(job)):
            return _SOON  # it is being created, or its period is not listed yet
        namespace, name = pending.key
        body = {"propagationPolicy": "Foreground", "preconditions": {"uid": job.uid}}
        try:
            await self._api.request("delete", JOBS, namespace, name, body=body)
        except ApiError as error:
            if is_already_deleted(error):
                self._finish(pending, RunResult())
                return None
            pending.attempts += 1
            return retry_delay(error, pending.attempts)
        if seen is not None:
            self._events.record_deletion(seen, job)
        return None

    def _finish(self, pending: PendingJob, result: RunResult) -> None:
        if self._pending.get(pending.key) is not pending:  # an answer came after the watch: its end is reported
            return
        del self._pending[pending.key], self._runs[pending.run.run_id]
        self._report_end(pending.run, result)

    def _report_end(self, run: JobRun, result: RunResult) -> None:
        if self._listener is not None:
            self._listener.on_ended(run, result)


def _kronjob(run: JobRun) -> KronJob:
    """Return the KronJob of which a run is."""
    return cast("KronJob", run.work.payload)


def _is_of(pending: PendingJob, job: ChildJob) -> bool:
    """Whether a Job says by its annotations that it is of this period."""
    return job.identity == pending.run.attempt.identity and job.nominal == pending.decision.nominal_time

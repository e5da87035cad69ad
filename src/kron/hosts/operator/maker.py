"""Maker: the engine's runner: an execution is a Job, and creating it is the lock and the record."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from functools import partial
from typing import Any

from kron.adapters.kubernetes.resources import JOBS
from kron.adapters.kubernetes.responses import LEADER_RECHECK, ErrorClass, classify, is_already_deleted, retry_delay
from kron.adapters.kubernetes.work_queue import Priority
from kron.decision.decide import decide
from kron.engine.active_runs import ActiveRuns
from kron.engine.jobs.planner import PeriodPlanner
from kron.engine.ports import Clock, RunListener
from kron.engine.runs import JobRun, RunResult
from kron.errors import ApiError, ApiRefusedError
from kron.hosts.operator.accounts import Account, Listed
from kron.hosts.operator.making import Making, Surroundings
from kron.hosts.operator.world import PART, World
from kron.instant import Instant
from kron.kronjob.child_job import build_job, job_name
from kron.kronjob.kronjob import PLURAL
from kron.kronjob.period_status import (
    DEADLINE_EXCEEDED,
    DEFINITION_CHANGED,
    NAME_TAKEN,
    REJECTED,
    SUPERSEDED,
    PeriodStatus,
)
from kron.kronjob.snapshot import ChildJob, Key, KronJobSnapshot, parse_job
from kron.kronjob.status import INTERNAL_ERROR, CreateFailure
from kron.rules.job_record import RunKind, RunStart
from kron.rules.verdict import Outcome

FAILED_CREATE = "FailedCreate"
_UNCERTAIN = 500  # the answers from here on do not say whether it was done
_SOON, _WHILE_SUSPENDED = 0.1, 1.0  # seconds


class Maker:
    """Creates Jobs, deletes those that are replaced, and tells the engine when they are over."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._in = surroundings
        self._listener: RunListener[JobRun] | None = None
        self._made: dict[Key, Making] = {}  # by the key of the Job
        self._runs: dict[str, Making] = {}  # the same, by the name of the run

    # --- the engine's runner ------------------------------------------------------------------------------------------

    def start(self, executions: Sequence[JobRun], listener: RunListener[JobRun]) -> None:
        """Let the Jobs be created, as soon as there is a worker."""
        self._listener = listener
        for execution in executions:
            namespace, _, name = execution.attempt.identity.partition("/")
            with self._in.fence.around(PLURAL, namespace, name, then=partial(self._set_aside, execution)):
                self._start(execution)

    def _start(self, execution: JobRun) -> None:
        making = self._making(execution)
        if making.key in self._made:  # another replica was quicker while it was recorded
            self._end(making, RunResult())
            return
        self._made[making.key] = self._runs[execution.run_id] = making
        self._in.errands.add(Priority.START, making.key[0], making.key, partial(self._create, making))

    def _set_aside(self, execution: JobRun, error: str) -> None:
        """Let an execution end whose Job cannot even be described."""
        self._in.accounts.trouble(execution.attempt.identity, CreateFailure(INTERNAL_ERROR, error))
        if self._listener is not None:
            self._listener.on_ended(execution, RunResult(not_started=INTERNAL_ERROR))

    def go_on(self, execution: JobRun, job: ChildJob, listener: RunListener[JobRun]) -> None:
        """Take up a Job that is there."""
        self._listener = listener
        making = Making(execution, None, (job.namespace, job.name))
        making.job = job
        self._made[making.key] = self._runs[execution.run_id] = making

    def execution(self, key: Key) -> JobRun | None:
        """Return the execution that a Job is, None if it is none of its own."""
        making = self._made.get(key)
        return None if making is None else making.execution

    def is_creating(self, key: Key) -> bool:
        """Whether the answer to a Job's creation is still to come: with it, all that is to be noted is noted."""
        making = self._made.get(key)
        return making is not None and making.job is None

    def stop(self, execution: JobRun) -> None:
        """Delete a Job to make room for another; one that is not there yet is not created any more."""
        making = self._runs.get(execution.run_id)
        if making is None:
            return
        if making.job is None and not making.is_doubtful and self._drop(making):
            self._settle(making, Outcome.SKIPPED, SUPERSEDED)
        else:
            making.is_replaced = True
            self._in.errands.add(Priority.START, making.key[0], ("delete", making.key), partial(self._delete, making))

    def _drop(self, making: Making) -> bool:
        return self._in.errands.cancel(Priority.START, making.key[0], making.key)

    async def reattach(self, _: Sequence[JobRun], __: RunListener[JobRun]) -> Collection[str]:
        """Return nothing: which Jobs are there is seen in the cluster, and they are taken up as they are found."""
        return ()

    async def catch_up(self, *, stood_still: bool) -> None:
        """See which Jobs have ended, if their watch may be behind."""
        if stood_still:
            await self._in.see_again()

    def detach(self) -> None:
        """Let go of everything."""
        self._listener = None
        self._made.clear()
        self._runs.clear()

    def on_job(self, key: Key, job: ChildJob | None) -> None:
        """Take note of what became of a Job."""
        making = self._made.get(key)
        if making is None or making.job is None:
            return
        if job is None or job.uid != making.job.uid:  # another one of its name comes after its end
            self._end(making, RunResult())
        elif job.succeeded is not None:
            self._end(making, RunResult(exit_code=0 if job.succeeded else 1))
        else:
            making.job = job

    # --- creating -----------------------------------------------------------------------------------------------------

    def _making(self, execution: JobRun) -> Making:
        attempt, timing = execution.attempt, execution.work.timing
        assert attempt.nominal is not None, "a Job belongs to a period"
        assert timing is not None, "a KronJob has a schedule"
        kronjob: Any = execution.work.payload
        key = (kronjob.namespace, job_name(kronjob, attempt.nominal))
        return Making(execution, decide(timing, attempt.nominal), key)

    def _present(self, making: Making) -> KronJobSnapshot | None:
        """Return the KronJob as it is now, None if it is gone, or another one of the same name."""
        kronjob: Any = making.execution.work.payload
        seen = self._in.world.kronjobs.get((kronjob.namespace, kronjob.name))
        return seen if seen is not None and seen.uid == kronjob.uid else None

    async def _create(self, making: Making) -> float | None:
        seen, account = self._present(making), self._in.accounts.of(making.execution.attempt.identity)
        if seen is None or account is None or account.handled.has(making.decision.nominal_time):
            self._end(making, RunResult())  # nobody wants it any more, or somebody else was quicker
            return None
        if seen.kronjob is None or seen.job_spec is None:
            return await self._give_up(making, seen, Outcome.SKIPPED, DEFINITION_CHANGED)
        if seen.kronjob.policy.suspend:
            making.is_held = True
            making.lose_slack()
            return _WHILE_SUSPENDED  # when that is lifted, its deadline decides
        if not self._in.may_write():
            making.is_held = True
            return LEADER_RECHECK  # if another one leads, this reign ends, and that one will find it
        if making.is_replaced:
            return await self._give_up(making, seen, Outcome.SKIPPED, SUPERSEDED)
        if self._is_late(making, self._in.now()):
            return await self._give_up(making, seen, Outcome.MISSED, DEADLINE_EXCEEDED)
        if account.owes:
            making.is_held = making.is_held or account.is_refused
            return _SOON  # first of all it is written what was found, and what this Job supersedes
        if seconds := self._in.refusals.wait(seen.identity):
            return self._rest(making, seen, account, seconds)
        try:
            # A crash here, before the answer: the Job is there or is not; whoever comes next finds out.
            answer = await self._in.api.request(
                "create", JOBS, seen.namespace, body=build_job(seen.kronjob, making.decision)
            )
        except Exception as error:  # also a bug: otherwise the others of the namespace would wait for this answer
            self._in.refusals.on_answer(seen.identity, error)
            if not isinstance(error, ApiError):
                raise
            return await self._on_refusal(making, seen, error)
        self._in.refusals.on_answer(seen.identity, None)
        self._on_made(making, seen, parse_job(answer))
        return None

    def _rest(self, making: Making, seen: KronJobSnapshot, account: Account, seconds: float) -> float:
        """Wait while the KronJob or its namespace rests, and report that once, as for the one that was refused."""
        making.is_held = True
        if account.trouble is None:
            self._fail(making, seen, CreateFailure(FAILED_CREATE, self._in.refusals.reason(seen.identity)))
        return seconds

    async def _on_refusal(self, making: Making, seen: KronJobSnapshot, error: ApiError) -> float | None:
        match classify(error):
            case ErrorClass.ALREADY_EXISTS:
                return await self._compare(making, seen)
            case ErrorClass.NAMESPACE_TERMINATING:
                self._end(making, RunResult())
                return None
            case ErrorClass.REJECTED:
                message = f"spec.jobTemplate: the server refuses its Job: {error.message}"
                self._fail(making, seen, CreateFailure(REJECTED, message))
                return await self._give_up(making, seen, Outcome.MISSED, REJECTED)
        return self._again(making, seen, error)

    async def _compare(self, making: Making, seen: KronJobSnapshot) -> float | None:
        """Look at the Job that is there: it is ours if it says so."""
        namespace, name = making.key
        try:
            found = parse_job(await self._in.api.request("get", JOBS, namespace, name))
        except ApiError as error:
            return self._again(making, seen, error)
        if self._is_ours(making, found):
            self._on_made(making, seen, found)
            return None
        message = f"a Job {namespace}/{name} that is not of this period is there already"
        self._fail(making, seen, CreateFailure(NAME_TAKEN, message))
        self._settle(making, Outcome.MISSED, NAME_TAKEN, message)
        return None

    def _again(self, making: Making, seen: KronJobSnapshot, error: ApiError) -> float | None:
        """Try again later, unless its time is over."""
        seconds = retry_delay(error, making.tries)
        making.tries += 1
        making.is_held = True
        making.is_doubtful = making.is_doubtful or not isinstance(error, ApiRefusedError) or error.code >= _UNCERTAIN
        self._fail(making, seen, CreateFailure(FAILED_CREATE, error.message))
        if not making.is_doubtful and self._is_late(making, self._in.now() + timedelta(seconds=seconds)):
            self._settle(making, Outcome.MISSED, DEADLINE_EXCEEDED, error.message)
            return None
        return seconds

    def _is_late(self, making: Making, at: Instant) -> bool:
        """Whether its limit has passed at an instant.

        That there are many before it, or that another Job has to go first, makes it late and is no reason to miss it.
        """
        making.is_held = making.is_held or self._in.errands.unanswered_at >= making.execution.started_monotonic
        return making.is_held and making.start_before is not None and at >= making.start_before

    async def _give_up(self, making: Making, seen: KronJobSnapshot, outcome: Outcome, reason: str) -> float | None:
        """Close a period without a Job, unless that turns out to be there."""
        if making.is_doubtful:
            try:
                found = parse_job(await self._in.api.request("get", JOBS, *making.key))
            except ApiError as error:
                if classify(error) is not ErrorClass.NOT_FOUND:
                    making.tries += 1
                    return retry_delay(error, making.tries)
            else:
                if self._is_ours(making, found):
                    self._on_made(making, seen, found)
                    return None
        account = self._in.accounts.of(seen.identity)
        message = "" if account is None or account.trouble is None else account.trouble.message
        self._settle(making, outcome, reason, message)
        return None

    def _is_ours(self, making: Making, job: ChildJob) -> bool:
        """Whether a Job says by its annotations that it is of this period."""
        return job.identity == making.execution.attempt.identity and job.nominal == making.decision.nominal_time

    def _on_made(self, making: Making, seen: KronJobSnapshot, job: ChildJob) -> None:
        making.job = job
        self._in.accounts.trouble(seen.identity, None)
        self._in.scribe.on_made(making.decision)
        self._note(making, seen, Outcome.EXECUTED, "", "")
        self._in.world.put_job(job)
        if job.owner != seen.uid:
            self._end(making, RunResult())  # it is the execution of its period, but nobody has to wait for it
        else:
            self.on_job(making.key, self._in.world.jobs.get(making.key))  # which may know more already

    def _fail(self, making: Making, seen: KronJobSnapshot, trouble: CreateFailure) -> None:
        self._in.accounts.trouble(seen.identity, trouble)
        self._in.scribe.on_failed(seen, making.decision, trouble)

    def _settle(self, making: Making, outcome: Outcome, reason: str, message: str = "") -> None:
        """Close a period that was to be executed."""
        seen = self._present(making)
        if seen is not None:
            self._note(making, seen, outcome, reason, message)
        self._end(making, RunResult(not_started=reason))

    def _note(self, making: Making, seen: KronJobSnapshot, outcome: Outcome, reason: str, message: str) -> None:
        decision = making.decision
        entry = PeriodStatus(decision.nominal_time, decision.nominal_time, 1, decision.chosen_time, outcome, reason)
        if self._in.accounts.settle(seen.identity, entry):
            job = "" if making.job is None else making.job.name
            self._in.scribe.on_settled(seen, decision, entry, job, message)

    # --- deleting -----------------------------------------------------------------------------------------------------

    async def _delete(self, making: Making) -> float | None:
        """Ask for the end of a Job; it lasts until it is seen to be gone."""
        if self._made.get(making.key) is not making:
            return None
        if not self._in.may_write():
            return LEADER_RECHECK
        seen = self._present(making)
        if making.job is None or (seen is not None and not Listed(seen, self._in.now()).has(making.job)):
            return _SOON  # it is being created, or its period is not listed yet
        namespace, name = making.key
        body = {"propagationPolicy": "Foreground", "preconditions": {"uid": making.job.uid}}
        try:
            await self._in.api.request("delete", JOBS, namespace, name, body=body)
        except ApiError as error:
            if is_already_deleted(error):
                self._end(making, RunResult())
                return None
            making.tries += 1
            return retry_delay(error, making.tries)
        if seen is not None and making.job is not None:
            self._in.scribe.on_deleted(seen, making.job)
        return None

    def _end(self, making: Making, ending: RunResult) -> None:
        if self._made.get(making.key) is making:
            del self._made[making.key], self._runs[making.execution.run_id]
        if self._listener is not None:
            self._listener.on_ended(making.execution, ending)


class Adoption:
    """Makes executions of the Jobs of an earlier leader, or of another replica.

    An error that one Job causes stays with it.
    """

    def __init__(
        self,
        world: World,
        book: PeriodPlanner,
        runs: ActiveRuns[JobRun],
        maker: Maker,
        clock: Clock,
        fenced: Callable[[ChildJob], AbstractContextManager[None]],
    ) -> None:
        self._world, self._book, self._runs, self._maker = world, book, runs, maker
        self._clock, self._fenced = clock, fenced

    async def meet(self, identity: str) -> None:
        """Take the active Jobs of a KronJob that is not declared yet to the maker, in parts: there may be thousands.

        When it is declared, all of them are known to the book in the same turn, so that `forbid` sees them.
        """
        namespace, _, name = identity.partition("/")
        seen = self._world.kronjobs.get((namespace, name))
        if seen is None or identity in self._book.jobs:
            return
        for number, job in enumerate(self._world.jobs_of(seen), 1):
            if job.is_active and self._world.jobs.get((job.namespace, job.name)) is job:
                with self._fenced(job):
                    self._execution(seen, job, self._clock.now())
            if number % PART == 0:
                await asyncio.sleep(0)  # noqa: TID251  # a turn, no time

    def go_on(self, seen: KronJobSnapshot, job: ChildJob, now: Instant) -> None:
        """Wait for the end of an active Job, if its KronJob is declared."""
        execution = self._execution(seen, job, now) if seen.identity in self._book.jobs else None
        if execution is not None:
            self._book.reattach(execution)
            self._runs.adopt((execution,), now)

    def _execution(self, seen: KronJobSnapshot, job: ChildJob, now: Instant) -> JobRun | None:
        """Return the execution that a Job is; None if it belongs to no period, or nothing of its KronJob is run."""
        if job.nominal is None or seen.job_spec is None:
            return None
        execution = self._maker.execution((job.namespace, job.name))
        if execution is None:
            key, name = seen.job_spec.definition_key, self._book.new_run_id()
            attempt = RunStart(name, seen.identity, RunKind.PERIOD, job.nominal, job.chosen, 1, now, key, "")
            execution = JobRun(attempt, seen.job_spec)
            self._maker.go_on(execution, job, self._runs)
        return execution

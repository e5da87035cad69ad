"""asked_for(job, accepted, host, now) -> Execution of no period; unbegun(…): one that never begins, with its row."""

from kron.engine.jobs.execution import Ending, Execution
from kron.engine.jobs.host import Host
from kron.engine.jobs.job import Accepted, Job
from kron.instant import Instant
from kron.rules.job_record import Attempt, Result

DISPLACED = Ending(not_started="it had not begun when something else took its place")
TOO_LATE = Ending(not_started="it had not begun when the host was asked to stop")


def asked_for(job: Job, accepted: Accepted, host: Host, now: Instant) -> Execution:
    """Return an execution that belongs to no period."""
    attempt = Attempt(
        accepted.run_id, job.record.identity, accepted.kind, None, None, 1, now, job.record.definition, host.boot
    )
    return Execution(attempt, job.work, host.clock.monotonic())


def unbegun(job: Job, accepted: Accepted, host: Host, now: Instant, why: Result = Result.REPLACED) -> Execution:
    """Return an execution that was asked for, and never begins."""
    execution = asked_for(job, accepted, host, now)
    execution.ends_as, execution.has_begun = why, False
    return execution

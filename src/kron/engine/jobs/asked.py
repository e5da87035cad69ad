"""manual_run(…) -> Execution without a period; never_started(…) -> one that never begins, with its row."""

from kron.engine.jobs.execution import Ending, Execution
from kron.engine.jobs.host import Host
from kron.engine.jobs.job_state import JobState, RunRequest
from kron.instant import Instant
from kron.rules.job_record import ResultCode, RunStart

REPLACED_BEFORE_START = Ending(not_started="it had not begun when something else took its place")
STOPPED_BEFORE_START = Ending(not_started="it had not begun when the host was asked to stop")


def manual_run(job: JobState, accepted: RunRequest, host: Host, now: Instant) -> Execution:
    """Return an execution that belongs to no period."""
    attempt = RunStart(
        accepted.run_id, job.record.identity, accepted.kind, None, None, 1, now, job.record.definition_key, host.boot
    )
    return Execution(attempt, job.work, host.clock.monotonic())


def never_started(
    job: JobState, accepted: RunRequest, host: Host, now: Instant, why: ResultCode = ResultCode.REPLACED
) -> Execution:
    """Return an execution that was asked for, and never begins."""
    execution = manual_run(job, accepted, host, now)
    execution.ends_as, execution.has_begun = why, False
    return execution

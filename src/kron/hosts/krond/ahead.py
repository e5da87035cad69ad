"""What comes of a job, for whoever looks; looking does not disturb it, also from another thread."""

from collections.abc import Iterator

from kron.decision.decision import Decision
from kron.engine.jobs.job import Job
from kron.instant import Instant
from kron.rules.coming import Coming, effective


def coming_of(job: Job, now: Instant, *, to_take: bool = False) -> Coming | None:
    """Return what comes of a job; of one that is suspended only what lies in the future."""
    if job.work.timing is None or not (job.is_suspended or to_take):
        return job.coming
    return Coming(job.work.timing, max(job.reached, now) if job.is_suspended else job.reached, job.handled)


def decisions_of(job: Job, now: Instant) -> Iterator[tuple[Instant, Decision, Job]]:
    """Yield what comes of a job, in the order of time."""
    coming = coming_of(job, now, to_take=True)
    while coming is not None and (at := coming.next_instant()) is not None:
        decision = coming.take(at)
        assert decision is not None
        yield effective(decision), decision, job

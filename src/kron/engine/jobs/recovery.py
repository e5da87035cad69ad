"""judge_downtime(job, now): what happens to the periods of a downtime, judged before the host starts anything.

Most jobs need none: a step judges them at once. It is for jobs with a long backlog, which would hold up the loop: a
host judges them one after the other in a thread, and answers meanwhile that it is not ready.
"""

from collections.abc import Sequence

from kron.engine.emitter import Observers
from kron.engine.jobs.job_state import JobState, served_before
from kron.engine.jobs.planner import PeriodPlanner
from kron.engine.jobs.step import closed_by
from kron.engine.jobs.store import JobBatch
from kron.engine.ports import Refusal, RunObserver
from kron.engine.runs import JobRun
from kron.instant import Instant
from kron.rules.job_record import ResultCode
from kron.rules.outage import Outage, Recovery, recover
from kron.rules.verdict import Reason

_LONG = 1_000  # decisions: some hundredths of a second


def backlogged(planner: PeriodPlanner, now: Instant) -> list[JobState]:
    """Return the jobs whose downtime takes long to judge."""
    return [job for job in planner.jobs.values() if job.backlog(now) >= _LONG]


def judge_downtime(job: JobState, now: Instant) -> Recovery:
    """Return what becomes of the periods that came until now; nothing is changed by it."""
    assert job.work.timing is not None, "it has a backlog"
    gap = Outage(job.reached, max(job.reached, now), Reason.DOWNTIME)
    return recover(job.work.timing, job.work.policy, gap, now, job.handled)


class CloseDowntime:
    """What is over of the downtime of a job. The period that may still run and what follows are left to the first step.

    A crash after it was recorded: the next life begins behind what is over, and finds the rest as this one did.
    """

    def __init__(self, planner: PeriodPlanner, job: JobState, found: Recovery, until: Instant) -> None:
        """`until` is when the downtime was judged; what came later is for the first step, too."""
        self._planner, self._job, self._found, self._until = planner, job, found, until
        served = max((each.last_effective for each in found.closed_before), default=job.record.handled_until)
        if found.runs is not None:
            served = min(served, served_before(found.runs))
        self._record = job.record._replace(handled_until=max(served, job.record.handled_until))
        self._closed = [(job.work, closed_by(job.record, each, until), each.last) for each in found.closed_before]
        self.batch = JobBatch(
            jobs=[] if self._record == job.record else [self._record], closed=[record for _, record, _ in self._closed]
        )
        self.starts: Sequence[JobRun] = ()
        self.stops: Sequence[tuple[JobRun, ResultCode]] = ()

    def commit(self, refused: Sequence[Refusal]) -> None:
        """Go on behind what is over; if the ledger refuses it, all of the downtime is left to the first step."""
        planner, job, found = self._planner, self._job, self._found
        if refused:
            planner.take_refusal(refused[0], self._until)
            self._closed = []
            return
        job.record = self._record
        job.keep_apart(found.closed_before)
        job.seek(max(job.reached, self._until))
        job.recovered = None if found.runs is None else Recovery([], found.runs, found.closed_after)
        planner.reschedule(job, self._until)

    def report(self, observers: Observers[JobRun]) -> None:
        """Report the periods that are closed."""
        for work, record, last in self._closed:
            observers.report(RunObserver.on_closed, work, record, last)

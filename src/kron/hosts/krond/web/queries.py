"""JobQueries: what pages read of a daemon and its ledger. Safe in any thread: nothing is changed."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from heapq import nsmallest
from itertools import islice
from typing import NamedTuple

from kron.adapters.process.output import OutputLog
from kron.adapters.sqlite.job_history import HistoryQuery, SqliteJobHistory, recent_problems
from kron.cron.zone import UTC_ZONE, Zone
from kron.decision.decision import Decision
from kron.engine.jobs.job_state import JobState
from kron.engine.ports import FailedLedger
from kron.engine.runs import JobRun
from kron.errors import UnknownJobError
from kron.hosts.krond.control_protocol import find_identity
from kron.hosts.krond.daemon import Daemon, DaemonStatus
from kron.hosts.krond.upcoming import decisions_of
from kron.instant import Instant
from kron.jobfile.host_job import HostJob
from kron.rules.evidence import Evidence
from kron.rules.history import HistoryRow
from kron.rules.job_record import JobRecord
from kron.theory.results import PropertyResult

HOUR = timedelta(hours=1)
_AHEAD = 40  # jobs whose next hour is drawn
_MARKS = 800  # starts that are drawn, of all jobs together
_EACH = 60  # and of one


class UpcomingRuns(NamedTuple):
    """What comes within an hour: of the jobs that come first, and how many jobs there are in all."""

    rows: Sequence[tuple[JobState, Sequence[Decision]]]
    jobs: int


class JobQueries:
    """Reads what the daemon's loop writes: names are bound at once, and what they are bound to does not change."""

    def __init__(self, daemon: Daemon, last: Mapping[str, tuple[str, str | None]]) -> None:
        """`last`: how each job ended last, by its identity."""
        self._daemon = daemon
        self.last = last
        self.history = SqliteJobHistory(daemon.state.ledger)

    def now(self) -> Instant:
        """Return what time it is."""
        return self._daemon.clock.now()

    @property
    def surface(self) -> DaemonStatus:
        """What the daemon shows of itself."""
        return self._daemon.surface

    def failed_ledger(self) -> FailedLedger | None:
        """Return since when and why nothing is started, None if starts can be recorded."""
        return self._daemon.ledger_health.look()

    @property
    def violations(self) -> Sequence[PropertyResult]:
        """What the monitor has found."""
        return list(self._daemon.monitor.found)

    def jobs(self) -> list[JobState]:
        """Return what is declared."""
        return list(self._daemon.book.jobs.values())

    def running(self) -> list[JobRun]:
        """Return what runs now, the oldest first."""
        return list(self._daemon.runs.running.values())

    def zone(self, identity: str) -> Zone:
        """Return the zone of a job; UTC if it has none any more."""
        job = self.job(identity)
        return UTC_ZONE if job is None or job.work.timing is None else job.work.timing.schedule.zone

    def troubles(self, limit: int) -> list[HistoryRow]:
        """Return what did not go well lately."""
        return recent_problems(self._daemon.state.ledger, limit)

    def next_hour(self, now: Instant) -> UpcomingRuns:
        """Return what comes within an hour."""
        soon = []
        for number, job in enumerate(self.jobs()):
            at = job.at  # bound anew by the loop; `coming` is the loop's own
            if at is not None and at <= now + HOUR and not job.is_suspended and job.work.timing is not None:
                soon.append((at, number, job))
        left, rows = _MARKS, []
        for _, _, job in nsmallest(_AHEAD, soon, key=lambda item: item[:2]):
            found = self.decisions(job, now, min(_EACH, left), until=now + HOUR)
            left -= len(found)
            if found:
                rows.append((job, found))
        return UpcomingRuns(rows, len(soon))

    def decisions(self, job: JobState, now: Instant, most: int, *, until: Instant | None = None) -> list[Decision]:
        """Return what comes of a job."""
        found = []
        for at, decision, _ in islice(decisions_of(job, now), most):
            if until is not None and at > until:
                break
            found.append(decision)
        return found

    # --- one job, one run ---------------------------------------------------------------------------------------------

    def find(self, name: str, identity: str) -> str:
        """Return the identity of a job, also of one that is not defined any more; UnknownJobError if there is none."""
        book = self._daemon.book.jobs
        if identity:
            if identity in book or any(record.identity == identity for record in self.history.jobs()):
                return identity
            raise UnknownJobError(job=identity)
        try:
            return find_identity(name, [(job.record.name, job.record.identity) for job in self.jobs()])
        except UnknownJobError as error:
            if error.details["identities"]:
                raise
            records = [(record.name, record.identity) for record in self.history.jobs()]
            return find_identity(name, records, self.surface.errors())

    def job(self, identity: str) -> JobState | None:
        """Return a job, None if it is not defined any more."""
        return self._daemon.book.jobs.get(identity)

    def record(self, identity: str) -> JobRecord:
        """Return what is remembered of a job."""
        job = self.job(identity)
        if job is not None:
            return job.record
        return next(record for record in self.history.jobs() if record.identity == identity)

    def rows(self, identity: str, limit: int) -> list[HistoryRow]:
        """Return the newest of a job's history, the oldest first."""
        return self.history.rows(HistoryQuery(identity, limit=limit))

    def run(self, run_id: str) -> HistoryRow | None:
        """Return what is recorded of a run."""
        return self.history.run(run_id)

    def host_job(self, job: JobState) -> HostJob:
        """Return a job as its file has it; one that is just being removed, as it had it."""
        found = self.surface.jobs.get(job.record.identity, job.work.payload)
        assert isinstance(found, HostJob)
        return found

    def output(self, row: HistoryRow) -> OutputLog:
        """Return where what a run that is recorded wrote can be read."""
        return OutputLog(self._daemon.state.output, str(row["run_id"]))

    def inquire(self, identity: str, moment: Callable[[Zone, Instant], Instant]) -> Evidence:
        """Return what there is to tell about a job around a moment in its zone."""
        now = self.now()
        return self.history.inquire(identity, moment(self.zone(identity), now), now)

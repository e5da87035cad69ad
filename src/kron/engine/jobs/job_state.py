"""JobState: one declared job in memory: its coming periods, its queue of accepted periods, and its runs."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple, TypeAlias

from kron.decision.decision import Decision
from kron.engine.ledger import PendingRetry
from kron.engine.runs import Acceptance, JobRun, RunResult
from kron.instant import MICROSECOND, Instant
from kron.rules.effort import AT_ONCE, Effort, Ongoing
from kron.rules.job_record import JobRecord, ResultCode, RunKind, RunStart
from kron.rules.job_spec import JobSpec
from kron.rules.outage import ClosedPeriods, Outage, Recovery, cost_of, recover
from kron.rules.periods import NO_PERIODS, HandledPeriods, PeriodQueue, effective_time
from kron.rules.verdict import Reason


class RunRequest(NamedTuple):
    """An execution that was judged: it begins as soon as there is room, and those it replaces are gone."""

    kind: RunKind
    run_id: str
    decision: Decision | None = None  # of its period, if it belongs to one
    replaces: frozenset[str] = frozenset()  # ids of runs
    acceptance: Acceptance | None = None  # of its period


REPLACED_BEFORE_START = RunResult(not_started="it had not begun when something else took its place")
STOPPED_BEFORE_START = RunResult(not_started="it had not begun when the host was asked to stop")

PendingItem: TypeAlias = ClosedPeriods | RunRequest


class GapJudgement(NamedTuple):
    """What becomes of the periods of a long gap, judged in parts as they are in time at one instant."""

    gap: Outage
    at: Instant
    outage: Ongoing[Recovery]
    slack: timedelta  # what the host adds to the deadline from then on


class JobCheckpoint(NamedTuple):
    """What a step may change of a job, and puts back if it cannot be remembered."""

    record: JobRecord
    reached: Instant
    queue: tuple[PendingItem, ...]
    retries: tuple[PendingRetry, ...]
    handled: HandledPeriods
    recovered: Recovery | None


class JobState:
    """A declared job. What becomes of its periods is recorded in their order: whatever waits holds up what follows."""

    __slots__ = (
        "active", "armed", "at", "coming", "gap", "handled", "judging", "queue", "reached", "record", "recovered",
        "retries", "work",
    )  # fmt: skip

    def __init__(self, work: JobSpec, record: JobRecord, handled: HandledPeriods = NO_PERIODS) -> None:
        """`handled` are periods that another definition of it has handled."""
        self.work, self.record = work, record
        self.armed = record.declared_at  # since when it could run, without a break of its own
        self.gap = Reason.DEADLINE  # reason of periods missed in such a break
        self.at: Instant | None = None
        self.active: dict[str, JobRun] = {}
        self.queue: tuple[PendingItem, ...] = ()
        self.retries: tuple[PendingRetry, ...] = ()
        self.handled = handled if work.timing is None else handled.under(work.timing.schedule)
        self.coming: PeriodQueue | None = None
        self.judging: GapJudgement | None = None  # of a long gap, of which a part is judged
        self.recovered: Recovery | None = None  # what was judged until `reached` before the host could start anything
        self.seek(record.handled_until)

    def rebase(self, record: JobRecord) -> None:
        """Take another record, under which the coming periods stay the same."""
        self.record, self.armed, self.reached = record, record.declared_at, record.handled_until

    def seek(self, until: Instant) -> None:
        """Look ahead from an instant on; everything before was judged."""
        self.reached, self.recovered, self.judging = until, None, None
        self.coming = None if self.work.timing is None else PeriodQueue(self.work.timing, until, self.handled)

    def keep_apart(self, over: Iterable[PendingItem]) -> None:
        """Remember the periods that are over and come after what is served: one that waits has their chosen second."""
        spans = [span for each in over if (span := _span_after(each, self.record.handled_until)) is not None]
        if spans:
            self.handled = replace(self.handled, spans=(*self.handled.spans, *spans))

    @property
    def is_active(self) -> bool:
        """Whether an execution of it is not over."""
        return bool(self.active or self.retries) or any(isinstance(each, RunRequest) for each in self.queue)

    @property
    def is_suspended(self) -> bool:
        """Whether its file or a command suspends it."""
        return self.work.policy.suspend or self.record.is_suspended

    def unstarted_requests(self) -> tuple[RunRequest, ...]:
        """Return the requests that belong to no period and have not begun."""
        return tuple(each for each in self.queue if isinstance(each, RunRequest) and each.decision is None)

    def manual_run(self, accepted: RunRequest, boot_id: str, now: Instant) -> JobRun:
        """Return a run that belongs to no period."""
        record = self.record
        attempt = RunStart(
            accepted.run_id, record.identity, accepted.kind, None, None, 1, now, record.definition_key, boot_id
        )
        return JobRun(attempt, self.work)

    def never_started(self, accepted: RunRequest, boot_id: str, now: Instant, result: RunResult) -> JobRun:
        """Return the run of a request that never begins, and leaves a row."""
        run = self.manual_run(accepted, boot_id, now)
        run.result, run.ended_at = result, now
        run.stop_reason = ResultCode.STOPPED if result is STOPPED_BEFORE_START else ResultCode.REPLACED
        return run

    def triggers(self) -> tuple[RunRequest, ...]:
        """Return the triggered runs that have not begun."""
        return tuple(each for each in self.unstarted_requests() if each.kind is RunKind.TRIGGER)

    def limit_retries(self) -> list[str]:
        """Try again only as often as its definition says; return the names of runs that are given up by that."""
        over = [retry for retry in self.retries if retry.attempt.attempt > self.work.retries]
        self.retries = tuple(retry for retry in self.retries if retry not in over)
        return [retry.attempt.run_id for retry in over]

    def retry_run_ids(self) -> tuple[str, ...]:
        """Return the names of runs that are to be tried again."""
        return tuple(retry.attempt.run_id for retry in self.retries)

    def inherit(self, before: "JobState | None", *, lifted_at: Instant | None) -> None:
        """Go on where the same timing was before, under another policy or with another command."""
        if before is not None:
            self.armed, self.gap, self.handled = before.armed, before.gap, before.handled
            self.queue, self.active, self.retries = before.queue, before.active, before.retries
            if before.coming is not None:  # else it was set aside, and is judged again from its record on
                self.reached, self.coming, self.recovered = before.reached, before.coming, before.recovered
        self.at = None
        if lifted_at is not None:
            self.armed = lifted_at  # what came while it was held is late
        if self.is_suspended:
            self.unqueue_periods()

    def inherit_runs(self, before: "JobState | None") -> None:
        """Keep active runs, retries and triggered runs under another timing."""
        if before is not None:
            self.active, self.retries = before.active, before.retries
            self.queue = before.triggers()
            self.at = None if self.retries else self.at

    def unqueue_periods(self) -> None:
        """Remove waiting periods from the queue; they are judged again when the job is resumed."""
        self.queue = self.triggers()
        self.seek(self.record.handled_until)

    def exclude(self, handled: HandledPeriods) -> bool:
        """Leave out periods that turned out to have an outcome; return whether one of them was not known.

        What was accepted stays accepted. Closings that wait may contain what is left out, or follow from it: with them
        all that waits is judged again.
        """
        found = NO_PERIODS if self.work.timing is None else handled.under(self.work.timing.schedule)
        known = replace(self.handled, spans=(*self.handled.spans, *found.spans))
        if known == self.handled:
            return False
        self.handled = known
        if self.recovered is not None or any(isinstance(each, ClosedPeriods) for each in self.queue):
            self.unqueue_periods()
        else:
            self.queue = tuple(each for each in self.queue if not _is_handled(each, known))
            self.seek(self.reached)
        return True

    def is_boot_due(self, boot: str) -> bool:
        """Whether it is to run because the machine was booted, and does not wait for its turn already."""
        if self.coming is not None or self.is_suspended or self.record.last_boot_id == boot:
            return False
        return not any(each.kind is RunKind.BOOT for each in self.unstarted_requests())

    def has_pending(self, now: Instant) -> bool:
        """Whether something of it has come that is not recorded yet: it goes on when others end, not with time."""
        return bool(self.queue) or any(retry.at <= now for retry in self.retries)

    @property
    def has_closings(self) -> bool:
        """Whether closings wait that could be recorded at once: a step records some, and leaves the rest to others."""
        return bool(self.queue) and isinstance(self.queue[0], ClosedPeriods) and not self.is_suspended

    def next_check(self, now: Instant) -> Instant | None:
        """Return when time brings something to do about it, None: it does not, or that is not known yet."""
        looks = [retry.at for retry in self.retries if retry.at > now]
        if self.recovered is not None and self.recovered.runs is not None and not self.is_suspended:
            looks.append(effective_time(self.recovered.runs))
        if self.record.is_suspended and self.record.suspended_until is not None:
            looks.append(self.record.suspended_until)
        if self.coming is not None and self.coming.is_known and self.judging is None and not self.is_suspended:
            coming = self.coming.next_time()
            looks += [] if coming is None else [coming]
        return min(looks, default=None)

    def look_ahead(self) -> bool:
        """Find what comes next if that takes little; return whether it takes more work, in the next steps."""
        if self.coming is None or self.is_suspended:
            return False
        return self.judging is not None or not self.coming.advance(Effort(AT_ONCE))

    def backlog(self, now: Instant) -> int:
        """Return about how many decisions it takes to judge what has come, none if they are few."""
        if self.work.timing is None or self.is_suspended:
            return 0
        try:
            return cost_of(self.work.timing, self.reached, now)
        except OverflowError:  # the calendar ends; what judges it meets that, too
            return 0

    def judge_downtime(self, now: Instant) -> Recovery:
        """Return what becomes of the periods that came until now; nothing is changed by it."""
        assert self.work.timing is not None, "it has a backlog"
        gap = Outage(self.reached, max(self.reached, now), Reason.DOWNTIME)
        return recover(self.work.timing, self.work.policy, gap, now, self.handled)

    def checkpoint(self) -> JobCheckpoint:
        """Return what a step may change."""
        return JobCheckpoint(self.record, self.reached, self.queue, self.retries, self.handled, self.recovered)

    def restore(self, state: JobCheckpoint) -> None:
        """Be as before a step."""
        self.record, reached, self.queue, self.retries, self.handled, recovered = state
        self.seek(reached)
        self.recovered = recovered


def _is_handled(waiting: PendingItem, handled: HandledPeriods) -> bool:
    decision = waiting.decision if isinstance(waiting, RunRequest) else None
    return decision is not None and handled.has(decision.nominal_time)


def _span_after(judged: PendingItem, served: Instant) -> tuple[Instant, Instant] | None:
    """Return the first and the last nominal time of something that comes after an instant; None if it does not."""
    if isinstance(judged, ClosedPeriods):
        return (judged.first.nominal_time, judged.last.nominal_time) if judged.last_effective > served else None
    if judged.decision is None or effective_time(judged.decision) <= served:
        return None
    return judged.decision.nominal_time, judged.decision.nominal_time


def served_before(waiting: Decision) -> Instant:
    """Return until when a job is served at most, as long as one of its periods waits."""
    return effective_time(waiting) - MICROSECOND

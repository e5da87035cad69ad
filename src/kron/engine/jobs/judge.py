"""judge_due_periods(job, …): judge the due periods of a job in the order of time, and queue them to be recorded."""

from collections.abc import Callable
from datetime import timedelta
from typing import NamedTuple

from kron.decision.decision import Decision
from kron.engine.jobs.job_state import GapJudgement, JobState, PendingItem, RunRequest
from kron.engine.runs import Acceptance, JobRun
from kron.instant import SECOND, ZERO, Instant
from kron.rules.effort import PERIOD, Effort, Ongoing
from kron.rules.job_record import RunKind
from kron.rules.outage import ClosedPeriods, Freeze, Outage, close_period, followed, recover_in_parts
from kron.rules.periods import effective_time
from kron.rules.verdict import Close, Execute, Outcome, OverlapAction, Reason, decide_overlap, judge, start_before

_ASKED = "a run that somebody asked for took its place before it began"


class PlanningContext(NamedTuple):
    """When, and in what surroundings, a job is looked at."""

    now: Instant
    armed: Instant  # since when the host could run anything, without a break
    gap: Reason  # what is missed in the time before that
    slack: timedelta  # how late an armed host may be
    boot: str  # of the machine
    name: Callable[[], str]  # for runs
    frozen: Freeze | None = None  # when the host stood still, if some of that is to be judged yet


class Replacement(NamedTuple):
    """What makes room for a newer execution: runs to end; ids of those not to be tried again; what never begins."""

    runs: tuple[JobRun, ...] = ()
    given_up: tuple[str, ...] = ()
    displaced: tuple[RunRequest, ...] = ()


def judge_due_periods(job: JobState, moment: PlanningContext, effort: Effort) -> list[Replacement]:
    """Judge every period whose time has come; return what has to make room for what is executed.

    When the effort is spent the rest is left to another step: the job is unfinished, or its next look has come.
    """
    replaced: list[Replacement] = []
    if job.is_suspended:
        return replaced
    if job.coming is None:
        if job.is_boot_due(moment.boot):
            enqueue(job, RunRequest(RunKind.BOOT, moment.name()), replaces=False)
        return replaced
    now, armed, frozen = moment.now, max(moment.armed, job.armed), moment.frozen
    if frozen is not None and frozen.since < armed:
        armed = max(armed, frozen.until)  # it came back, and the host did not: one time without a run
    if job.judging is not None and not _judge_gap(job, job.judging, moment, effort, replaced):
        return replaced
    if job.recovered is not None or _has_come(job, min(armed, now), effort):
        missed = job.gap if job.armed > moment.armed else moment.gap
        until = max(job.reached, min(armed, now))  # the clock may have been set back since
        if not _judge_gap(job, _judgement(job, Outage(job.reached, until, missed), now), moment, effort, replaced):
            return replaced
    if frozen is not None:
        if not _judge_each(job, min(frozen.since, now), moment, effort, replaced):  # that was due before
            return replaced
        until = min(frozen.until, now)
        if _has_come(job, until, effort):
            gap = Outage(max(job.reached, frozen.since), until, Reason.DEADLINE)
            at = max(until, now - moment.slack)  # since then it is alive
            judgement = _judgement(job, gap, at, moment.slack)
            if not _judge_gap(job, judgement, moment, effort, replaced):
                return replaced
    _judge_each(job, now, moment, effort, replaced)
    return replaced


def _has_come(job: JobState, until: Instant, effort: Effort) -> bool:
    """Whether a period of a job is to be handled by an instant; no, while it is not known which is the next."""
    coming = job.coming
    if coming is None or not coming.advance(effort):
        return False
    at = coming.next_time()
    return at is not None and at <= until


def _judge_each(
    job: JobState, until: Instant, moment: PlanningContext, effort: Effort, replaced: list[Replacement]
) -> bool:
    """Judge the periods that have come by an instant one by one, as a host does that is alive.

    Return whether there is none left. At least one is judged, if it is known.
    """
    is_active, over = job.is_active, list[ClosedPeriods]()
    while _has_come(job, until, effort):
        assert job.coming is not None
        decision = job.coming.pop(until)
        assert decision is not None, "it has come"
        effort.left -= PERIOD
        job.reached = effective_time(decision)
        match judge(decision, job.work.policy, moment.now, active=is_active, slack=moment.slack):
            case Execute(_, replaces):
                job.queue, is_active, over = (*job.queue, *over), True, []
                acceptance = _acceptance(job, decision, moment.now, moment.slack, moment.slack)
                accepted = RunRequest(RunKind.PERIOD, moment.name(), decision, acceptance=acceptance)
                replaced.append(enqueue(job, accepted, replaces=replaces))
            case Close(outcome, reason):
                over.append(close_period(decision, outcome, reason))
        if effort.is_spent:
            break
    job.queue += tuple(over)
    return job.coming is None or (job.coming.is_known and not _has_come(job, until, effort))


def enqueue(job: JobState, accepted: RunRequest, *, replaces: bool) -> Replacement:
    """Let an execution wait for its turn, and return what has to make room for it."""
    if not replaces:
        job.queue += (accepted,)
        return Replacement()
    making_room = Replacement(tuple(job.active.values()), job.retry_run_ids(), job.unstarted_requests())
    job.retries = ()
    closed = tuple(item for each in job.queue if (item := _give_up(each, accepted.kind)) is not None)
    job.queue = (*closed, accepted._replace(replaces=frozenset(job.active)))
    return making_room


def _acceptance(job: JobState, decision: Decision, at: Instant, used: timedelta, slack: timedelta) -> Acceptance:
    """Return the judgement that a period is executed; `used` is the slack of the judgement, `slack` that of its start.

    Whatever changes later, the deadline under which a period was accepted is its own.
    """
    chosen, deadline = decision.chosen_time, job.work.policy.deadline
    assert chosen is not None, "a period without a chosen second is never executed"
    return Acceptance(at, job.work, used, start_before(chosen, deadline, slack), start_before(chosen, deadline))


def _judgement(job: JobState, gap: Outage, at: Instant, slack: timedelta = ZERO) -> GapJudgement:
    assert job.work.timing is not None
    parts = recover_in_parts(job.work.timing, job.work.policy, gap, at, job.handled)
    return GapJudgement(gap, at, Ongoing(parts), slack)


def _judge_gap(
    job: JobState, judgement: GapJudgement, moment: PlanningContext, effort: Effort, replaced: list[Replacement]
) -> bool:
    """Judge what came while the job could not run: the latest period that is still in time at an instant may.

    Return whether all of it is judged. A crash before that loses nothing: nothing of it is recorded yet.
    """
    assert job.work.timing is not None
    gap = judgement.gap
    found = judgement.outage.advance(effort)
    if found is None:
        job.judging = judgement
        return False
    at, used = moment.now, SECOND * -((judgement.at - moment.now) // SECOND)  # upwards
    if job.recovered is not None:
        found = followed(job.work.timing.schedule, job.recovered, found)
        if found.runs is job.recovered.runs:  # it was judged before the host could start anything
            at, used = gap.since, ZERO
    job.queue += tuple(found.closed_before)
    if found.runs is not None:
        overlap = decide_overlap(job.work.policy.concurrency, active=job.is_active)
        if overlap is OverlapAction.SKIP:
            job.queue += (close_period(found.runs, Outcome.SKIPPED, Reason.ACTIVE.value),)
        else:
            acceptance = _acceptance(job, found.runs, at, used, judgement.slack)
            accepted = RunRequest(RunKind.PERIOD, moment.name(), found.runs, acceptance=acceptance)
            replaced.append(enqueue(job, accepted, replaces=overlap is OverlapAction.REPLACE))
    job.queue += tuple(found.closed_after)
    job.seek(gap.until)
    return True


def _give_up(judged: PendingItem, by: RunKind) -> PendingItem | None:
    """Return the record of a queued item that a newer execution replaces; None if it belongs to no period."""
    if isinstance(judged, ClosedPeriods):
        return judged
    if judged.decision is None:
        return None  # a triggered run has no period to close
    closed = close_period(judged.decision, Outcome.SKIPPED, Reason.SUPERSEDED.value)
    return closed._replace(detail=_ASKED) if by is RunKind.TRIGGER else closed

"""judge_job(job, moment) -> what of a job has come: it is judged in the order of time, and queued to be recorded."""

from collections.abc import Callable
from datetime import timedelta
from typing import NamedTuple

from kron.engine.jobs.execution import Acceptance
from kron.engine.jobs.job import Accepted, GapJudgement, Job, Judged
from kron.instant import SECOND, ZERO, Instant
from kron.rules.coming import effective
from kron.rules.effort import PERIOD, Effort, Ongoing
from kron.rules.freeze import Freeze
from kron.rules.job_record import Kind
from kron.rules.outage import Closing, Gap, close, followed, outage_in_parts
from kron.rules.policy import Concurrency
from kron.rules.verdict import Close, Outcome, Reason, Run, judge

_ASKED = "a run that somebody asked for took its place before it began"


class Moment(NamedTuple):
    """When, and in what surroundings, a job is looked at."""

    now: Instant
    armed: Instant  # since when the host could run anything, without a break
    gap: Reason  # what is missed in the time before that
    slack: timedelta  # how late an armed host may be
    boot: str  # of the machine
    name: Callable[[], str]  # for runs
    frozen: Freeze | None = None  # when the host stood still, if some of that is to be judged yet


class Replaced(NamedTuple):
    """What makes room for a newer execution: runs to end, and not to be tried again, by name; what never begins."""

    runs: tuple[str, ...] = ()
    given_up: tuple[str, ...] = ()
    displaced: tuple[Accepted, ...] = ()


def judge_job(job: Job, moment: Moment, effort: Effort) -> list[Replaced]:
    """Judge every period whose time has come; return what has to make room for what is executed.

    When the effort is spent the rest is left to another step: the job is unfinished, or its next look has come.
    """
    replaced: list[Replaced] = []
    if job.is_suspended:
        return replaced
    if job.coming is None:
        if job.owes_boot(moment.boot):
            accept(job, Accepted(Kind.BOOT, moment.name()), replaces=False)
        return replaced
    now, armed, frozen = moment.now, max(moment.armed, job.armed), moment.frozen
    if frozen is not None and frozen.since < armed:
        armed = max(armed, frozen.until)  # it came back, and the host did not: one time without a run
    if job.judging is not None and not _judge_gap(job, job.judging, moment, effort, replaced):
        return replaced
    if job.recovered is not None or _has_come(job, min(armed, now), effort):
        missed = job.gap if job.armed > moment.armed else moment.gap
        until = max(job.reached, min(armed, now))  # the clock may have been set back since
        if not _judge_gap(job, _judgement(job, Gap(job.reached, until, missed), now), moment, effort, replaced):
            return replaced
    if frozen is not None:
        if not _judge_each(job, min(frozen.since, now), moment, effort, replaced):  # that was due before
            return replaced
        until = min(frozen.until, now)
        if _has_come(job, until, effort):
            gap = Gap(max(job.reached, frozen.since), until, Reason.DEADLINE)
            judgement = _judgement(job, gap, max(until, now - moment.slack))  # since then it is alive
            if not _judge_gap(job, judgement, moment, effort, replaced):
                return replaced
    _judge_each(job, now, moment, effort, replaced)
    return replaced


def _has_come(job: Job, until: Instant, effort: Effort) -> bool:
    """Whether a period of a job is to be handled by an instant; no, while it is not known which is the next."""
    coming = job.coming
    if coming is None or not coming.advance(effort):
        return False
    at = coming.next_instant()
    return at is not None and at <= until


def _judge_each(job: Job, until: Instant, moment: Moment, effort: Effort, replaced: list[Replaced]) -> bool:
    """Judge the periods that have come by an instant one by one, as a host does that is alive.

    Return whether there is none left. At least one is judged, if it is known.
    """
    is_active, over = job.is_active, list[Closing]()
    while _has_come(job, until, effort):
        assert job.coming is not None
        decision = job.coming.take(until)
        assert decision is not None, "it has come"
        effort.left -= PERIOD
        job.reached = effective(decision)
        match judge(decision, job.work.policy, moment.now, active=is_active, slack=moment.slack):
            case Run(_, replaces):
                job.queue, is_active, over = (*job.queue, *over), True, []
                acceptance = Acceptance(moment.now, job.work, moment.slack)
                accepted = Accepted(Kind.PERIOD, moment.name(), decision, acceptance=acceptance)
                replaced.append(accept(job, accepted, replaces=replaces))
            case Close(outcome, reason):
                over.append(close(decision, outcome, reason))
        if effort.is_spent:
            break
    job.queue += tuple(over)
    return job.coming is None or (job.coming.is_known and not _has_come(job, until, effort))


def accept(job: Job, accepted: Accepted, *, replaces: bool) -> Replaced:
    """Let an execution wait for its turn, and return what has to make room for it."""
    if not replaces:
        job.queue += (accepted,)
        return Replaced()
    making_room = Replaced(tuple(job.active), job.failed(), job.asked())
    job.retries = ()
    closed = tuple(item for each in job.queue if (item := _give_up(each, accepted.kind)) is not None)
    job.queue = (*closed, accepted._replace(replaces=frozenset(job.active)))
    return making_room


def _judgement(job: Job, gap: Gap, at: Instant) -> GapJudgement:
    assert job.work.timing is not None
    return GapJudgement(gap, at, Ongoing(outage_in_parts(job.work.timing, job.work.policy, gap, at, job.handled)))


def _judge_gap(job: Job, judgement: GapJudgement, moment: Moment, effort: Effort, replaced: list[Replaced]) -> bool:
    """Judge what came while the job could not run: the latest period that is still in time at an instant may.

    Return whether all of it is judged. A crash before that loses nothing: nothing of it is recorded yet.
    """
    assert job.work.timing is not None
    policy, gap = job.work.policy, judgement.gap
    found = judgement.outage.advance(effort)
    if found is None:
        job.judging = judgement
        return False
    acceptance = Acceptance(moment.now, job.work, SECOND * -((judgement.at - moment.now) // SECOND))  # upwards
    if job.recovered is not None:
        found = followed(job.work.timing.schedule, job.recovered, found)
        if found.latest is job.recovered.latest:  # it was judged before the host could start anything
            acceptance = Acceptance(gap.since, job.work, ZERO)
    job.queue += tuple(found.closings)
    if found.latest is not None:
        if job.is_active and policy.concurrency is Concurrency.FORBID:
            job.queue += (close(found.latest, Outcome.SKIPPED, Reason.ACTIVE.value),)
        else:
            replaces = job.is_active and policy.concurrency is Concurrency.REPLACE
            accepted = Accepted(Kind.PERIOD, moment.name(), found.latest, acceptance=acceptance)
            replaced.append(accept(job, accepted, replaces=replaces))
    job.queue += tuple(found.later)
    job.reach(gap.until)
    return True


def _give_up(judged: Judged, by: Kind) -> Judged | None:
    """Return what becomes of something that waits when a newer execution replaces it."""
    if isinstance(judged, Closing):
        return judged
    if judged.decision is None:
        return None  # somebody asked for it, and now for something else
    closed = close(judged.decision, Outcome.SKIPPED, Reason.SUPERSEDED.value)
    return closed._replace(detail=_ASKED) if by is Kind.TRIGGER else closed

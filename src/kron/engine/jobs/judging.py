"""judge_job(job, moment) -> what of a job has come: it is judged in the order of time, and queued to be recorded."""

from collections.abc import Callable
from datetime import timedelta
from typing import NamedTuple

from kron.engine.jobs.execution import Acceptance
from kron.engine.jobs.job import Accepted, Job, Judged
from kron.instant import SECOND, ZERO, Instant
from kron.rules.coming import effective
from kron.rules.freeze import Freeze
from kron.rules.job_record import Kind
from kron.rules.outage import Closing, Gap, close, followed, outage
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


def judge_job(job: Job, moment: Moment) -> list[Replaced]:
    """Judge every period whose time has come; return what has to make room for what is executed."""
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
    if job.recovered is not None or _has_come(job, min(armed, now)):
        missed = job.gap if job.armed > moment.armed else moment.gap
        until = max(job.reached, min(armed, now))  # the clock may have been set back since
        replaced += _judge_gap(job, Gap(job.reached, until, missed), moment, now)
    if frozen is not None:
        replaced += _judge_each(job, min(frozen.since, now), moment)  # that was due before
        until = min(frozen.until, now)
        if _has_come(job, until):
            gap = Gap(max(job.reached, frozen.since), until, Reason.DEADLINE)
            replaced += _judge_gap(job, gap, moment, max(until, now - moment.slack))  # since then it is alive
    return replaced + _judge_each(job, now, moment)


def _has_come(job: Job, until: Instant) -> bool:
    """Whether a period of a job is to be handled by an instant."""
    coming = None if job.coming is None else job.coming.next_instant()
    return coming is not None and coming <= until


def _judge_each(job: Job, until: Instant, moment: Moment) -> list[Replaced]:
    """Judge the periods that have come by an instant one by one, as a host does that is alive."""
    replaced: list[Replaced] = []
    is_active, over = job.is_active, list[Closing]()
    while job.coming is not None and (decision := job.coming.take(until)) is not None:
        job.reached = effective(decision)
        match judge(decision, job.work.policy, moment.now, active=is_active, slack=moment.slack):
            case Run(_, replaces):
                job.queue, is_active, over = (*job.queue, *over), True, []
                acceptance = Acceptance(moment.now, job.work, moment.slack)
                accepted = Accepted(Kind.PERIOD, moment.name(), decision, acceptance=acceptance)
                replaced.append(accept(job, accepted, replaces=replaces))
            case Close(outcome, reason):
                over.append(close(decision, outcome, reason))
    job.queue += tuple(over)
    return replaced


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


def _judge_gap(job: Job, gap: Gap, moment: Moment, at: Instant) -> list[Replaced]:
    """Judge what came while the job could not run: the latest period that is still in time at an instant may."""
    assert job.work.timing is not None
    policy = job.work.policy
    found = outage(job.work.timing, policy, gap, at, job.handled)
    acceptance = Acceptance(moment.now, job.work, SECOND * -((at - moment.now) // SECOND))  # in whole seconds, upwards
    if job.recovered is not None:
        found = followed(job.work.timing.schedule, job.recovered, found)
        if found.latest is job.recovered.latest:  # it was judged before the host could start anything
            acceptance = Acceptance(gap.since, job.work, ZERO)
    job.queue += tuple(found.closings)
    replaced: list[Replaced] = []
    if found.latest is not None:
        if job.is_active and policy.concurrency is Concurrency.FORBID:
            job.queue += (close(found.latest, Outcome.SKIPPED, Reason.ACTIVE.value),)
        else:
            replaces = job.is_active and policy.concurrency is Concurrency.REPLACE
            accepted = Accepted(Kind.PERIOD, moment.name(), found.latest, acceptance=acceptance)
            replaced.append(accept(job, accepted, replaces=replaces))
    job.queue += tuple(found.later)
    job.reach(gap.until)
    return replaced


def _give_up(judged: Judged, by: Kind) -> Judged | None:
    """Return what becomes of something that waits when a newer execution replaces it."""
    if isinstance(judged, Closing):
        return judged
    if judged.decision is None:
        return None  # somebody asked for it, and now for something else
    closed = close(judged.decision, Outcome.SKIPPED, Reason.SUPERSEDED.value)
    return closed._replace(detail=_ASKED) if by is Kind.TRIGGER else closed

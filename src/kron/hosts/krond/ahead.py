"""What comes of a job, for whoever looks; looking does not disturb it, also from another thread."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from heapq import merge, nlargest
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from kron.decision.decision import Decision
from kron.engine.jobs.job import Job
from kron.instant import SECOND, Instant, format_instant
from kron.rules.clock_ahead import ahead_text
from kron.rules.coming import Coming, effective

_LOOKED_AT = 1_000  # periods without a second, of all jobs: constraints may leave a job without a run for ever
_NAMED = 100  # jobs that a status names
# With a clock that is right, a window around a nominal time may have let a period be handled so much before it, or as
# much as the present window: that of an earlier definition is not known.
_EARLY = timedelta(days=1)


def decisions_of(job: Job, now: Instant) -> Iterator[tuple[Instant, Decision, Job]]:
    """Yield what comes of a job, in the order of time; of one that is suspended only what lies in the future."""
    if job.work.timing is None:
        return
    coming = Coming(job.work.timing, max(job.reached, now) if job.is_suspended else job.reached, job.handled)
    while (at := coming.next_instant()) is not None:
        decision = coming.take(at)
        assert decision is not None
        yield effective(decision), decision, job


class First(NamedTuple):
    """A job and its first period, as far as the loop knows it without deciding anything."""

    job: Job
    is_known: bool
    decision: Decision | None = None

    def find(self, now: Instant) -> Decision | None:
        """Return its first period; if it is not known that takes long where windows overlap, and is for a thread."""
        if self.is_known:
            return self.decision
        return next((decision for _, decision, _ in decisions_of(self.job, now)), None)


def firsts(jobs: Iterable[Job]) -> list[First]:
    """Return the first period of each job. Only the loop may ask: it takes what comes from the jobs themselves."""
    return [_first(job) for job in jobs]


def _first(job: Job) -> First:
    if job.coming is None:
        return First(job, is_known=True)
    if job.is_suspended or not job.coming.is_known:
        return First(job, is_known=False)
    return First(job, is_known=True, decision=job.coming.first())


def next_run(found: Iterable[First], now: Instant) -> Decision | None:
    """Return the decision of the next run of all jobs that are not suspended, None if there is none within reach."""
    best: Decision | None = None
    without: list[Job] = []  # jobs whose first period has no second
    for each in found:
        job = each.job
        if job.is_suspended or (first := each.find(now)) is None:
            continue
        if first.chosen_time is None:
            without.append(job)
        elif best is None or first.chosen_time < effective(best):
            best = first
    later = merge(*(decisions_of(job, now) for job in without), key=itemgetter(0))
    for at, decision, _ in islice(later, _LOOKED_AT):
        if best is not None and at >= effective(best):
            break
        if decision.chosen_time is not None:
            return decision
    return best


# --- a clock that was ahead -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClockAhead:
    """Jobs whose periods were handled while the clock was ahead: how many, the latest instant, and the latest jobs."""

    count: int
    until: Instant
    jobs: Sequence[tuple[str, Instant]]  # identity and instant, at most `_NAMED`

    def to_dict(self) -> dict[str, object]:
        """Return it as JSON holds it."""
        jobs = [{"identity": identity, "until": format_instant(until)} for identity, until in self.jobs]
        text = ahead_text(self.until)
        return {"count": self.count, "until": format_instant(self.until), "detail": text, "jobs": jobs}


def clock_ahead(jobs: Iterable[Job], now: Instant) -> ClockAhead | None:
    """Return which jobs wait because the clock was ahead, None if none does."""
    found = [(job.record.identity, until) for job in jobs if (until := ahead_until(job, now)) is not None]
    if not found:
        return None
    latest = nlargest(_NAMED, found, key=itemgetter(1))
    return ClockAhead(len(found), latest[0][1], latest)


def ahead_until(job: Job, now: Instant) -> Instant | None:
    """Return until when periods of a job that have not come yet are handled, None if they are not."""
    if job.work.timing is None:
        return None
    if job.record.served > now:
        return job.record.served.replace(microsecond=0)
    latest = job.handled.latest()  # by an earlier definition: this one has served nothing of them
    if latest is None or latest - now <= max(_EARLY, -SECOND * job.work.timing.terms.first):
        return None
    following = Coming(job.work.timing, now).first()
    return latest if following is not None and job.handled.has(following.nominal_time) else None

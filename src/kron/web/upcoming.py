"""Upcoming decisions of jobs, readable from any thread without changing them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from heapq import heapify, heappop, heappush, merge, nlargest
from itertools import islice
from operator import itemgetter
from typing import TypeAlias

from kron.decision.decision import Decision
from kron.engine.jobs.job_state import JobState
from kron.instant import SECOND, Instant, format_instant
from kron.rules.evidence import ahead_text
from kron.rules.periods import PeriodQueue, effective_time

_LOOKED_AT = 1_000  # periods without a second, of all jobs: constraints may leave a job without a run for ever
_NAMED = 100  # jobs that a status names
# With a clock that is right, a window around a nominal time may have let a period be handled so much before it, or as
# much as the present window: that of an earlier definition is not known.
_EARLY = timedelta(days=1)

_Dated: TypeAlias = tuple[Instant, Decision, JobState]


def first_of(job: JobState, now: Instant) -> Decision | None:
    """Return the next period of a job; of a suspended one, the first in the future."""
    own = None if job.is_suspended else job.coming  # the loop alone takes from it
    if own is not None and (first := own.peek()) is not None:
        return first
    coming = _coming_of(job, now)
    return None if coming is None else coming.first()


def _coming_of(job: JobState, now: Instant) -> PeriodQueue | None:
    if job.work.timing is None:
        return None
    return PeriodQueue(job.work.timing, max(job.reached, now) if job.is_suspended else job.reached, job.handled)


def decisions_of(job: JobState, now: Instant) -> Iterator[_Dated]:
    """Yield the upcoming decisions of a job, in the order of time."""
    coming = _coming_of(job, now)
    while coming is not None and (at := coming.next_time()) is not None:
        decision = coming.pop(at)
        assert decision is not None
        yield effective_time(decision), decision, job


def next_decisions(jobs: Iterable[JobState], now: Instant, count: int) -> Iterator[tuple[Decision, JobState] | None]:
    """Yield the first decisions of all jobs together, in the order of time; None after each part of the work."""
    due: list[tuple[Instant, int, _Dated | None]] = []  # None: its later decisions are not needed yet
    streams: dict[int, Iterator[_Dated]] = {}
    for number, job in enumerate(jobs):
        if (first := first_of(job, now)) is not None:
            due.append((effective_time(first), number, None))
            streams[number] = decisions_of(job, now)
        yield None
    heapify(due)
    while due and count:
        at, number, found = heappop(due)
        found = next(streams[number], None) if found is None else found
        if found is None or found[0] > at:  # the loop has handled what was the first
            if found is not None:
                heappush(due, (found[0], number, found))
            yield None
            continue
        if (following := next(streams[number], None)) is not None:
            heappush(due, (following[0], number, following))
        count -= 1
        yield found[1:]


def next_run(jobs: Iterable[JobState], now: Instant) -> Decision | None:
    """Return the decision of the next run of all jobs that are not suspended, None if there is none."""
    best: Decision | None = None
    without: list[JobState] = []  # jobs whose first period has no second
    for job in jobs:
        if job.is_suspended or (first := first_of(job, now)) is None:
            continue
        if first.chosen_time is None:
            without.append(job)
        elif best is None or first.chosen_time < effective_time(best):
            best = first
    later = merge(*(decisions_of(job, now) for job in without), key=itemgetter(0))
    for at, decision, _ in islice(later, _LOOKED_AT):
        if best is not None and at >= effective_time(best):
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


def clock_ahead(jobs: Iterable[JobState], now: Instant) -> ClockAhead | None:
    """Return which jobs wait because the clock was ahead, None if none does."""
    found = [(job.record.identity, until) for job in jobs if (until := ahead_until(job, now)) is not None]
    if not found:
        return None
    latest = nlargest(_NAMED, found, key=itemgetter(1))
    return ClockAhead(len(found), latest[0][1], latest)


def ahead_until(job: JobState, now: Instant) -> Instant | None:
    """Return until when periods of a job that have not come yet are handled, None if they are not."""
    if job.work.timing is None:
        return None
    if job.record.handled_until > now:
        return job.record.handled_until.replace(microsecond=0)
    latest = job.handled.latest()  # by an earlier definition: this one has served nothing of them
    if latest is None or latest - now <= max(_EARLY, -SECOND * job.work.timing.terms.first):
        return None
    following = PeriodQueue(job.work.timing, now).first()
    return latest if following is not None and job.handled.has(following.nominal_time) else None

"""recover(timing, policy, outage, …) -> Recovery: what happens to the periods of a time without runs. Also freezes.

At most one of them is executed, the latest that is still within its deadline. Neighbours with the same outcome are one
closing, however many they are: no unbounded replay, and no unbounded bookkeeping.

The cost does not grow with the gap. Where a whole window lies in the gap and on one side of the deadline, the outcome
is known without the second that is chosen, and such periods are counted. Decided one by one are those whose window
reaches over an end of the gap or over the deadline, and those that constraints may leave without a time. They may be
thousands: `recover_in_parts` is the same calculation for a loop that has other things to do.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import timedelta
from itertools import chain
from typing import NamedTuple

from kron.cron.schedule import Schedule
from kron.decision.decide import decide
from kron.decision.decision import Decision
from kron.decision.timing import Timing
from kron.errors import CronCalculationError
from kron.instant import MICROSECOND, SECOND, ZERO, Instant
from kron.rules.effort import PERIOD, Parts, finish, work_of
from kron.rules.periods import NO_PERIODS, HandledPeriods, effective_time
from kron.rules.policy import Policy
from kron.rules.verdict import Outcome, Reason, is_late, late_until

MOST_DECIDED = 10_000  # periods between the ends of a gap that are decided one by one: older ones share an outcome
_CLOSEST = timedelta(minutes=1)  # of two nominal times


class Outage(NamedTuple):
    """A time in which a job could not run: what came until `since` was handled before, at `until` the job is back."""

    since: Instant
    until: Instant
    reason: Reason  # of what was missed in it


class ClosedPeriods(NamedTuple):
    """One or more neighbouring periods that are over without an execution.

    Neighbours follow each other by nominal time, so that all that lies between the first and the last is of them, even
    if windows overlap and effective times come in another order.
    """

    first: Decision
    last: Decision
    period_count: int
    outcome: Outcome
    reason: str
    last_effective: Instant  # no effective time of them is later
    detail: str = ""  # where the reason alone would say something else


class Recovery(NamedTuple):
    """In the order of time: what is over, the one period that may still run, and what is over that comes after it."""

    closed_before: list[ClosedPeriods]
    runs: Decision | None
    closed_after: list[ClosedPeriods]


def recover(
    timing: Timing, policy: Policy, gap: Outage, now: Instant, handled: HandledPeriods = NO_PERIODS
) -> Recovery:
    """Return what becomes of the periods of a gap, but for those that have their outcome already."""
    return finish(recover_in_parts(timing, policy, gap, now, handled))


def recover_in_parts(
    timing: Timing, policy: Policy, gap: Outage, now: Instant, handled: HandledPeriods = NO_PERIODS
) -> Parts[Recovery]:
    """Return the same, part by part."""
    handled = handled.under(timing.schedule)
    yield PERIOD
    parts = yield from _spans(timing, policy, gap, now)
    over: list[ClosedPeriods] = []
    in_time: list[Decision] = []
    between = timing.schedule.between
    for nominal in chain(between(*parts.early), parts.decided, between(*parts.late)):  # their outcome depends on it
        if handled.has(nominal):
            yield PERIOD
            continue
        decision = decide(timing, nominal)
        yield work_of(decision)
        if not gap.since < effective_time(decision) <= gap.until:
            continue
        if decision.chosen_time is None:
            over.append(close_period(decision, Outcome.UNSCHEDULABLE, decision.reason or ""))
        elif is_late(decision.chosen_time, now, policy.deadline):  # downtime gets no slack
            over.append(close_period(decision, Outcome.MISSED, gap.reason.value))
        else:
            in_time.append(decision)
    latest = max(in_time, key=_order, default=None)
    if not timing.terms.constraints:  # else the newest ones were decided, and older ones share an outcome
        latest = yield from _latest(timing, handled.apart(*parts.in_time), latest)
    missed = yield from _ranges(timing, parts.missed, handled, latest, (Outcome.MISSED, gap.reason))
    schedule = timing.schedule
    if latest is None:  # so nothing has superseded what constraints may have left without a time
        missed += yield from _ranges(timing, parts.in_time, handled, latest, (Outcome.MISSED, gap.reason))
        return Recovery((yield from merge_adjacent_in_parts(schedule, over + missed)), None, [])
    superseded = yield from _ranges(timing, parts.in_time, handled, latest, (Outcome.SKIPPED, Reason.SUPERSEDED))
    superseded += [
        close_period(each, Outcome.SKIPPED, Reason.SUPERSEDED.value) for each in in_time if each is not latest
    ]
    before = [each for each in over if _order(each.first) < _order(latest)]
    later = [each for each in over if _order(each.first) > _order(latest)]
    closings = yield from merge_adjacent_in_parts(schedule, before + missed + superseded)
    return Recovery(closings, latest, (yield from merge_adjacent_in_parts(schedule, later)))


def followed(schedule: Schedule, before: Recovery, after: Recovery) -> Recovery:
    """Return what becomes of the periods of a gap that was judged in two parts, the later one after the earlier."""
    if before.runs is None:
        return after._replace(closed_before=merge_adjacent(schedule, before.closed_before + after.closed_before))
    if after.runs is None:
        return before._replace(closed_after=merge_adjacent(schedule, before.closed_after + after.closed_before))
    superseded = close_period(before.runs, Outcome.SKIPPED, Reason.SUPERSEDED.value)
    closings = merge_adjacent(schedule, [*before.closed_before, superseded, *before.closed_after, *after.closed_before])
    return after._replace(closed_before=closings)


def cost_of(timing: Timing, since: Instant, until: Instant) -> int:
    """Return about how many decisions an outage from one instant to another takes, none if they are few."""
    terms, schedule = timing.terms, timing.schedule
    if (until - since + SECOND * terms.width) // _CLOSEST < MOST_DECIDED // 10:
        return 0
    inside = schedule.count(since - SECOND * terms.first, until - SECOND * terms.last) if terms.constraints else 0
    at_an_end = schedule.count(until - SECOND * terms.last, until - SECOND * terms.first)
    return min(inside, MOST_DECIDED) + 2 * at_an_end


def merge_adjacent(schedule: Schedule, closings: Iterable[ClosedPeriods]) -> list[ClosedPeriods]:
    """Return the closings in the order of time, neighbours with the same outcome and reason as one."""
    return finish(merge_adjacent_in_parts(schedule, closings))


def merge_adjacent_in_parts(schedule: Schedule, closings: Iterable[ClosedPeriods]) -> Parts[list[ClosedPeriods]]:
    """Return the same, part by part."""
    joined: list[ClosedPeriods] = []
    for closing in sorted(closings, key=lambda each: each.first.nominal_time):
        yield PERIOD
        before = joined[-1] if joined else None
        if before is not None and _are_neighbours(schedule, before, closing):
            number, reached = (
                before.period_count + closing.period_count,
                max(before.last_effective, closing.last_effective),
            )
            joined[-1] = before._replace(last=closing.last, period_count=number, last_effective=reached)
        else:
            joined.append(closing)
    return sorted(joined, key=lambda each: (each.last_effective, each.last.nominal_time))


def _are_neighbours(schedule: Schedule, before: ClosedPeriods, after: ClosedPeriods) -> bool:
    if (before.outcome, before.reason) != (after.outcome, after.reason):
        return False
    return schedule.next(before.last.nominal_time) == after.first.nominal_time


def close_period(decision: Decision, outcome: Outcome, reason: str) -> ClosedPeriods:
    """Return the closing of one period."""
    return ClosedPeriods(decision, decision, 1, outcome, reason, effective_time(decision))


class _Span(NamedTuple):
    """Nominal times after the one, up to and including the other."""

    after: Instant
    until: Instant


class _Spans(NamedTuple):
    """The nominal times whose periods may fall into a gap, by how their outcome is found."""

    early: _Span  # windows that begin in the time before the gap
    missed: _Span  # missed whatever second would have been chosen
    decided: list[Instant]  # one by one, because of the deadline or of constraints
    in_time: _Span  # within their deadline whatever second is chosen
    late: _Span  # windows that end in the time after the gap


def _spans(timing: Timing, policy: Policy, gap: Outage, now: Instant) -> Parts[_Spans]:
    first, last = SECOND * timing.terms.first, SECOND * timing.terms.last
    begin, end = gap.since - first, gap.until - last
    early, late = _Span(gap.since - last, begin), _Span(max(begin, end), gap.until - first)
    end = max(begin, end)
    missed = unclear = begin
    expired = late_until(now, policy.deadline)
    if expired is not None:
        with suppress(OverflowError):  # the calendar begins
            missed, unclear = (min(max(begin, expired - side), end) for side in (last, first))
    if not timing.terms.constraints:
        decided = yield from _newest(timing.schedule, _Span(missed, unclear))
        oldest = decided[0] - MICROSECOND if len(decided) == MOST_DECIDED else missed
        return _Spans(early, _Span(begin, oldest), decided, _Span(unclear, end), late)
    decided = yield from _newest(timing.schedule, _Span(begin, end))
    oldest = decided[0] - MICROSECOND if len(decided) == MOST_DECIDED else begin
    return _Spans(early, _Span(begin, min(unclear, oldest)), decided, _Span(unclear, max(unclear, oldest)), late)


def _ranges(
    timing: Timing, span: _Span, handled: HandledPeriods, latest: Decision | None, how: tuple[Outcome, Reason]
) -> Parts[list[ClosedPeriods]]:
    """Return the closings of a span, as many as handled periods and the one that may run leave of it."""
    schedule, (outcome, reason) = timing.schedule, how
    found = []
    for after, until in handled.apart(*span):
        pieces = [(after, until)]
        if latest is not None and after < latest.nominal_time <= until:
            pieces = [(after, latest.nominal_time - MICROSECOND), (latest.nominal_time, until)]
        for piece in pieces:
            yield PERIOD
            if (number := schedule.count(*piece)) > 0:
                first, last = decide(timing, schedule.next(piece[0])), decide(timing, schedule.previous(piece[1]))
                yield work_of(first) + work_of(last)
                reached = yield from _reached(timing, piece, last, latest)
                found.append(ClosedPeriods(first, last, number, outcome, reason.value, reached))
    return found


def _reached(timing: Timing, piece: tuple[Instant, Instant], last: Decision, latest: Decision | None) -> Parts[Instant]:
    """Return the latest effective time of a range; where constraints hide it, one that none of them exceeds."""
    if not timing.terms.constraints:
        found = yield from _latest(timing, [piece], None)
        assert found is not None, "there are some"
        return effective_time(found)
    return last.window_end if latest is None else min(last.window_end, effective_time(latest))


def _latest(timing: Timing, spans: Iterable[tuple[Instant, Instant]], known: Decision | None) -> Parts[Decision | None]:
    """Return the latest of the periods of these spans and of the one that is known.

    The newest ones are decided, until no window of an older one reaches beyond what was found.
    """
    last, latest = SECOND * timing.terms.last, known
    for after, until in sorted(spans, reverse=True):
        for nominal in _newest_first(timing.schedule, _Span(after, until)):
            if latest is not None and (nominal + last, nominal) < _order(latest):
                break
            decision = decide(timing, nominal)
            yield work_of(decision)
            latest = decision if latest is None or _order(decision) > _order(latest) else latest
    return latest


def _newest(schedule: Schedule, span: _Span) -> Parts[list[Instant]]:
    """Return the newest nominal times of a span, as many as are decided one by one, in their order."""
    found: list[Instant] = []
    for nominal in _newest_first(schedule, span):
        found.append(nominal)
        yield PERIOD
        if len(found) == MOST_DECIDED:
            break
    return found[::-1]


def _newest_first(schedule: Schedule, span: _Span) -> Iterator[Instant]:
    at = span.until
    while at > span.after:
        try:
            at = schedule.previous(at)
        except CronCalculationError:  # the calendar begins
            return
        if at <= span.after:
            return
        yield at
        at -= MICROSECOND


def _order(decision: Decision) -> tuple[Instant, Instant]:
    return effective_time(decision), decision.nominal_time


# --- a freeze ---------------------------------------------------------------------------------------------------------

# A wake-up that is later than planned by more than the slack is a freeze (SIGSTOP, a paused machine): what was chosen
# in it is judged as after downtime. A shorter delay is a stall: slack applies. A host that waits for its ledger is
# alive.


class LedgerWait(NamedTuple):
    """A wait for the ledger, and for how long of it the process did not run: that part was no waiting."""

    began: Instant
    ended: Instant
    stood_still: timedelta = ZERO

    def after(self, at: Instant) -> timedelta:
        """Return how long it was waited after an instant."""
        return max(ZERO, self.ended - max(self.began, at) - self.stood_still)


class Plan(NamedTuple):
    """When the loop is to wake up, and the last instant at which it took up what was due."""

    at: Instant
    taken: Instant

    @property
    def begins(self) -> Instant:
        """When the wake-up is due: if something was left over, at once."""
        return max(self.at, self.taken)


class Freeze(NamedTuple):
    """A time in which a host stood still: what was chosen after `since` and not after `until` came in it."""

    since: Instant
    until: Instant


def delay(plan: Plan, now: Instant, waits: Iterable[LedgerWait] = ()) -> timedelta:
    """Return how much later than planned a wake-up is, without the time that was spent waiting for the ledger."""
    due = plan.begins
    return max(ZERO, sum((ZERO - wait.after(due) for wait in waits), now - due))


def freeze(plan: Plan, now: Instant, late: timedelta, slack: timedelta) -> Freeze | None:
    """Return the freeze that a wake-up ends, None if it is in time, or late by no more than the slack.

    What is chosen for the planned instant itself is part of it; what was due before is not.
    """
    if late <= slack:
        return None
    return Freeze(max(plan.taken, plan.begins - MICROSECOND), now)


def outstanding(before: Freeze | None, new: Freeze | None, first: Instant | None, now: Instant) -> Freeze | None:
    """Return the freeze by which periods are to be judged, `first` being the next instant that concerns a job.

    A step takes up some jobs, not all, so that a freeze is remembered until nothing of it is left. If another one comes
    before that, both are one. A clock that is set back shows some of its instants again: those are not of it.
    """
    if before is None or first is None or first > min(before.until, now):
        return new
    if new is not None:
        return Freeze(min(before.since, new.since), new.until)
    return before._replace(until=min(before.until, now))

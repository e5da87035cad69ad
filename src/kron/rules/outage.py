"""outage(timing, policy, gap) -> what becomes of the periods that fell into a time in which a job could not run.

At most one of them is executed, the latest that is still within its deadline. Neighbours with the same outcome are one
closing, however many they are: no unbounded replay, and no unbounded bookkeeping.
"""

from collections import deque
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from kron.cron.schedule import Schedule
from kron.decision.decide import decide
from kron.decision.decision import Decision
from kron.decision.timing import Timing
from kron.instant import SECOND, Instant
from kron.rules.coming import effective
from kron.rules.handled import NONE, Handled
from kron.rules.policy import Policy
from kron.rules.verdict import Outcome, Reason, lateness

_FEW = 1_000  # periods that are decided one by one even if all of them are missed
_DECIDED = 10_000  # the same of periods that constraints may leave without a time: older ones count as missed


class Gap(NamedTuple):
    """A time in which a job could not run: what came until `since` was handled before, at `until` the job is back."""

    since: Instant
    until: Instant
    reason: Reason  # of what was missed in it


class Closing(NamedTuple):
    """One or more neighbouring periods that are over without an execution.

    Neighbours follow each other by nominal time, so that all that lies between the first and the last is of them, even
    if windows overlap and effective times come in another order.
    """

    first: Decision
    last: Decision
    number: int
    outcome: Outcome
    reason: str
    reached: Instant  # no effective time of them is later
    detail: str = ""  # where the reason alone would say something else


class Outage(NamedTuple):
    """In the order of time: what is over, the one period that may still run, and what is over that comes after it."""

    closings: list[Closing]
    latest: Decision | None
    later: list[Closing]


def outage(timing: Timing, policy: Policy, gap: Gap, now: Instant, handled: Handled = NONE) -> Outage:
    """Return what becomes of the periods of a gap, but for those that have their outcome already."""
    closings: list[Closing] = []
    eligible: list[Decision] = []
    ancient = _ancient(timing, policy, gap, now, handled)
    for decision in _one_by_one(timing, gap, handled, ancient):
        if decision.chosen_time is None:
            closings.append(close(decision, Outcome.UNSCHEDULABLE, decision.reason or ""))
        elif SECOND * lateness(decision.chosen_time, now) > policy.deadline:  # downtime gets no slack
            closings.append(close(decision, Outcome.MISSED, gap.reason.value))
        else:
            eligible.append(decision)
    if ancient is not None:
        closings.append(Closing(*ancient, Outcome.MISSED, gap.reason.value, ancient.last.window_end))
    closings += [close(decision, Outcome.SKIPPED, Reason.SUPERSEDED.value) for decision in eligible[:-1]]
    schedule = timing.schedule
    if not eligible:
        return Outage(join(schedule, closings), None, [])
    latest = eligible[-1]
    before = [each for each in closings if _order(each.first) < _order(latest)]
    return Outage(join(schedule, before), latest, join(schedule, (each for each in closings if each not in before)))


def join(schedule: Schedule, closings: Iterable[Closing]) -> list[Closing]:
    """Return the closings in the order of time, neighbours with the same outcome and reason as one."""
    joined: list[Closing] = []
    for closing in sorted(closings, key=lambda each: each.first.nominal_time):
        before = joined[-1] if joined else None
        if before is not None and _are_neighbours(schedule, before, closing):
            number, reached = before.number + closing.number, max(before.reached, closing.reached)
            joined[-1] = before._replace(last=closing.last, number=number, reached=reached)
        else:
            joined.append(closing)
    return sorted(joined, key=lambda each: (each.reached, each.last.nominal_time))


def _are_neighbours(schedule: Schedule, before: Closing, after: Closing) -> bool:
    if (before.outcome, before.reason) != (after.outcome, after.reason):
        return False
    return schedule.next(before.last.nominal_time) == after.first.nominal_time


def close(decision: Decision, outcome: Outcome, reason: str) -> Closing:
    """Return the closing of one period."""
    return Closing(decision, decision, 1, outcome, reason, effective(decision))


class _Ancient(NamedTuple):
    first: Decision
    last: Decision
    number: int


def _ancient(timing: Timing, policy: Policy, gap: Gap, now: Instant, handled: Handled) -> _Ancient | None:
    """Return those that are missed whatever second would have been chosen, None if they are few."""
    terms = timing.terms
    after = gap.since - SECOND * terms.first  # windows that begin later are wholly in the gap
    if (latest := handled.latest()) is not None:
        after = max(after, latest)
    try:
        until = min(gap.until, now - policy.deadline - SECOND) - SECOND * (terms.last + 1)
    except OverflowError:  # so long a deadline never passes
        return None
    if until <= after:
        return None
    count, first, newest = _nominals(timing.schedule, after, until)
    decided = _DECIDED if terms.constraints else _FEW
    if count <= decided or first is None:
        return None
    if not terms.constraints:
        return _Ancient(decide(timing, first), decide(timing, newest[-1]), count)
    return _Ancient(decide(timing, first), decide(timing, newest[0]), count - len(newest) + 1)


@lru_cache(maxsize=64)  # many jobs share a schedule, and all of them an outage
def _nominals(schedule: Schedule, after: Instant, until: Instant) -> tuple[int, Instant | None, tuple[Instant, ...]]:
    """Return how many nominal times there are, the first, and the newest ones."""
    count, first = 0, None
    newest: deque[Instant] = deque(maxlen=_DECIDED)
    for nominal in schedule.between(after, until):
        count, first = count + 1, first or nominal
        newest.append(nominal)
    return count, first, tuple(newest)


def _one_by_one(timing: Timing, gap: Gap, handled: Handled, ancient: _Ancient | None) -> list[Decision]:
    """Return the periods of a gap in the order of their effective times, but for the ancient ones."""
    terms, between = timing.terms, timing.schedule.between
    after, until = gap.since - SECOND * terms.last, gap.until - SECOND * terms.first
    if ancient is None:
        nominals = between(after, until)
    else:
        begin, end = ancient.first.nominal_time, ancient.last.nominal_time
        nominals = chain(between(after, begin - SECOND), between(end, until))
    decisions = (decide(timing, nominal) for nominal in nominals if not handled.has(nominal))
    return sorted((decision for decision in decisions if gap.since < effective(decision) <= gap.until), key=_order)


def _order(decision: Decision) -> tuple[Instant, Instant]:
    return effective(decision), decision.nominal_time

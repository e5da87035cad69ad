"""redefine(old, new, policy, gap) -> the periods that a change of the definition closes.

The new definition owns every unhandled period whose chosen time, by itself, lies after the change. What had begun under
the old one and is not run by the new one is over. Nothing runs because of a change.
"""

from datetime import UTC, datetime

from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.errors import CronCalculationError
from kron.instant import MICROSECOND, SECOND, Instant
from kron.rules.coming import effective
from kron.rules.effort import PERIOD, Parts, finish, work_of
from kron.rules.handled import NONE, Handled
from kron.rules.outage import Closing, Gap, close, join_in_parts, outage_in_parts
from kron.rules.policy import Policy
from kron.rules.verdict import Outcome, Reason

_NEVER = datetime.max.replace(tzinfo=UTC)
_CHANGED = Reason.DEFINITION_CHANGED.value


def redefine(old: Timing, new: Timing | None, policy: Policy, gap: Gap, handled: Handled = NONE) -> list[Closing]:
    """Return what is closed by a change at the end of the gap; everything until its beginning was handled before.

    `new` is None for a job that is removed.
    """
    return finish(redefine_in_parts(old, new, policy, gap, handled))


def redefine_in_parts(
    old: Timing, new: Timing | None, policy: Policy, gap: Gap, handled: Handled = NONE
) -> Parts[list[Closing]]:
    """Return the same, part by part."""
    terms = old.terms
    if _next(old, gap.since - SECOND * terms.last - MICROSECOND) > gap.until - SECOND * terms.first:
        return []  # nothing had begun: so it is with nearly all jobs when a file is read anew
    owned = yield from _owned(old, new, gap.until)
    kept = Handled((*handled.under(old.schedule).spans, *((nominal, nominal) for nominal in owned)))
    past = yield from outage_in_parts(old, policy, gap, gap.until, kept)
    closings = [
        closing._replace(reason=_CHANGED) if closing.outcome is Outcome.SKIPPED else closing
        for closing in past.closings + past.later
    ]
    open_ones = [past.latest] if past.latest is not None else []
    first, last = gap.until - SECOND * terms.last - MICROSECOND, gap.until - SECOND * terms.first
    for nominal in old.schedule.between(first, last):
        if kept.has(nominal):
            yield PERIOD
            continue
        decision = decide(old, nominal)
        yield work_of(decision)
        open_ones += [decision] if effective(decision) > gap.until else []
    closings += [close(each, Outcome.SKIPPED, _CHANGED) for each in open_ones]
    return (yield from join_in_parts(old.schedule, closings))


def owns(timing: Timing, nominal: Instant, since: Instant) -> bool:
    """Whether a definition that counts from an instant has a period, and runs it after that."""
    return nominal in timing.schedule.between(nominal - MICROSECOND, nominal) and _is_after(timing, nominal, since)


def _is_after(timing: Timing, nominal: Instant, since: Instant) -> bool:
    return effective(decide(timing, nominal)) > since


def _next(timing: Timing, after: Instant) -> Instant:
    try:
        return timing.schedule.next(after)
    except CronCalculationError:  # the calendar ends
        return _NEVER


def _owned(old: Timing, new: Timing | None, at: Instant) -> Parts[set[Instant]]:
    """Return the nominal times of periods that had begun under the old definition, and that the new one may run."""
    if new is None:
        return set()
    owned = set[Instant]()
    first, last = at - SECOND * new.terms.last - MICROSECOND, at - SECOND * min(old.terms.first, new.terms.first)
    for nominal in new.schedule.between(first, last):
        decision = decide(new, nominal)
        yield work_of(decision)
        if effective(decision) > at:
            owned.add(nominal)
    return owned

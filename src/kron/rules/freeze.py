"""delay(planned, now, waits) -> how late a wake-up is; freeze(…) -> Freeze | None: whether the host stood still.

A wake-up that is later than planned by more than the slack is a freeze (SIGSTOP, a paused machine): what was chosen in
it is judged as after downtime. A shorter delay is a stall: slack applies. A host that waits for its ledger is alive.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import NamedTuple

from kron.instant import MICROSECOND, ZERO, Instant


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

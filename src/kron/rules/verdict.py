"""What happens to one period now: `judge`, and the only place where lateness and overlap are decided.

Lateness counts in whole seconds after the chosen time: a busy millisecond is not late.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import TypeAlias

from kron.decision.decision import Decision
from kron.instant import MICROSECOND, SECOND, ZERO, Instant, shift
from kron.rules.policy import Concurrency, Policy


class Outcome(Enum):
    """The terminal outcomes of a period: one each, for ever."""

    EXECUTED = "executed"
    SKIPPED = "skipped"
    MISSED = "missed"
    UNSCHEDULABLE = "unschedulable"


class Reason(Enum):
    """Why a period was skipped or missed; an unschedulable one has the reason of its decision."""

    ACTIVE = "active"  # forbid, and an execution is active
    SUPERSEDED = "superseded"  # after downtime a later period runs instead
    DEFINITION_CHANGED = "definition changed"
    DEADLINE = "deadline"  # late while the host was alive
    DOWNTIME = "downtime"  # the host was not armed


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing is to be done before an instant; None: until something other than time changes."""

    until: Instant | None


@dataclass(frozen=True, slots=True)
class Execute:
    """The period is executed, so many seconds late; the active execution is terminated first if it `replaces` one."""

    lateness: int
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class Close:
    """The period reaches a terminal outcome without an execution."""

    outcome: Outcome
    reason: str


Verdict: TypeAlias = Wait | Execute | Close


def lateness(chosen: Instant, now: Instant) -> int:
    """Return how many whole seconds after its chosen time a period starts."""
    return (now.replace(microsecond=0) - chosen) // SECOND


def start_before(chosen: Instant, deadline: timedelta, slack: timedelta = ZERO) -> Instant:
    """Return the first instant at which a start is too late.

    `slack` is what a host adds to the deadline if it was alive and armed before the chosen time; downtime and
    suspension get none.
    """
    return shift(chosen, SECOND * ((deadline + slack) // SECOND + 1))


def is_late(chosen: Instant, now: Instant, deadline: timedelta, slack: timedelta = ZERO) -> bool:
    """Return whether a period is too late to start now."""
    return now >= start_before(chosen, deadline, slack)


def late_until(now: Instant, deadline: timedelta) -> Instant | None:
    """Return the last chosen time that is too late to start now, without slack; None: no chosen time is."""
    try:
        return now.replace(microsecond=0) - deadline - MICROSECOND
    except OverflowError:  # so long a deadline never passes
        return None


class OverlapAction(Enum):
    """What an execution does that is due while another one of its job is active."""

    START = "start"  # none is active, or they may overlap
    SKIP = "skip"
    REPLACE = "replace"  # the active one is terminated first


_OVERLAPS = {
    Concurrency.ALLOW: OverlapAction.START,
    Concurrency.FORBID: OverlapAction.SKIP,
    Concurrency.REPLACE: OverlapAction.REPLACE,
}


def decide_overlap(concurrency: Concurrency, *, active: bool) -> OverlapAction:
    """Return what a due execution does; `active`: an execution of the job has not ended."""
    return _OVERLAPS[concurrency] if active else OverlapAction.START


def judge(
    decision: Decision,
    policy: Policy,
    now: Instant,
    *,
    handled: bool = False,
    active: bool = False,
    slack: timedelta = ZERO,
) -> Verdict:
    """Return what becomes of the period. The order of the questions is the contract.

    `handled`: it has its outcome already. `active`: an execution of the job has not ended. `slack`: what a host that
    was alive and armed before the chosen time adds to the deadline; downtime gets none.
    """
    if handled or policy.suspend:  # SPEC: Execution Trigger Semantics. Suspension handles nothing.
        return Wait(None)
    if decision.chosen_time is None:
        if now < decision.window_start:
            return Wait(decision.window_start)
        return Close(Outcome.UNSCHEDULABLE, decision.reason or "")
    if now < decision.chosen_time:
        return Wait(decision.chosen_time)
    if is_late(decision.chosen_time, now, policy.deadline, slack):  # SPEC: Deadline Semantics
        return Close(Outcome.MISSED, Reason.DEADLINE.value)
    overlap = decide_overlap(policy.concurrency, active=active)  # SPEC: Concurrency Semantics
    if overlap is OverlapAction.SKIP:
        return Close(Outcome.SKIPPED, Reason.ACTIVE.value)
    return Execute(lateness(decision.chosen_time, now), replaces=overlap is OverlapAction.REPLACE)

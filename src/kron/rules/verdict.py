"""judge(decision, policy, now, …) -> Wait | Run | Close: what becomes of one period now. One pure function."""

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import TypeAlias

from kron.decision.decision import Decision
from kron.instant import SECOND, ZERO, Instant
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
class Run:
    """The period is executed, so many seconds late; the active execution is terminated first if it `replaces` one."""

    lateness: int
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class Close:
    """The period reaches a terminal outcome without an execution."""

    outcome: Outcome
    reason: str


Verdict: TypeAlias = Wait | Run | Close


def lateness(chosen: Instant, now: Instant) -> int:
    """Return how many whole seconds after its chosen time a period is taken up: a busy millisecond is not late."""
    return (now.replace(microsecond=0) - chosen) // SECOND


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
    late = lateness(decision.chosen_time, now)
    if SECOND * late > policy.deadline + slack:  # SPEC: Deadline Semantics
        return Close(Outcome.MISSED, Reason.DEADLINE.value)
    if active and policy.concurrency is Concurrency.FORBID:  # SPEC: Concurrency Semantics
        return Close(Outcome.SKIPPED, Reason.ACTIVE.value)
    return Run(late, replaces=active and policy.concurrency is Concurrency.REPLACE)

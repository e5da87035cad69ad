"""Every step from a text to a chosen second, as data and as lines."""

from collections import Counter
from collections.abc import Iterator

from kron.cron.description import describe
from kron.cron.wall_time import format_local, format_utc_and_local
from kron.decision.decide import candidates
from kron.decision.decision import MAX_ATTEMPTS, Decision
from kron.decision.feasibility import feasibility
from kron.decision.timing import Timing
from kron.instant import format_duration, format_instant
from kron.rules.policy import Policy


def decision_steps(decision: Decision) -> dict[str, object]:
    """Return a decision with all that led to it, as JSON holds it."""
    found = feasibility(decision, decision.nominal_time)
    rows = [
        {"attempt": row.attempt, "u": row.u, "time": format_instant(row.at), "rejected_by": row.rejected_by or None}
        for row in candidates(decision)
    ]
    return {
        **decision.to_dict(),
        "candidates": rows,
        "allowed_share": found.allowed_share,
        "unschedulable_risk": found.failure_probability,
    }


def period_facts(timing: Timing, decision: Decision) -> Iterator[tuple[str, str]]:
    """Yield what a period is and how its second was chosen, a head and a text each, for those who ask why."""
    zone, expression = timing.schedule.zone, timing.schedule.expression
    yield "cron", f"{expression.text}: {describe(expression)}, {zone.name}"
    yield "nominal", format_local(zone, decision.nominal_time)
    if timing.window.duration:
        yield "window", f"{decision.window_mode.value}, {format_duration(timing.window.duration)}:"
        yield "", f"from  {format_utc_and_local(zone, decision.window_start)}"
        yield "", f"until {format_utc_and_local(zone, decision.window_end)}"
    else:
        yield "window", "none: the second is the nominal one"
    chosen = decision.chosen_time
    yield "chosen", "none" if chosen is None else format_utc_and_local(zone, chosen)
    if not decision.attempts:
        return
    yield "", f"{decision.distribution.name}{parameters_text(decision)}; seed hash {decision.seed_hash}"
    if decision.constraints_applied:
        rejected = Counter(each.rejected_by for each in candidates(decision) if each.rejected_by)
        clauses = "".join(f"; {number} rejected by {clause}" for clause, number in rejected.items())
        yield "", f"{decision.attempts} of at most {MAX_ATTEMPTS} candidates drawn{clauses}"


def policy_text(policy: Policy) -> str:
    """Return what held for a period when its second came."""
    return f"concurrency {policy.concurrency.value}, deadline {format_duration(policy.deadline)}"


def parameters_text(decision: Decision) -> str:
    return "".join(f", {key}={value}" for key, value in decision.distribution.to_params().items())

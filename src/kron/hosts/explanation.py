"""Every step from text to chosen second, for people and as JSON; whoever asks, the explanation is the same."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator

import click

from kron.cron.description import describe
from kron.cron.wall_text import both_texts, local_text
from kron.decision.decide import Candidate, candidates
from kron.decision.decision import MAX_ATTEMPTS, Decision
from kron.decision.report import Report, report
from kron.decision.timing import Timing
from kron.errors import CronCalculationError, printable
from kron.hosts.draw import window_bar
from kron.instant import MICROSECOND, format_duration, format_instant
from kron.rules.job import Job
from kron.rules.policy import Policy
from kron.rules.printable import safe_json, safe_line


def explained(decision: Decision) -> dict[str, object]:
    """Return a decision with all that led to it, as JSON holds it."""
    found = report(decision, decision.nominal_time)
    rows = [
        {"attempt": row.attempt, "u": row.u, "time": format_instant(row.at), "rejected_by": row.rejected_by or None}
        for row in candidates(decision)
    ]
    return {
        **decision.to_dict(),
        "candidates": rows,
        "allowed_share": found.share,
        "unschedulable_risk": found.risk,
    }


def print_expression(job: Job) -> None:
    """Print what the text of a job says."""
    expression = job.timing.schedule.expression
    title("1 Text")
    click.echo(f"  {safe_line(job.to_line())}")
    fields = (expression.minute, expression.hour, expression.day, expression.month, expression.weekday)
    for field in fields:
        values = "every value" if field.full else _shortened([str(value) for value in field])
        click.echo(f"  {field.unit.name:<9}{values}")
    click.echo(f"  {describe(expression)}, {job.timing.schedule.timezone}")


def print_period(job: Job, decision: Decision) -> None:
    """Print to which minute a period belongs."""
    schedule = job.timing.schedule
    title("2 Period")
    click.echo(f"  nominal   {both_texts(schedule.zone, decision.nominal_time)}")
    try:
        before = both_texts(schedule.zone, schedule.previous(decision.nominal_time - MICROSECOND))
    except (CronCalculationError, OverflowError):
        before = "none"
    click.echo(f"  before it {before}")


def print_decision(decision: Decision) -> None:
    """Print how the second of a period was chosen."""
    zone = decision.terms.zone
    found, tried = report(decision, decision.nominal_time), list(candidates(decision))
    title("3 Seed")
    click.echo(f"  period id   {decision.period_id}")
    click.echo(f"  period key  {decision.period_key}  ({decision.seed_strategy.value})")
    seed_text = "\n".join((decision.identity, decision.period_key, decision.salt))
    click.echo(f"  SHA-256 of  {safe_json(json.dumps(seed_text, ensure_ascii=False))}")
    click.echo(f"  seed hash   {decision.seed_hash}")
    title("4 Window")
    click.echo(f"  {decision.window_mode.value}, {both_texts(zone, decision.window_start)}")
    click.echo(f"  until {' ' * (len(decision.window_mode.value) - 4)}{both_texts(zone, decision.window_end)}")
    for row in window_bar(decision, found, tried):
        click.echo(f"  {row}".rstrip())
    _print_candidates(decision, found, tried)
    title("6 Chosen")
    if decision.chosen_time is None:
        click.secho(f"  unschedulable: {decision.reason}", fg="red", bold=True)
        return
    click.secho(f"  {both_texts(zone, decision.chosen_time)}", fg="green", bold=True)
    click.echo(f"  algorithm {decision.algorithm_version}, time zone data {decision.tzdata_version}")


def period_lines(timing: Timing, decision: Decision) -> Iterator[tuple[str, str]]:
    """Yield what a period is and how its second was chosen, a head and a text each, for those who ask why."""
    zone, expression = timing.schedule.zone, timing.schedule.expression
    yield "cron", f"{expression.text}: {describe(expression)}, {zone.name}"
    yield "nominal", local_text(zone, decision.nominal_time)
    if timing.window.duration:
        yield "window", f"{decision.window_mode.value}, {format_duration(timing.window.duration)}:"
        yield "", f"from  {both_texts(zone, decision.window_start)}"
        yield "", f"until {both_texts(zone, decision.window_end)}"
    else:
        yield "window", "none: the second is the nominal one"
    chosen = decision.chosen_time
    yield "chosen", "none" if chosen is None else both_texts(zone, chosen)
    if not decision.attempts:
        return
    yield "", f"{decision.distribution.name}{_params(decision)}; seed hash {decision.seed_hash}"
    if decision.constraints_applied:
        rejected = Counter(each.rejected_by for each in candidates(decision) if each.rejected_by)
        clauses = "".join(f"; {number} rejected by {clause}" for clause, number in rejected.items())
        yield "", f"{decision.attempts} of at most {MAX_ATTEMPTS} candidates drawn{clauses}"


def policy_line(policy: Policy) -> str:
    """Return what held for a period when its second came."""
    return f"concurrency {policy.concurrency.value}, deadline {format_duration(policy.deadline)}"


def print_lines(lines: Iterable[tuple[str, str]]) -> None:
    """Print heads and texts, each text under the other."""
    for head, text in lines:
        click.echo(f"  {head:<9} {printable(text)}")


def _params(decision: Decision) -> str:
    return "".join(f", {key}={value}" for key, value in decision.distribution.to_params().items())


def _print_candidates(decision: Decision, found: Report, tried: list[Candidate]) -> None:
    title("5 Candidates")
    named = f"{decision.distribution.name}{_params(decision)}"
    click.echo(f"  {named}; candidate = start + floor(x · {decision.terms.width + 1}) s")
    if decision.constraints_applied:
        for side, clauses in decision.constraints_applied.to_dict().items():
            if clauses:
                click.echo(f"  {side:<6}{'; '.join(clauses)}")
        part = "the first 400 days of the window" if found.partial else "the window"
        click.echo(f"  {_percent(found.share)} of {part} is allowed; a period fails with probability {found.risk:.2g}")
    if not tried:
        click.echo("  a window of one second: nothing is drawn")
    for candidate in tried:
        verdict = f"rejected by {candidate.rejected_by}" if candidate.rejected_by else "accepted"
        colour = "red" if candidate.rejected_by else "green"
        at = both_texts(decision.terms.zone, candidate.at)
        click.echo(f"  {candidate.attempt:>3}  u={candidate.u:<20}  {at}  {click.style(verdict, fg=colour)}")


def _percent(share: float) -> str:
    """Return a share that says 0 % and 100 % only where it is."""
    return f"{share:.1%}" if share in (0, 1) else f"{min(max(share, 0.001), 0.999):.1%}"


def title(text: str) -> None:
    """Print the name of a step."""
    click.secho(text, bold=True)


def _shortened(values: list[str]) -> str:
    return " ".join(values if len(values) <= 24 else [*values[:11], "…", *values[-2:]])

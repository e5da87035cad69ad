"""Every step from the text to the chosen second, as `kron explain`, `krond explain` and `kron k8s explain` print it."""

import json
from collections.abc import Iterable

import click

from kron.console.drawing import window_bar
from kron.cron.description import describe
from kron.cron.wall_time import format_utc_and_local
from kron.decision.decide import Candidate, candidates
from kron.decision.decision import Decision
from kron.decision.feasibility import Feasibility, feasibility
from kron.errors import CronCalculationError, escape_unprintable
from kron.errors.base import safe_json, safe_line
from kron.instant import MICROSECOND
from kron.jobfile.job import Job
from kron.why.decision_steps import parameters_text


def print_expression(job: Job) -> None:
    """Print what the text of a job says."""
    expression = job.timing.schedule.expression
    print_heading("1 Text")
    click.echo(f"  {safe_line(job.to_line())}")
    fields = (expression.minute, expression.hour, expression.day, expression.month, expression.weekday)
    for field in fields:
        values = "every value" if field.is_full else _shortened([str(value) for value in field])
        click.echo(f"  {field.unit.name:<9}{values}")
    click.echo(f"  {describe(expression)}, {job.timing.schedule.timezone}")


def print_period(job: Job, decision: Decision) -> None:
    """Print to which minute a period belongs."""
    schedule = job.timing.schedule
    print_heading("2 Period")
    click.echo(f"  nominal   {format_utc_and_local(schedule.zone, decision.nominal_time)}")
    try:
        before = format_utc_and_local(schedule.zone, schedule.previous(decision.nominal_time - MICROSECOND))
    except (CronCalculationError, OverflowError):
        before = "none"
    click.echo(f"  before it {before}")


def print_decision(decision: Decision) -> None:
    """Print how the second of a period was chosen."""
    zone = decision.terms.zone
    found, tried = feasibility(decision, decision.nominal_time), list(candidates(decision))
    print_heading("3 Seed")
    click.echo(f"  period id   {decision.period_id}")
    click.echo(f"  period key  {decision.period_key}  ({decision.seed_strategy.value})")
    seed_text = "\n".join((decision.identity, decision.period_key, decision.salt))
    click.echo(f"  SHA-256 of  {safe_json(json.dumps(seed_text, ensure_ascii=False))}")
    click.echo(f"  seed hash   {decision.seed_hash}")
    print_heading("4 Window")
    click.echo(f"  {decision.window_mode.value}, {format_utc_and_local(zone, decision.window_start)}")
    click.echo(
        f"  until {' ' * (len(decision.window_mode.value) - 4)}{format_utc_and_local(zone, decision.window_end)}"
    )
    for row in window_bar(decision, found, tried):
        click.echo(f"  {row}".rstrip())
    _print_candidates(decision, found, tried)
    print_heading("6 Chosen")
    if decision.chosen_time is None:
        click.secho(f"  unschedulable: {decision.reason}", fg="red", bold=True)
        return
    click.secho(f"  {format_utc_and_local(zone, decision.chosen_time)}", fg="green", bold=True)
    click.echo(f"  algorithm {decision.algorithm_version}, time zone data {decision.tzdata_version}")


def print_facts(lines: Iterable[tuple[str, str]]) -> None:
    """Print heads and texts, each text under the other."""
    for head, text in lines:
        click.echo(f"  {head:<9} {escape_unprintable(text)}")


def _print_candidates(decision: Decision, found: Feasibility, tried: list[Candidate]) -> None:
    print_heading("5 Candidates")
    named = f"{decision.distribution.name}{parameters_text(decision)}"
    click.echo(f"  {named}; candidate = start + floor(x · {decision.terms.width + 1}) s")
    if decision.constraints_applied:
        for side, clauses in decision.constraints_applied.to_dict().items():
            if clauses:
                click.echo(f"  {side:<6}{'; '.join(clauses)}")
        part = "the first 400 days of the window" if found.is_partial else "the window"
        click.echo(
            f"  {_percent(found.allowed_share)} of {part} is allowed; "
            f"a period fails with probability {found.failure_probability:.2g}"
        )
    if not tried:
        click.echo("  a window of one second: nothing is drawn")
    for candidate in tried:
        verdict = f"rejected by {candidate.rejected_by}" if candidate.rejected_by else "accepted"
        colour = "red" if candidate.rejected_by else "green"
        at = format_utc_and_local(decision.terms.zone, candidate.at)
        click.echo(f"  {candidate.attempt:>3}  u={candidate.u:<20}  {at}  {click.style(verdict, fg=colour)}")


def _percent(share: float) -> str:
    """Return a share that says 0 % and 100 % only where it is."""
    return f"{share:.1%}" if share in (0, 1) else f"{min(max(share, 0.001), 0.999):.1%}"


def print_heading(text: str) -> None:
    """Print the name of a step."""
    click.secho(text, bold=True)


def _shortened(values: list[str]) -> str:
    return " ".join(values if len(values) <= 24 else [*values[:11], "…", *values[-2:]])

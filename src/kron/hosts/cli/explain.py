"""kron explain LINE: every step from text to chosen second; with --replay, from a recorded decision."""

import json
from itertools import islice
from typing import BinaryIO

import click

from kron.cron.description import describe
from kron.decision.decide import Candidate, candidates, decide, replay
from kron.decision.decision import Decision
from kron.decision.report import Report, report
from kron.errors import CronCalculationError, InvalidDecisionError
from kron.hosts.cli.draw import both_texts, window_bar
from kron.hosts.cli.options import (
    COUNT,
    DIALECT,
    FROM,
    IDENTITY,
    JSON,
    note_identity,
    read_job,
    read_since,
)
from kron.hosts.cli.periods import occurrences
from kron.instant import MICROSECOND, format_instant
from kron.rules.job import Job


@click.command()
@click.argument("line", metavar="LINE", required=False)
@IDENTITY
@FROM
@COUNT
@click.option("--replay", "record", type=click.File("rb"), metavar="FILE", help="Make a recorded decision again.")
@JSON
@DIALECT
def explain(
    line: str | None,
    identity: str | None,
    since: str | None,
    count: int | None,
    record: BinaryIO | None,
    dialect: str,
    *,
    as_json: bool,
) -> None:
    """Explain how the second of a period of LINE is chosen, step by step.

    With --replay FILE (- for standard input) the decisions that `kron next --json` printed, or one of them, are made
    again from nothing but the record: exit 0 if every second is the same, 1 if not.
    """
    if (line is None) == (record is None):
        raise click.UsageError("give either one LINE in quotes or --replay FILE")
    if record is not None:
        _replay(record.read(), as_json=as_json)
        return
    job = read_job(line or "", dialect=dialect, identity=identity)
    note_identity(identity, job)
    schedule = job.timing.schedule
    start = read_since(since, schedule.zone)
    decisions = [decide(job.timing, nominal) for nominal in islice(occurrences(schedule, start), count or 1)]
    if as_json:
        click.echo(json.dumps([_explained(decision) for decision in decisions], ensure_ascii=False, indent=1))
        return
    _print_expression(job)
    for decision in decisions:
        _print_schedule(job, decision)
        _print_decision(decision)


def _print_expression(job: Job) -> None:
    expression = job.timing.schedule.expression
    _title("1 Text")
    click.echo(f"  {job.to_line()}")
    fields = (expression.minute, expression.hour, expression.day, expression.month, expression.weekday)
    for field in fields:
        values = "every value" if field.full else _shortened([str(value) for value in field])
        click.echo(f"  {field.unit.name:<9}{values}")
    click.echo(f"  {describe(expression)}, {job.timing.schedule.timezone}")


def _print_schedule(job: Job, decision: Decision) -> None:
    schedule = job.timing.schedule
    _title("2 Period")
    click.echo(f"  nominal   {both_texts(schedule.zone, decision.nominal_time)}")
    try:
        before = both_texts(schedule.zone, schedule.previous(decision.nominal_time - MICROSECOND))
    except (CronCalculationError, OverflowError):
        before = "none"
    click.echo(f"  before it {before}")


def _print_decision(decision: Decision) -> None:
    zone = decision.terms.zone
    found, tried = report(decision, decision.nominal_time), list(candidates(decision))
    _title("3 Seed")
    click.echo(f"  period id   {decision.period_id}")
    click.echo(f"  period key  {decision.period_key}  ({decision.seed_strategy.value})")
    seed_text = "\n".join((decision.identity, decision.period_key, decision.salt))
    click.echo(f"  SHA-256 of  {json.dumps(seed_text, ensure_ascii=False)}")
    click.echo(f"  seed hash   {decision.seed_hash}")
    _title("4 Window")
    click.echo(f"  {decision.window_mode.value}, {both_texts(zone, decision.window_start)}")
    click.echo(f"  until {' ' * (len(decision.window_mode.value) - 4)}{both_texts(zone, decision.window_end)}")
    for row in window_bar(decision, found, tried):
        click.echo(f"  {row}".rstrip())
    _print_candidates(decision, found, tried)
    _title("6 Chosen")
    if decision.chosen_time is None:
        click.secho(f"  unschedulable: {decision.reason}", fg="red", bold=True)
        return
    click.secho(f"  {both_texts(zone, decision.chosen_time)}", fg="green", bold=True)
    click.echo(f"  algorithm {decision.algorithm_version}, time zone data {decision.tzdata_version}")


def _print_candidates(decision: Decision, found: Report, tried: list[Candidate]) -> None:
    _title("5 Candidates")
    params = "".join(f", {key}={value}" for key, value in decision.distribution.to_params().items())
    click.echo(f"  {decision.distribution.name}{params}; candidate = start + floor(x · {decision.terms.width + 1}) s")
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


def _replay(data: bytes, *, as_json: bool) -> None:
    """Make recorded decisions again, and say for each whether its second is the same."""
    recorded = [Decision.from_dict(item) for item in _records(data)]
    again = [replay(decision) for decision in recorded]
    different = 0
    rows = []
    for old, new in zip(recorded, again, strict=True):
        before, after = old.to_dict(), new.to_dict()
        changes = [name for name in before if after[name] != before[name] and name != "tzdata_version"]
        different += bool(changes)
        rows.append({**_explained(new), "same": not changes, "differs": changes, "recorded_with": old.tzdata_version})
        if as_json:
            continue
        _print_decision(new)
        _title("7 Replay")
        if changes:
            click.secho(f"  differs from the record in {', '.join(changes)}", fg="red", bold=True)
            for name in changes:
                click.echo(f"  {name}: recorded {before[name]}, here {after[name]}")
        else:
            click.secho("  the same as the record", fg="green", bold=True)
        if old.tzdata_version != new.tzdata_version:
            click.echo(f"  recorded with time zone data {old.tzdata_version}, made again with {new.tzdata_version}")
    if as_json:
        click.echo(json.dumps(rows, ensure_ascii=False, indent=1))
    click.get_current_context().exit(1 if different else 0)


def _records(data: bytes) -> list[dict[str, object]]:
    """Return the decision objects of a JSON text: one object, an array, or a log line that holds a `decision`."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:  # text that is not UTF-8 is a ValueError, too
        raise InvalidDecisionError(field="text", reason=f"is not JSON ({error})") from error
    items = value if isinstance(value, list) else [value]
    if not items or not all(isinstance(item, dict) for item in items):
        raise InvalidDecisionError(field="text", reason="must be a decision or an array of decisions")
    return [item.get("decision", item) for item in items]


def _explained(decision: Decision) -> dict[str, object]:
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


def _title(text: str) -> None:
    click.secho(text, bold=True)


def _shortened(values: list[str]) -> str:
    return " ".join(values if len(values) <= 24 else [*values[:11], "…", *values[-2:]])

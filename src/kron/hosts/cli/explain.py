"""kron explain LINE: every step from text to chosen second; with --replay, from a recorded decision."""

import json
from itertools import islice
from typing import BinaryIO

import click

from kron.decision.decide import decide, replay
from kron.decision.decision import Decision
from kron.errors import InvalidDecisionError
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
from kron.hosts.explanation import explained, print_decision, print_expression, print_period, title


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
        click.echo(json.dumps([explained(decision) for decision in decisions], ensure_ascii=False, indent=1))
        return
    print_expression(job)
    for decision in decisions:
        print_period(job, decision)
        print_decision(decision)


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
        rows.append({**explained(new), "same": not changes, "differs": changes, "recorded_with": old.tzdata_version})
        if as_json:
            continue
        print_decision(new)
        title("7 Replay")
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

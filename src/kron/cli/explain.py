"""kron explain and kron describe: how a second is chosen, step by step; what a line says, in words."""

import json
from collections.abc import Iterator
from itertools import chain, islice
from typing import BinaryIO

import click

from kron.cli.next import occurrences
from kron.cli.options import COUNT, DIALECT, FROM, IDENTITY, JSON, LINE, note_identity, read_job, read_since
from kron.cli.replay import LogReplay, Replayed, ReplayProblem, differences
from kron.console.decision_text import print_decision, print_expression, print_heading, print_period
from kron.cron.description import describe as describe_expression
from kron.decision.decide import decide, replay
from kron.decision.decision import Decision
from kron.errors import InvalidDecisionError, escape_unprintable
from kron.instant import ZERO, format_duration
from kron.jobfile.job import Job
from kron.rules.policy import Policy
from kron.why.decision_steps import decision_steps

_encode = json.JSONEncoder(ensure_ascii=False).encode  # made once, not for every line
_TOGETHER = 1_000  # decisions that are printed at once: a range may hold hundreds of thousands


@click.command()
@click.argument("line", metavar="LINE", required=False)
@IDENTITY
@FROM
@COUNT
@click.option("--replay", "record", type=click.File("rb"), metavar="FILE", help="Compute recorded decisions again.")
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

    FILE may also be a log of krond or kron-operator, one JSON object a line. Each decision of it is listed: those that
    are recorded, and those of every period of a range. With --json each is one line of JSON. Exit 1 if a decision
    differs or cannot be computed.
    """
    if (line is None) == (record is None):
        raise click.UsageError("give either one LINE in quotes or --replay FILE")
    if record is not None:
        lines = _lines_of_log(record)
        if isinstance(lines, bytes):
            _replay(lines, as_json=as_json)
        else:
            _replay_log(lines, as_json=as_json)
        return
    job = read_job(line or "", dialect=dialect, identity=identity)
    note_identity(identity, job)
    schedule = job.timing.schedule
    start = read_since(since, schedule.zone)
    decisions = [decide(job.timing, nominal) for nominal in islice(occurrences(schedule, start), count or 1)]
    if as_json:
        click.echo(json.dumps([decision_steps(decision) for decision in decisions], ensure_ascii=False, indent=1))
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
        changes = differences(old, new)
        different += bool(changes)
        rows.append(
            {**decision_steps(new), "same": not changes, "differs": changes, "recorded_with": old.tzdata_version}
        )
        if as_json:
            continue
        print_decision(new)
        print_heading("7 Replay")
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


def _lines_of_log(record: BinaryIO) -> bytes | Iterator[bytes]:
    """Return the lines of a log as they come, or the whole text of a JSON document."""
    lines, read, texts = iter(record), [], []
    for line in lines:
        read.append(line)
        if text := line.strip():
            texts.append(text)
        if len(texts) > 1:
            break
    first, *more = texts or [b""]
    if more:
        is_document = first in (b"[", b"{") or first.startswith((b"[{", b"[ {")) or _is_wrapped(first)
    else:
        is_document = not _is_event(first)
    return b"".join(chain(read, lines)) if is_document else chain(read, lines)


def _is_wrapped(first: bytes) -> bool:
    """Whether a first line begins an object that goes on in the next."""
    return first.startswith(b"{") and first.endswith(b",")


def _is_event(line: bytes) -> bool:
    """Whether a line is of a log, and not a decision alone."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return not line.startswith((b"[", b"{")) and b"{" in line
    return isinstance(found, dict) and "event" in found and not ({"decision", "algorithm_version"} & found.keys())


def _replay_log(lines: Iterator[bytes], *, as_json: bool) -> None:
    """List each decision of a log, and say which of them come out differently."""
    log = LogReplay()
    if not as_json:
        click.secho(f"{'chosen':<20}  identity  period", bold=True)
    results = log.read(lines)
    while part := list(islice(results, _TOGETHER)):
        found = [each for each in part if isinstance(each, Replayed)]
        rows = [_encode(each.to_dict()) if as_json else escape_unprintable(str(each)) for each in found]
        if rows:
            click.echo("\n".join(rows))
        for each in part:
            if isinstance(each, ReplayProblem):
                click.secho(f"kron: line {each.line}: {escape_unprintable(each.reason)}", fg="red", err=True)
    if not log.events:
        reason = "is not JSON, and no line of it is; krond run --log json writes such a log"
        raise InvalidDecisionError(field="text", reason=reason)
    for note in log.notes():
        click.secho(f"kron: {escape_unprintable(note)}", fg="yellow", err=True)
    click.echo(f"kron: {log.summary()}", err=True)
    click.get_current_context().exit(1 if log.different or log.problems else 0)


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


@click.command()
@LINE
@DIALECT
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object with the description and canonical text.")
def describe(line: str, dialect: str, *, as_json: bool) -> None:
    """Say in plain English what LINE means."""
    job = read_job(line, dialect=dialect)
    schedule = job.timing.schedule
    text = describe_expression(schedule.expression)
    if as_json:
        answer = {"description": text, "canonical": schedule.expression.canonical, "timezone": schedule.timezone}
        click.echo(json.dumps({**answer, "details": describe_job(job)}, ensure_ascii=False))
        return
    click.echo(f"{text}, {schedule.timezone}")
    for sentence in describe_job(job):
        click.echo(sentence)


def describe_job(job: Job) -> list[str]:
    """Return one sentence for each part of a line that differs from the defaults."""
    timing, policy = job.timing, job.policy
    sentences = []
    if timing.window.duration > ZERO:
        how = {"after": "after each nominal time", "around": "around each nominal time"}[timing.window.mode.value]
        resolved = timing.terms.distribution
        params = "".join(f", {key} {value}" for key, value in resolved.to_params().items())
        window = format_duration(timing.window.duration)
        sentences.append(f"Runs at one second within {window} {how}, chosen by {resolved.name}{params}")
        sentences.append(f"The second is new every {_SEED_UNIT[timing.seed.strategy.value]}{_salt(timing.seed.salt)}")
    sentences += [f"Only when {text}" for text in timing.constraints.only.texts]
    sentences += [f"Never when {text}" for text in timing.constraints.avoid.texts]
    if policy != Policy():
        late = f"at most {format_duration(policy.deadline)} late" if policy.deadline else "never late"
        sentences.append(f"Starts {late}; a run that overlaps is handled by {policy.concurrency.value}")
    return sentences + (["Suspended"] if policy.suspend else [])


def _salt(salt: str) -> str:
    return f", salted with {salt!r}" if salt else ""


_SEED_UNIT = {"stable": "period", "daily": "day", "weekly": "week"}

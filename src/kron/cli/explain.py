"""kron explain and kron describe: how a second is chosen, step by step; what a line says, in words."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, BinaryIO, NamedTuple

import click

from kron.cli.next import occurrences
from kron.cli.options import DIALECT, FROM, IDENTITY, JSON, LINE, count_option, note_identity, read_job, read_since
from kron.console.drawing import print_decision, print_expression, print_heading, print_period
from kron.console.output import pluralize
from kron.cron.description import describe as describe_expression
from kron.cron.zone import tzdata_release
from kron.decision.decide import decide, replay
from kron.decision.decision import Decision
from kron.errors import InvalidDecisionError, KronError, escape_unprintable
from kron.instant import ZERO, format_duration, format_instant
from kron.jobfile.job import Job
from kron.rules.events import FIELD, DecisionRange
from kron.rules.policy import Policy
from kron.why.decision_steps import decision_steps

_MADE, _DROPPED = "DecisionMade", "EventsDropped"
_encode = json.JSONEncoder(ensure_ascii=False).encode  # made once, not for every line
_TOGETHER = 1_000  # decisions that are printed at once: a range may hold hundreds of thousands
_SEED_UNIT = {"stable": "period", "daily": "day", "weekly": "week"}


class Replayed(NamedTuple):
    """A decision of a log as it is computed here; `recorded` is None where the log has only its definition."""

    line: int  # of the log, counted from 1
    event: str
    decision: Decision
    recorded: Decision | None = None
    differs: Sequence[str] = ()  # fields in which the record says something else

    def to_dict(self) -> dict[str, object]:
        """Return it as one line of JSON holds it."""
        recorded = self.recorded
        return {
            **self.decision.to_dict(),
            "line": self.line,
            "event": self.event,
            "same": None if recorded is None else not self.differs,
            "differs": list(self.differs),
            "recorded_with": None if recorded is None else recorded.tzdata_version,
        }

    def __str__(self) -> str:
        """Return it as one line for people."""
        decision, old, new = self.decision, {}, {}
        if self.recorded is not None:
            old, new = self.recorded.to_dict(), decision.to_dict()
        chosen = "none" if decision.chosen_time is None else format_instant(decision.chosen_time)
        changes = ", ".join(f"{name} recorded {old[name]}, here {new[name]}" for name in self.differs)
        if changes and self.recorded is not None and self.recorded.tzdata_version != decision.tzdata_version:
            changes += f" (recorded with time zone data {self.recorded.tzdata_version}, here {decision.tzdata_version})"
        verdict = f"differs: {changes}" if changes else "computed" if self.recorded is None else "same"
        return f"{chosen:<20}  {decision.identity}  {decision.period_id}  {verdict}"


class ReplayProblem(NamedTuple):
    """A decision of a log that cannot be computed again, or a range that contradicts itself."""

    line: int
    reason: str


def differences(recorded: Decision, computed: Decision) -> list[str]:
    """Return the fields of a decision that come out differently, but for the version of the time zone data."""
    before, after = recorded.to_dict(), computed.to_dict()
    return [name for name in before if after[name] != before[name] and name != "tzdata_version"]


class LogReplay:
    """Reads one log, line by line. It keeps one decision for each identity, and no more."""

    def __init__(self) -> None:
        self.events = self.recorded = self.ranges = self.computed = self.different = self.problems = 0
        self._not_json = self._first_not_json = self._dropped = self._cut_off = 0
        self._elsewhere: Counter[str] = Counter()  # decisions, by time zone data that is not the one here
        self._latest: dict[str, Decision] = {}  # by identity: the last period of a range is recorded before the range

    def read(self, lines: Iterable[bytes]) -> Iterator[Replayed | ReplayProblem]:
        """Yield each decision in the order of the log, and what is wrong with it."""
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            found = _object_in(line)
            if found is None:
                self._note_foreign(number, line)
                continue
            self.events += 1
            try:
                for each in self._decisions(number, found):
                    self.different += isinstance(each, Replayed) and bool(each.differs)
                    self.problems += isinstance(each, ReplayProblem)
                    yield each
            except KronError as error:
                self.problems += 1
                yield ReplayProblem(number, error.message)

    def notes(self) -> Iterator[str]:
        """Yield what else there is to know about the log, once it is read."""
        if self._not_json:
            were = "line is" if self._not_json == 1 else "lines are"
            yield f"{self._not_json:,} {were} not JSON and left out, the first is line {self._first_not_json}"
        if self._cut_off:
            yield f"line {self._cut_off}: the log ends inside of this line; it is left out"
        for version, number in sorted(self._elsewhere.items()):
            were = "was" if number == 1 else "were"
            yield (
                f"{pluralize(number, 'decision')} {were} recorded with time zone data {version}, "
                f"and computed here with {tzdata_release()}"
            )
        if self._dropped:
            yield f"the host dropped {pluralize(self._dropped, 'event')}: decisions may be missing in the log"

    def summary(self) -> str:
        """Say how many decisions there are, and how many come out differently."""
        total = pluralize(self.recorded + self.computed, "decision")
        ranges = f"{self.computed:,} computed from {pluralize(self.ranges, 'range')}"
        return f"{total}: {self.recorded:,} recorded, {ranges}; {self.different + self.problems:,} differ or fail"

    def _note_foreign(self, number: int, line: bytes) -> None:
        if b"{" in line and not line.endswith(b"\n"):
            self._cut_off = number
        else:
            self._not_json += 1
            self._first_not_json = self._first_not_json or number

    def _decisions(self, number: int, found: Mapping[str, Any]) -> Iterator[Replayed | ReplayProblem]:
        event = str(found.get("event", ""))
        if FIELD in found:
            yield from self._of_range(number, event, DecisionRange.from_dict(found[FIELD]))
        elif event == _MADE or "decision" in found or "algorithm_version" in found:
            yield self._of_record(number, event, Decision.from_dict(found.get("decision", found)))
        elif event == _DROPPED and isinstance(found.get("count"), int):
            self._dropped += found["count"]

    def _of_record(self, number: int, event: str, recorded: Decision) -> Replayed:
        self.recorded += 1
        self._latest[recorded.identity] = recorded
        computed = replay(recorded)
        if recorded.tzdata_version != computed.tzdata_version:
            self._elsewhere[recorded.tzdata_version] += 1
        return Replayed(number, event, computed, recorded, differences(recorded, computed))

    def _of_range(self, number: int, event: str, found: DecisionRange) -> Iterator[Replayed | ReplayProblem]:
        self.ranges += 1
        if wrong := found.contradiction():
            yield ReplayProblem(number, wrong)
            return
        known = self._latest.get(found.identity)
        for decision in found.decisions():
            if known is None or known.nominal_time != decision.nominal_time:
                self.computed += 1
                yield Replayed(number, event, decision)
            elif differs := differences(known, decision):  # else it is listed already
                yield Replayed(number, event, decision, known, differs)


def _object_in(line: bytes) -> Mapping[str, Any] | None:
    """Return the JSON object of a line; journals and Kubernetes put a time or a name before it."""
    try:
        found = json.loads(line[line.index(b"{") :])
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


@click.command()
@click.argument("line", metavar="[LINE]", required=False)
@IDENTITY
@FROM
@count_option(1)
@click.option("--replay", "record", type=click.File("rb"), metavar="FILE", help="Compute recorded decisions again.")
@JSON
@DIALECT
def explain(
    line: str | None, identity: str | None, since: str | None, count: int | None, record: BinaryIO | None, dialect: str,
    *, as_json: bool,
) -> None:  # fmt: skip
    """Show step by step how the second of a period is chosen.

    --replay FILE computes recorded decisions again from the record alone, and exits with 0 if every second is the same,
    else with 1. FILE is what `kron next --json` printed, or a log of krond or kron-operator with a JSON object on each
    line, whose decisions and ranges of decisions are listed; - is standard input.
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
    """Whether a first line begins an object that continues on the next."""
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
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: description and canonical text.")
def describe(line: str, dialect: str, *, as_json: bool) -> None:
    """Describe a LINE in plain English."""
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

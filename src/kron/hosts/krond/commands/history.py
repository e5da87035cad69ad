"""krond history | logs | ledger: commands that read the state directory, also while krond is stopped."""

import sys
import time
from codecs import getincrementaldecoder
from contextlib import closing
from pathlib import Path
from typing import Literal

import click

from kron.adapters.process.host_runner import recorded
from kron.adapters.process.output import Output, OutputLog
from kron.adapters.process.supervision import find_survivors
from kron.adapters.sqlite.job_check import check_ledger
from kron.adapters.sqlite.job_history import SqliteJobHistory, copy_ledger
from kron.adapters.system_time import system_now
from kron.console.output import exit_with_findings, print_json, print_table
from kron.console.parameters import naming
from kron.console.program import DeferredGroup, WordType
from kron.cron.wall_time import format_local, is_duration, read_moment
from kron.cron.zone import UTC_ZONE, Zone
from kron.decision.seed import period_id
from kron.engine.ledger import HistoryQuery, HistoryReader
from kron.errors import (
    ControlError,
    InvalidDefinitionError,
    NoRunError,
    StateDirectoryError,
    UnknownJobError,
    UnknownRunError,
)
from kron.errors.base import safe_text
from kron.hosts.krond.commands.control import JSON, STATE
from kron.hosts.krond.control_client import ControlClient
from kron.hosts.krond.daemon_status import errors_of
from kron.hosts.krond.state_directory import StateDirectory, default_state_directory
from kron.instant import Instant, format_instant
from kron.jobfile.values import parse_long_duration
from kron.rules.history import RunRow
from kron.rules.job_record import ResultCode, RunKind, find_identity
from kron.rules.job_spec import parse_timing
from kron.rules.verdict import Outcome

_LOST = "krond: neither krond nor this run is running; the next start of krond records how the run ended"
_PAUSE = 0.2  # seconds between two looks at a run's output


def open_state(state: Path | None) -> StateDirectory:
    """Return the state directory that a command speaks of, and that it may read."""
    place = StateDirectory((state or default_state_directory()).absolute())
    try:
        place.ledger.stat()
    except PermissionError as error:
        raise StateDirectoryError(path=str(place.path), reason="can only be read by its owner and root") from error
    except OSError:  # the command that reads it reports what is missing
        pass
    return place


def open_history(place: StateDirectory) -> HistoryReader:
    """Return the ledger of a state directory, to be read."""
    return SqliteJobHistory(place.ledger)


def find_job(place: StateDirectory, history: HistoryReader, job: str) -> str:
    """Return the identity of a job by its name or its identity; those that are defined go before those that were.

    For an unknown job, the error repeats what a running krond says of files that it could not read.
    """
    records = history.jobs()
    declared = [(record.name, record.identity) for record in records if record.is_declared]
    try:
        return find_identity(job, declared)
    except UnknownJobError as error:
        if error.details["identities"]:
            raise
        known = [(record.name, record.identity) for record in records]
        is_known = any(job in names for names in known)
        return find_identity(job, known, () if is_known else _errors_of_files(place))


def _errors_of_files(place: StateDirectory) -> tuple[str, ...]:
    try:
        with closing(ControlClient(place.control)) as krond:
            return errors_of(krond.ask("status")["failed_files"])
    except ControlError:  # without a krond, no file is known
        return ()


def job_zone(history: HistoryReader, identity: str | None) -> Zone:
    """Return the zone in which people speak of a job; of all jobs it is UTC."""
    record = None if identity is None else history.job(identity)
    if record is None:
        return UTC_ZONE
    try:
        return parse_timing(record.identity, history.definition(record.definition_key) or "").schedule.zone
    except InvalidDefinitionError:  # it has no periods
        return UTC_ZONE


def _moment(option: str, text: str | None, zone: Zone) -> Instant | None:
    """Return a moment; a duration is that long ago."""
    if text is None:
        return None
    if is_duration(text) and option != "--at":
        return system_now() - parse_long_duration("duration", text)
    with naming(option, ", or as a duration: 90m, 2h, 7d" if option != "--at" else ""):
        return read_moment(text, zone, system_now())


@click.command()
@click.argument("job", required=False)
@click.option("--limit", type=click.IntRange(1), default=100, help="Show only the newest rows.")
@click.option(
    "--since", metavar="T", help="Start at this time, or this long ago: 90m, 7d. [default: the oldest record]"
)
@click.option("--until", metavar="T", help="End before this time, or this long ago. [default: now]")
@click.option("--at", metavar="T", help="Show only periods whose minute or window contains T.")
@click.option("--outcome", type=WordType([outcome.value for outcome in Outcome]), help="Show only this outcome.")
@click.option("--executions", is_flag=True, help="Show one row for all attempts of an execution.")
@STATE
@JSON
def history(
    job: str | None, *, limit: int, since: str | None, until: str | None, at: str | None, outcome: str | None,
    executions: bool, state: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Show outcomes and runs of one JOB or of all jobs."""
    if at is not None and (since is not None or until is not None):
        raise click.UsageError("give either --at or --since and --until")
    place = open_state(state)
    ledger = open_history(place)
    identity = None if job is None else find_job(place, ledger, job)
    zone = job_zone(ledger, identity)
    kind = None if outcome is None else Outcome(outcome)
    times = _moment("--since", since, zone), _moment("--until", until, zone), _moment("--at", at, zone)
    rows = ledger.rows(HistoryQuery(identity, *times, outcome=kind, limit=limit, executions=executions))
    if as_json:
        print_json([row.to_dict() for row in rows])
    else:
        heads = (f"due ({zone.name})", "job", "outcome", "result", "attempt", "late", "took", "run")
        print_table(heads, [_line(row, zone) for row in rows], empty="nothing is recorded")


def _line(row: RunRow, zone: Zone) -> tuple[str, ...]:
    due = row.due.replace(microsecond=0)
    outcome = "" if row.outcome is None else row.outcome.value
    why = f": {row.reason}" if row.reason else ""
    many = "" if row.first is None else f", {row.period_count} periods from {period_id(row.first)}"
    result = row.state if row.result is None else row.result.value
    code = f" ({row.signal or row.exit_code})" if row.result is ResultCode.FAILED else ""
    return (
        format_instant(due) if zone is UTC_ZONE else format_local(zone, due),
        row.name,
        f"{outcome}{why}{many}" if row.kind is RunKind.PERIOD else row.kind.value,
        f"{result or ''}{code}",
        f"{row.attempt} of {row.attempts}" if row.attempts not in (0, 1) else "",
        "" if not row.lateness else f"{row.lateness} s",
        "" if row.duration is None else f"{row.duration} s",
        row.run_id or "",
    )


@click.command()
@click.argument("run", metavar="RUN|JOB")
@click.option("--stream", type=WordType(["stdout", "stderr"]), help="Print only this stream. [default: both]")
@click.option("--timestamps", is_flag=True, help="Print time and stream before each line.")
@click.option("--follow", is_flag=True, help="Print new output until the run has ended.")
@click.option("--raw", is_flag=True, help="Do not escape control characters on a terminal.")
@STATE
@JSON
def logs(
    run: str, *, stream: Literal["stdout", "stderr"] | None, timestamps: bool, follow: bool, raw: bool,
    state: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Print the output of a RUN, or of the newest run of a JOB.

    Output to a pipe or a file is unchanged. On a terminal, control characters are escaped.
    """
    if follow and as_json:
        raise click.UsageError("give either --follow or --json: --json prints the output of this moment")
    place = open_state(state)
    run_id = _run_id(place, run)
    try:
        _print_output(place, run_id, stream, timestamps=timestamps, follow=follow, raw=raw, as_json=as_json)
    except OSError as error:
        if error.filename is None:  # of standard output
            raise
        with place.reporting_errors():
            raise


def _print_output(
    place: StateDirectory,
    run_id: str, stream: Literal["stdout", "stderr"] | None, *, timestamps: bool, follow: bool, raw: bool,
    as_json: bool,
) -> None:  # fmt: skip
    log = OutputLog(place.output, run_id)
    if as_json:
        found = log.read()
        print_json((found if stream is None else found.only(stream)).to_json())
        return
    printer = _Printer(timestamps=timestamps, is_safe=sys.stdout.isatty() and not raw)
    if not follow and stream is None and not timestamps:
        printer.print_all(log)
        return
    while True:
        is_alone = follow and not _krond_lives(place)
        is_lost = is_alone and _is_lost(place, run_id)
        output = log.follow(collected_only=not is_alone) if follow else log.read()
        printer.print(output if stream is None else output.only(stream))
        if output.is_final or not follow:
            return
        if is_lost:
            click.echo(_LOST, err=True)
            return
        time.sleep(_PAUSE)


def _krond_lives(place: StateDirectory) -> bool:
    """Whether a krond moves output to its logs."""
    try:
        ControlClient(place.control).close()
    except ControlError:
        return False
    return True


def _is_lost(place: StateDirectory, run_id: str) -> bool:
    """Whether a run is over, and no krond is there to say so."""
    history = open_history(place)
    open_ends = [each for each in history.unfinished() if each.attempt.run_id == run_id]
    return not find_survivors(recorded(open_ends, history, system_now()))


def _run_id(place: StateDirectory, run: str) -> str:
    history = open_history(place)
    row = history.run(run)
    if row is None:
        try:
            query = HistoryQuery(find_job(place, history, run), outcome=Outcome.EXECUTED, limit=1)
        except UnknownJobError as error:
            if error.details["identities"] or error.details["errors"]:
                raise
            raise UnknownRunError(run=run, near=error.near) from error
        row = next(iter(history.rows(query)), None)
    if row is None or row.run_id is None:
        raise NoRunError(job=run)
    return row.run_id


class _Printer:
    """Prints the output of a run part by part: unchanged, or as text that is safe on a terminal."""

    def __init__(self, *, timestamps: bool, is_safe: bool) -> None:
        self._timestamps, self._is_safe = timestamps, is_safe
        self._decoder = getincrementaldecoder("utf-8")("backslashreplace")  # a character may be in two parts

    def print_all(self, log: OutputLog) -> None:
        """Print both streams of a run, however long they are."""
        for part in log.stream():
            self._write(part)
        self._write(b"", is_final=True)

    def print(self, output: Output) -> None:
        """Print what has come since the last time."""
        data = b"".join(map(bytes, output.lines())) if self._timestamps else output.text()
        self._write(data, is_final=output.is_final)

    def _write(self, data: bytes, *, is_final: bool = False) -> None:
        if self._is_safe:
            sys.stdout.write(safe_text(self._decoder.decode(data, final=is_final)))
        else:
            sys.stdout.buffer.write(data)
        sys.stdout.flush()


_COMMANDS = {
    "check": ("Files", "kron.hosts.krond.commands.history:check_", "krond ledger check"),
    "backup": ("Files", "kron.hosts.krond.commands.history:backup", "krond ledger backup copy.db"),
}


@click.group(cls=DeferredGroup, table=_COMMANDS)
def ledger() -> None:
    """Check or back up the ledger."""


@click.command("check")
@STATE
@JSON
def check_(*, state: Path | None, as_json: bool) -> None:
    """Check the ledger for damage, also while krond runs.

    Exits with 1 if it is damaged or contradicts itself.
    """
    findings = check_ledger(open_state(state).ledger)
    if not findings and not as_json:
        click.echo("the ledger is sound")
    exit_with_findings(findings, as_json=as_json)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@STATE
def backup(file: Path, *, state: Path | None) -> None:
    """Copy the ledger to a new FILE, also while krond runs."""
    copy_ledger(open_state(state).ledger, file)
    click.echo(f"copied to {file}")

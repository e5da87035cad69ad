"""kron verify TRACE: judge a recorded trace by the theory, in a table, as JSON, or drawn as a page."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import copyfileobj
from tempfile import NamedTemporaryFile

import click

from kron.console.output import print_json, progress
from kron.errors import InvalidTraceError, UnknownTimezoneError
from kron.theory.checker import Checker
from kron.theory.formula import TruthValue
from kron.theory.properties import SUITES, Scope
from kron.theory.results import PropertyResult, TraceReport
from kron.theory.trace_format import TraceHeader, read_trace
from kron.trace.recomputation import Recomputation

_SIGNS = {
    TruthValue.HOLDS: ("✔ holds", "green"),
    TruthValue.VIOLATED: ("✘ violated", "red"),
    TruthValue.UNDECIDED: ("… open", "yellow"),
}
_PULSES = ("Due", "RetryDue")
_DIFFERENCES = 20  # that are shown; JSON has more
_STEP = 50_000  # events between two signs of life


@click.command()
@click.argument("trace", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as one JSON object.")
@click.option("--recompute", is_flag=True, help="Also compute recorded decisions and due times again.")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Also write the trace as an HTML page.")
def verify(trace: Path, *, as_json: bool, recompute: bool, html: Path | None) -> None:
    """Check a recorded trace against the properties of Kron.

    Prints which properties hold, which are violated and where, and which are undecided. --recompute computes again each
    Decision whose definition is a schedule line and each recorded Due; a difference violates the property R.

    Exit codes: 0 no violation, 1 a property is violated, 2 wrong usage or the file is not a trace.
    """
    with _readable_twice(trace) as path:
        header, report, recomputed = verify_file(path, recompute=recompute)
        if html is not None:
            from kron.web.standalone import render_trace_page  # with the template engine, which nothing else needs here

            with _open(path) as file:
                drawn = render_trace_page(header, report, read_trace(file, SUITES)[1])
            try:
                html.write_text(drawn, "utf-8")
            except OSError as error:
                raise _wrong(html, error.strerror or str(error)) from error
    if as_json:
        fields = (
            report.to_fields() if recomputed is None else {**report.to_fields(), "recompute": recomputed.to_fields()}
        )
        print_json(fields)
    else:
        print_report(header, report)
        if recomputed is not None:
            for difference in recomputed.mismatches[1:_DIFFERENCES]:
                click.echo(f"     {difference}")
            click.echo(recomputed.summary())
        if html is not None:
            click.echo(f"drawn in {html}")
    click.get_current_context().exit(1 if report.verdict is TruthValue.VIOLATED else 0)


def verify_file(trace: Path, *, recompute: bool = False) -> tuple[TraceHeader, TraceReport, Recomputation | None]:
    """Read a trace, and before it look whether it names its own Dues.

    Return its header, the report with the violations of the recomputation, and the recomputation itself, if wanted.
    """
    with _open(trace) as file:
        named = {event for line in file for event in _PULSES if f'"{event}"' in line and _is_of(line, event)}
    with _open(trace) as file:
        header, positions = read_trace(file, SUITES)
        checker = Checker(header, adds_due="Due" not in named, adds_retry_due="RetryDue" not in named)
        recomputed = _recomputation(header, named) if recompute else None
        with progress("reading", None) as advance:
            for number, position in enumerate(positions, 1):
                checker.read(position)
                if recomputed is not None:
                    recomputed.check(position)
                if number % _STEP == 0:
                    advance(_STEP)
    report = checker.report()
    if recomputed is not None:
        report = replace(report, findings=[*report.findings, recomputed.finding()])
    return header, report, recomputed


def _recomputation(header: TraceHeader, named: set[str]) -> Recomputation:
    has_tasks = not SUITES[header.contract].of(Scope.PERIOD)
    return Recomputation(header, names_dues=has_tasks and (header.names_dues or "Due" in named))


@contextmanager
def _readable_twice(trace: Path) -> Iterator[Path]:
    """Yield the path of a trace; one that comes through a pipe is kept for as long as it is needed."""
    if not (trace.is_fifo() or trace.is_char_device()):
        yield trace
        return
    with NamedTemporaryFile(prefix="kron-trace-") as kept:
        with trace.open("rb") as pipe:
            copyfileobj(pipe, kept)
        kept.flush()
        yield Path(kept.name)


@contextmanager
def _open(trace: Path) -> Iterator[Iterator[str]]:
    try:
        with trace.open("rb") as file:
            yield _decoded(file)
    except OSError as error:
        raise _wrong(trace, error.strerror or str(error)) from error
    except InvalidTraceError as error:
        raise _wrong(trace, error.message) from error
    except UnknownTimezoneError as error:
        raise _wrong(trace, f"Line 1: timezone: {error.message}") from error


def _decoded(lines: Iterable[bytes]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        try:
            yield line.decode()
        except UnicodeDecodeError as error:
            reason = f"must be UTF-8 (byte {error.start + 1} is not)"
            raise InvalidTraceError(line=number, field="line", found=repr(line[:40]), reason=reason) from error


class _NoTraceError(click.ClickException):
    """A file that is no trace is wrong usage."""

    exit_code = 2


def _wrong(trace: Path, reason: str) -> click.ClickException:
    return _NoTraceError(f"{trace}: {reason}")


def _is_of(line: str, event: str) -> bool:
    """Whether a line holds an event; what is no JSON is reported when it is read."""
    try:
        found = json.loads(line)
        return any(each.get("event") == event for each in (found if isinstance(found, list) else [found]))
    except (ValueError, AttributeError, RecursionError):
        return False


def print_report(header: TraceHeader, report: TraceReport) -> None:
    """Print a line for each property, and the verdict on the whole."""
    for finding in report.findings:
        sign, colour = _SIGNS[finding.verdict]
        name = f"{finding.property.name:<4}"
        click.echo(f"{name}{click.style(f'{sign:<11}', fg=colour)} {finding.property.sentence}")
        if finding.verdict is TruthValue.VIOLATED:
            click.echo(f"     {_violation(finding)}")
        elif finding.verdict is TruthValue.UNDECIDED and not finding.property.is_always_open:
            click.echo(f"     {finding.explanation}")
    word, colour = _SIGNS[report.verdict]
    blames = " and ".join(sorted(owner.value for owner in report.blames))
    whose = f"; to blame: {blames}" if blames else ""
    click.secho(f"{word}: {report.positions:,} positions under the contract {header.contract}{whose}", fg=colour)


def _violation(finding: PropertyResult) -> str:
    blame = f" [{finding.blame.value}]" if finding.blame is not None else ""
    return f"{finding.explanation}{blame}"

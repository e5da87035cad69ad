"""kron simulate WHAT: live through days of a schedule with crashes, failures and clock changes, and judge the trace."""

from datetime import timedelta
from pathlib import Path

import click

from kron.cli.host_files import HostSelection, check_files, read_here
from kron.cli.options import FROM, Dialects, read_since
from kron.cli.run import load_registrations
from kron.cli.verify import print_report
from kron.console.output import pluralize, progress
from kron.console.program import WordType
from kron.cron.zone import load_zone
from kron.errors import display_text
from kron.instant import SECOND, format_instant
from kron.rules.contract import DEFAULT, PRESETS
from kron.rules.registration import ScheduleReader, parse_registrations
from kron.simulator.scenario import (
    CallbackBehaviour,
    FaultRates,
    Scenario,
    SimulatedJob,
    jobs_of_file,
    jobs_of_registrations,
)
from kron.simulator.simulation import SimulationSummary, simulate as live
from kron.simulator.trace_writer import TraceWriter
from kron.theory.formula import TruthValue
from kron.theory.properties import SUITES
from kron.theory.results import TraceReport

_PERCENT = click.FloatRange(0, 100)
_A_DAY = click.FloatRange(0, 10_000)


@click.command()
@click.argument("what", metavar="FILE|MODULE:NAME")
@FROM
@click.option("--days", type=click.FloatRange(0.001, 36_500), default=7.0, help="Days to simulate.")
@click.option("--seed", type=int, default=0, help="Random seed; with --from it determines the trace.")
@click.option("--crashes", type=_A_DAY, default=1.0, metavar="N", help="Crashes per day.")
@click.option("--stops", type=_A_DAY, default=0.2, metavar="N", help="Restarts per day.")
@click.option("--changes", type=_A_DAY, default=0.0, metavar="N", help="Changes of the task list per day.")
@click.option("--freezes", type=_A_DAY, default=0.2, metavar="N", help="Process freezes per day.")
@click.option("--jumps", type=_A_DAY, default=0.1, metavar="N", help="Clock jumps per day.")
@click.option(
    "--corrections", type=_A_DAY, default=0.02, metavar="N",
    help="Clock corrections per day, by up to 5 days.",
)  # fmt: skip
@click.option("--faults", type=_A_DAY, default=0.2, metavar="N", help="Disk failures per day.")
@click.option("--failing", type=_PERCENT, default=10.0, metavar="PERCENT", help="Share of runs that fail.")
@click.option("--slow", type=_PERCENT, default=20.0, metavar="PERCENT", help="Share of slow runs.")
@click.option("--hanging", type=_PERCENT, default=0.0, metavar="PERCENT", help="Share of runs that hang.")
@click.option("--timezone", metavar="ZONE", default="UTC", help="IANA time zone of schedules.")
@click.option(
    "--dialect", type=WordType(["posix", "extended"]), default="posix",
    help="Cron dialect of registrations; a FILE is always extended.",
)  # fmt: skip
@click.option(
    "--contract", type=WordType([name for name in PRESETS if name in SUITES and name != "kron"]),
    default=DEFAULT.name, help="Rules for late and failed runs.",
)  # fmt: skip
@click.option(
    "--trace", "trace_path", type=click.Path(path_type=Path, dir_okay=False), default=Path("trace.jsonl"),
    help="Write the trace to this file.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Overwrite an existing trace.")
@click.option("--verify", is_flag=True, help="Check the trace; exit 1 if a property is violated.")
def simulate(
    what: str, *, since: str | None, days: float, seed: int, timezone: str, dialect: Dialects, contract: str,
    trace_path: Path, force: bool, verify: bool, failing: float, slow: float, hanging: float, **accidents: float,
) -> None:  # fmt: skip
    """Simulate days of a schedule on a virtual clock, with faults.

    The scheduler, its rules and its recovery are real; callbacks, disk and faults are drawn from the seed, and no
    command or function of yours runs. Jobs of a FILE follow the rules of the library, not their @policy; @reboot jobs
    are left out.
    """
    behaviour = CallbackBehaviour(slow=slow / 100, failing=failing / 100, hanging=hanging / 100)
    reader = ScheduleReader(PRESETS[contract], dialect, timezone)
    jobs, dialect = _jobs(what, reader, dialect, timezone, behaviour)
    start, span = read_since(since, load_zone(timezone)), timedelta(days=days)
    rates = FaultRates(**accidents)
    scenario = Scenario(jobs, start, span, seed, PRESETS[contract], timezone, rates, dialect)
    summary, report = _live(scenario, trace_path, force=force, verify=verify)
    _print_summary(scenario, summary, trace_path)
    if report is not None:
        print_report(scenario.header, report)
        click.get_current_context().exit(1 if report.verdict is TruthValue.VIOLATED else 0)


def _live(scenario: Scenario, path: Path, *, force: bool, verify: bool) -> tuple[SimulationSummary, TraceReport | None]:
    try:
        clerk = TraceWriter(scenario.header, path, verify=verify, overwrite=force)
        try:
            with progress("simulating", scenario.span // SECOND) as advance:
                summary = live(scenario, clerk.take, advance)
        except BaseException:
            clerk.kill()
            raise
        return summary, clerk.close()
    except FileExistsError as error:
        raise click.UsageError(f"{path}: exists; say --force to overwrite it, or --trace FILE") from error
    except OSError as error:
        raise click.UsageError(f"{path}: {error.strerror or error}") from error


def _jobs(
    what: str, read: ScheduleReader, dialect: Dialects, timezone: str, behaviour: CallbackBehaviour
) -> tuple[tuple[SimulatedJob, ...], Dialects]:
    """Return the jobs, and the dialect in which their schedules are written."""
    if ":" not in what or Path(what).exists():
        return _jobs_of_file(what, timezone, behaviour)
    registrations = load_registrations(what)
    parse_registrations(registrations, read)
    return jobs_of_registrations(registrations, behaviour), dialect


def _jobs_of_file(file: str, timezone: str, behaviour: CallbackBehaviour) -> tuple[tuple[SimulatedJob, ...], Dialects]:
    source = click.get_current_context().get_parameter_source("dialect")
    if source is not click.core.ParameterSource.DEFAULT:
        raise click.UsageError("--dialect belongs to MODULE:NAME; a FILE has its own")
    check_files([file])
    jobs = read_here([(file, file)], HostSelection()).jobs
    untimed = [display_text(job.name) for job in jobs if job.timing is None]
    if len(untimed) == len(jobs):
        raise click.UsageError(f"{file}: has no job with times to simulate")
    if untimed:
        click.secho(f"kron: left out, because they have no times: {', '.join(untimed)}", fg="yellow", err=True)
    return jobs_of_file(jobs, timezone, behaviour)


def _print_summary(scenario: Scenario, summary: SimulationSummary, path: Path) -> None:
    end = format_instant(scenario.start + scenario.span)
    click.echo(
        f"{format_instant(scenario.start)} to {end}, {pluralize(len(scenario.jobs), 'job')}, seed {scenario.seed}"
    )
    click.echo(
        f"{pluralize(summary.runs, 'run')}, {summary.failures:,} failed; "
        f"{pluralize(summary.positions, 'event')} in {path}"
    )
    if summary.accidents:
        counts = ", ".join(f"{kind} {count:,}" for kind, count in sorted(summary.accidents.items()))
        click.echo(f"accidents: {counts}")

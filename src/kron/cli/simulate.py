"""kron simulate WHAT: live through days of a schedule with crashes, failures and clock changes, and judge the trace."""

from datetime import timedelta
from pathlib import Path

import click

from kron.cli.host_files import HostSelection, check_files, read_here
from kron.cli.options import FROM, Dialects, read_since
from kron.cli.run import load_registrations
from kron.cli.verify import print_report
from kron.console.output import pluralize, progress
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
@click.option("--days", type=click.FloatRange(0.001, 36_500), default=7.0, show_default=True, help="How long.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed and --from give the same trace.")
@click.option("--crashes", type=_A_DAY, default=1.0, show_default=True, metavar="N", help="Crashes a day.")
@click.option("--stops", type=_A_DAY, default=0.2, show_default=True, metavar="N", help="Stops and restarts a day.")
@click.option("--changes", type=_A_DAY, default=0.0, show_default=True, metavar="N", help="Changed lists a day.")
@click.option("--freezes", type=_A_DAY, default=0.2, show_default=True, metavar="N", help="Frozen processes a day.")
@click.option("--jumps", type=_A_DAY, default=0.1, show_default=True, metavar="N", help="Clocks set a day.")
@click.option(
    "--corrections", type=_A_DAY, default=0.02, show_default=True, metavar="N",
    help="Clocks corrected a day, by up to 5 days.",
)  # fmt: skip
@click.option("--faults", type=_A_DAY, default=0.2, show_default=True, metavar="N", help="Failing disks a day.")
@click.option("--failing", type=_PERCENT, default=10.0, show_default=True, metavar="PERCENT", help="Runs that fail.")
@click.option("--slow", type=_PERCENT, default=20.0, show_default=True, metavar="PERCENT", help="Runs that take time.")
@click.option("--hanging", type=_PERCENT, default=0.0, show_default=True, metavar="PERCENT", help="Runs that hang.")
@click.option("--timezone", metavar="ZONE", default="UTC", show_default=True, help="IANA zone of the schedules.")
@click.option(
    "--dialect", type=click.Choice(["posix", "extended"]), default="posix", show_default=True,
    help="Cron language of registrations; a FILE is always extended.",
)  # fmt: skip
@click.option(
    "--contract", type=click.Choice([name for name in PRESETS if name in SUITES and name != "kron"]),
    default=DEFAULT.name, show_default=True, help="Rules to go by.",
)  # fmt: skip
@click.option(
    "--trace", "trace_path", type=click.Path(path_type=Path, dir_okay=False), default=Path("trace.jsonl"),
    show_default=True, help="Where the trace is written.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Overwrite a trace that exists.")
@click.option("--verify", is_flag=True, help="Judge the trace; exit 1 if a property is violated.")
def simulate(
    what: str, *, since: str | None, days: float, seed: int, timezone: str, dialect: Dialects, contract: str,
    trace_path: Path, force: bool, verify: bool, failing: float, slow: float, hanging: float, **accidents: float,
) -> None:  # fmt: skip
    """Live through days of a job FILE, or of the registrations NAME of a Python MODULE, on a virtual clock.

    The scheduler, its rules and its recovery are the real ones; callbacks, disk and accidents are drawn from the seed.
    Nothing of yours is run. Jobs go by the rules of the library, whatever their @policy says; those without times, as
    of @reboot, are left out. A trace that exists is not overwritten.
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
        told = ", ".join(f"{kind} {count:,}" for kind, count in sorted(summary.accidents.items()))
        click.echo(f"accidents: {told}")

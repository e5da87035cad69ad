"""Time to simulate and to judge a year of a schedule."""

from datetime import UTC, datetime, timedelta
from importlib import import_module
from importlib.metadata import version
from time import perf_counter

from bench.disk import disk_folder
from bench.results import Cells
from bench.suite import Measurement, Suite
from bench.tables import Promise, Table

_DAILY, _MINUTELY = "kron-1000-daily", "kron-1-minutely"
_BOUNDS = {_DAILY: 180.0, _MINUTELY: 60.0}
_TEXTS = {
    _DAILY: "a year of 1,000 daily jobs with a crash a day, simulated and judged",
    _MINUTELY: "a year of one job that runs every minute, with a crash a day, simulated and judged",
}


def measure(peer: str, repeat: int) -> Measurement:
    """Simulate a year, write it down and judge it, as `kron simulate --verify` does; the repeat is the seed."""
    scenario, simulator, clerk = (
        import_module(f"kron.simulator.{name}") for name in ("scenario", "simulation", "trace_writer")
    )
    trace = import_module("kron.theory.trace_format")
    texts = ["* * * * *"] if peer == _MINUTELY else [f"{n % 60} {n // 60 % 24} * * *" for n in range(1000)]
    quick = scenario.CallbackBehaviour(slow=0.0)  # a job that runs every minute has no time for more
    behaviour = quick if peer == _MINUTELY else scenario.CallbackBehaviour()
    jobs = tuple(scenario.SimulatedJob(f"job-{n:04}", text, behaviour=behaviour) for n, text in enumerate(texts))
    accidents = scenario.FaultRates(crashes=1.0, stops=0.2, changes=0.0, freezes=0.2, jumps=0.0, faults=0.2)
    year = scenario.Scenario(
        jobs,
        datetime(2026, 1, 1, tzinfo=UTC),
        timedelta(days=365),
        repeat,
        timezone="Europe/Paris",
        accidents=accidents,
    )
    with disk_folder() as folder:
        start = perf_counter()
        judge = clerk.TraceWriter(trace.TraceHeader("declarative", "Europe/Paris"), folder / "trace.jsonl", verify=True)
        summary = simulator.simulate(year, judge.take)
        report = judge.close()
        seconds = perf_counter() - start
    if report.verdict.value != "holds":
        raise AssertionError(f"seed {repeat}: {report.verdict.value}")
    figures = {"seconds": seconds, "runs": float(summary.runs), "us a run": seconds / summary.runs * 1e6}
    return Measurement(figures, {"version": version("kron-scheduler")})


def tables(cells: Cells) -> list[Table]:
    """Return one table."""
    figures = ("runs", "seconds", "us a run")
    rows = [cell.row(figures) for cell in cells.measured()]
    notes = (
        "the library's own scheduler on a virtual clock, in Europe/Paris with its two nights of changed clocks",
        "a second process writes the trace to the disk and judges it meanwhile",
        "15 % of the runs fail; of the daily ones, 30 % take up to 20 minutes",
        "no other scheduler has such a simulator, so there is no peer",
    )
    return [Table("A year, simulated and judged", ("what", "version", *figures, "processes"), rows, notes)]


def promises(cells: Cells) -> list[Promise]:
    """Return what Kron promises about a year."""
    return [
        Promise(_TEXTS[peer], cells[peer].get("seconds"), bound, " s", at_most=True) for peer, bound in _BOUNDS.items()
    ]


SUITE = Suite(
    "simulate", tuple(_BOUNDS), measure, tables, promises, seconds_allowed=600.0, most_repeats=dict.fromkeys(_BOUNDS, 1)
)

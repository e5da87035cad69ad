"""simulate(registrations, …) -> Simulation: days of your schedule in a test, judged by the theory.

def test_my_schedule_survives_a_month_of_crashes():
    assert simulate(registrations, days=30, crashes=5).violations == []
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from kron.instant import instant
from kron.rules.contract import DEFAULT, PRESETS
from kron.rules.registration import ScheduleReader, parse_registrations
from kron.simulator.scenario import CallbackBehaviour, FaultRates, Scenario, jobs_of_registrations
from kron.simulator.simulation import SimulationSummary, simulate as live
from kron.theory.checker import Checker
from kron.theory.formula import TruthValue
from kron.theory.results import PropertyResult, TraceReport
from kron.theory.trace_format import TraceHeader, TracePosition, write_event, write_header

_START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Simulation:
    """What happened, the trace of it, and what the theory says."""

    header: TraceHeader
    positions: Sequence[TracePosition]
    summary: SimulationSummary
    report: TraceReport

    @property
    def violations(self) -> list[PropertyResult]:
        """The properties that were violated; each says where, by whom and why."""
        return [finding for finding in self.report.findings if finding.verdict is TruthValue.VIOLATED]

    @property
    def lines(self) -> list[str]:
        """The trace as `kron verify` reads it."""
        return [write_header(self.header), *(write_event(position) for position in self.positions)]


def simulate(
    registrations: Sequence[Sequence[Any]],
    *,
    start: datetime = _START,
    days: float = 7.0,
    seed: int = 0,
    timezone: str = "UTC",
    dialect: Literal["extended", "posix"] = "posix",
    contract: str = DEFAULT.name,
    behaviour: CallbackBehaviour | None = None,
    **accidents: float,
) -> Simulation:
    """Live through days of a list on a virtual clock; your callbacks are not called.

    Accidents are given in times a day: `crashes`, `stops`, `changes`, `freezes`, `jumps`, `corrections`, `faults`.
    Those that are not given do not happen. `behaviour` says which share of the runs is slow, fails or hangs.
    """
    terms = PRESETS[contract]
    parse_registrations(registrations, ScheduleReader(terms, dialect, timezone))
    jobs = jobs_of_registrations(registrations, behaviour or CallbackBehaviour())
    rates = FaultRates(**{name: accidents.pop(name, 0.0) for name in FaultRates.__slots__})
    if accidents:
        raise TypeError(f"there is no accident called {', '.join(accidents)}")
    scenario = Scenario(jobs, instant(start), timedelta(days=days), seed, terms, timezone, rates, dialect)
    header, positions = scenario.header, list[TracePosition]()
    checker = Checker(header)

    def take(position: TracePosition) -> None:
        positions.append(position)
        checker.read(position)

    summary = live(scenario, take)
    return Simulation(header, positions, summary, checker.report())

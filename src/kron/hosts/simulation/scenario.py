"""Scenario: what a simulation is to live through. The same scenario gives the same trace, byte by byte."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from kron.instant import Instant
from kron.rules.contract import DEFAULT, Contract
from kron.theory.trace import Header


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How a task's callback behaves: the shares of its runs that take time, fail, or hang."""

    slow: float = 0.3
    longest: timedelta = timedelta(minutes=20)  # that a slow one takes
    failing: float = 0.15
    hanging: float = 0.0


@dataclass(frozen=True, slots=True)
class Accidents:
    """How often things happen, in times a day."""

    crashes: float = 1.0
    stops: float = 0.5
    changes: float = 0.5  # a stop, or a reload where the contract has it, and a list with tasks added, removed, changed
    freezes: float = 0.5
    jumps: float = 0.2  # of the clock, forwards or back
    faults: float = 0.5  # of the ledger
    corrections: float = 0.0  # of a clock that was wrong by days, forwards or back

    def scaled(self, factor: float) -> "Accidents":
        """Return the same, so much more often."""
        names = self.__slots__
        return Accidents(**{name: getattr(self, name) * factor for name in names})


NO_ACCIDENTS = Accidents(0, 0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Job:
    """A task of the scenario; `cron` is an expression or, in the extended dialect, a whole schedule line."""

    name: str
    cron: str
    retry_delay: timedelta = timedelta(minutes=5)
    behaviour: Behaviour = field(default_factory=Behaviour)
    identity: str = ""  # that enters its seeds; empty: its name


@dataclass(frozen=True, slots=True)
class Scenario:
    """Jobs, a span of time, and a seed."""

    jobs: tuple[Job, ...]
    start: Instant
    span: timedelta
    seed: int = 0
    contract: Contract = DEFAULT
    timezone: str = "UTC"
    accidents: Accidents = field(default_factory=Accidents)
    dialect: Literal["extended", "posix"] = "posix"

    @property
    def header(self) -> Header:
        """What the trace begins with: in the extended dialect lines may have windows, and the trace names its Dues."""
        return Header(self.contract.name, self.timezone, names_dues=self.dialect == "extended")

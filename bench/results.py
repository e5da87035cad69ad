"""Turn runs into cells: one for each suite and peer, with the median of each figure over its quiet runs."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from bench.load import QUIET
from bench.tables import MISSING, number

YARDSTICK = "yardstick us"  # the figure that says how fast the machine itself was, at its best, during a run
_SLOW = 1.2  # times the fastest yardstick of the peer's runs
_FEWEST_RUNS = 3  # a median needs them, so that many are used even if the machine was never quiet


@dataclass(frozen=True, slots=True)
class Run:
    """What one process measured: figures are numbers, facts are texts, an error is why there are none."""

    suite: str
    peer: str
    repeat: int
    figures: dict[str, float] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    error: str = ""
    seconds: float = 0.0
    others: float | None = None

    @classmethod
    def read(cls, file: Path) -> "list[Run]":
        """Return what a results file holds, nothing if there is none."""
        return [cls(**json.loads(line)) for line in file.read_text("utf-8").splitlines()] if file.exists() else []

    def as_json(self) -> dict[str, Any]:
        """Return the run as one line of the results file holds it."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Cell:
    """All runs of one peer in one suite, and those of them that count."""

    peer: str
    runs: tuple[Run, ...]

    @property
    def error(self) -> str:
        """Why nothing was measured, empty if something was."""
        return "" if any(not run.error for run in self.runs) else next((run.error for run in self.runs), "not run")

    @property
    def counted(self) -> list[Run]:
        """The quiet runs at full pace, or the quietest if there are too few of them."""
        good = sorted((run for run in self.runs if not run.error), key=lambda run: run.others or 0.0)
        fastest = min((run.figures.get(YARDSTICK, 0.0) for run in good), default=0.0)
        quiet = [
            run for run in good if (run.others or 0.0) <= QUIET and run.figures.get(YARDSTICK, 0.0) <= fastest * _SLOW
        ]
        return quiet if len(quiet) >= _FEWEST_RUNS else good[:_FEWEST_RUNS]

    def samples(self, figure: str) -> list[float]:
        """Return the figure in each counted run that has it."""
        return [run.figures[figure] for run in self.counted if figure in run.figures]

    def get(self, figure: str) -> float | None:
        """Return the median of a figure, None if it was not measured."""
        samples = self.samples(figure)
        return median(samples) if samples else None

    def spread(self, figure: str) -> tuple[float, float] | None:
        """Return the least and the greatest of a figure in the counted runs, None if it was not measured."""
        samples = self.samples(figure)
        return (min(samples), max(samples)) if samples else None

    def count(self, figure: str) -> float | None:
        """Return a figure that no load can change, from any run that has it."""
        return next((run.figures[figure] for run in self.runs if figure in run.figures), None)

    def fact(self, name: str) -> str:
        """Return a text that the runs noted, empty if none did."""
        return next((run.facts[name] for run in self.runs if name in run.facts), "")

    def row(self, figures: Iterable[str]) -> tuple[str, ...]:
        """Return what most tables say of a peer: its name, its version, some figures, and how many runs count."""
        texts = (number(self.get(figure)) for figure in figures)
        return (self.peer, self.fact("version") or MISSING, *texts, str(len(self.counted)))


class Cells:
    """The cells of one suite by peer."""

    def __init__(self, runs: Iterable[Run]) -> None:
        by_peer: dict[str, list[Run]] = {}
        for run in runs:
            by_peer.setdefault(run.peer, []).append(run)
        self._cells = {peer: Cell(peer, tuple(found)) for peer, found in by_peer.items()}

    def __getitem__(self, peer: str) -> Cell:
        return self._cells.get(peer, Cell(peer, ()))

    def measured(self) -> list[Cell]:
        """Return the cells that hold figures."""
        return [cell for cell in self._cells.values() if not cell.error]

    def failed(self) -> list[Run]:
        """Return the runs that ended in an error."""
        return [run for cell in self._cells.values() for run in cell.runs if run.error]

    def ratio(self, above: tuple[str, str], below: tuple[str, str]) -> float | None:
        """Return one (peer, figure) divided by another, None if either is missing."""
        high, low = self[above[0]].get(above[1]), self[below[0]].get(below[1])
        return high / low if high is not None and low else None

    def ratio_range(self, above: tuple[str, str], below: tuple[str, str]) -> tuple[float, float] | None:
        """Return the least and the greatest ratio that any two of the counted runs give."""
        highs, lows = self[above[0]].samples(above[1]), self[below[0]].samples(below[1])
        if not highs or not lows or 0.0 in lows:
            return None
        return min(highs) / max(lows), max(highs) / min(lows)

"""Tables and promises as Markdown that also reads well in a terminal."""

from collections.abc import Sequence
from dataclasses import dataclass

MISSING = "-"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a header, and what a reader must know about them."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [self.header, *self.rows]
        columns = list(zip(*lines, strict=True))
        widths = [max(len(cell) for cell in column) for column in columns]
        right = [_is_numeric(column[1:]) for column in columns]
        rule = ["-" * (width - numeric) + ":" * numeric for width, numeric in zip(widths, right, strict=True)]
        shown = []
        for line in (self.header, rule, *self.rows):
            aligned = zip(line, widths, right, strict=True)
            shown.append(
                "| " + " | ".join(f"{cell:{'>' if numeric else '<'}{w}}" for cell, w, numeric in aligned) + " |"
            )
        notes = ["", *(f"- {note}" for note in self.notes)] if self.notes else []
        return "\n".join([f"### {self.title}", "", *shown, *notes])


@dataclass(frozen=True, slots=True)
class Promise:
    """A figure that was promised, and what was measured: None if it was not."""

    text: str
    measured: float | None
    bound: float
    unit: str = ""
    at_most: bool = False
    spread: tuple[float, float] | None = None
    limit: float | None = None  # what the least work of plain Python gave in the same run, where there is such a thing

    @property
    def verdict(self) -> str:
        """Whether it was kept."""
        if self.measured is None:
            return "NOT MEASURED"
        kept = self.measured <= self.bound if self.at_most else self.measured >= self.bound
        return "met" if kept else "NOT MET"

    def row(self) -> tuple[str, ...]:
        """Return the promise as a row under PROMISE_HEADER."""
        spread = f"{number(self.spread[0])} to {number(self.spread[1])}" if self.spread else MISSING
        bound = f"{'at most' if self.at_most else 'at least'} {number(self.bound)}{self.unit}"
        measured = MISSING if self.measured is None else f"{number(self.measured)}{self.unit}"
        limit = MISSING if self.limit is None else f"{number(self.limit)}{self.unit}"
        return (self.text, bound, measured, spread, limit, self.verdict)


PROMISE_HEADER = ("promise", "bound", "measured", "least to greatest", "physical limit", "verdict")


def promise_table(promises: Sequence[Promise]) -> Table:
    """Return all promises as one table."""
    return Table("Promises", PROMISE_HEADER, [promise.row() for promise in promises])


def number(value: float | None, unit: str = "") -> str:
    """Return a figure with three significant digits, and thousands apart."""
    if value is None:
        return MISSING
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}{unit}"
    return f"{value:.3g}{unit}"


def _is_numeric(cells: Sequence[str]) -> bool:
    """Whether most cells of a column begin with a digit, those that are missing left aside."""
    present = [cell for cell in cells if cell != MISSING]
    return 2 * sum(cell[:1].isdigit() for cell in present) > len(present)

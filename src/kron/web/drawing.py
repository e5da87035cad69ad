"""Pictures as coordinates: windows with their chosen seconds, a window explained, outcomes, maps of starts."""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any, NamedTuple

from kron.decision.decide import candidates
from kron.decision.decision import Decision
from kron.decision.feasibility import feasibility
from kron.instant import SECOND, Instant
from kron.rules.history import RunRow
from kron.web.format import badge_of

_WIDE = 1000.0
_SPANS = 200  # of allowed time that are drawn
_COLUMN, _HIGH = 16, 60  # of the strip of outcomes
_CELL, _LEFT, _TOP, _HEAT = 16, 60, 18, 960  # of a map of starts
_LETTER = 8  # width
_HEADS = 12  # columns that are named, at most
_FAINTEST = 0.25  # colour of a cell with hardly anything in it


class Rectangle(NamedTuple):
    """A rectangle, and its CSS class."""

    kind: str
    x: float
    y: float
    width: float
    height: float


class Letter(NamedTuple):
    """A letter above or below what it is about."""

    kind: str
    text: str
    x: float
    y: int


class Drawing(NamedTuple):
    """Shapes, later ones over earlier ones, and a label for screen readers."""

    label: str
    shapes: Sequence[Rectangle | Letter]


def bands(since: Instant, until: Instant, decisions: Sequence[Decision], label: str) -> Drawing:
    """Return the windows of decisions in a span of time, and their chosen seconds."""
    whole = (until - since) / SECOND

    def place(at: Instant) -> float:
        return round(min(max((at - since) / SECOND / whole, 0.0), 1.0) * _WIDE, 1)

    drawn = []
    for each in decisions:
        left, right = place(each.window_start), place(each.window_end)
        if each.window_end > each.window_start:
            drawn.append(Rectangle("band", left, 4, max(round(right - left, 1), 2), 12))
    for each in decisions:
        if each.chosen_time is not None and each.chosen_time <= until:
            drawn.append(Rectangle("mark", place(each.chosen_time), 0, 5, 20))
    return Drawing(label, drawn)


def explained_window(decision: Decision, label: str) -> Drawing:
    """Return a window to scale: what is allowed, which candidates were rejected, what was chosen, and the nominal."""
    found = feasibility(decision, decision.nominal_time)
    start, seats = decision.window_start, (decision.window_end - decision.window_start) // SECOND + 1

    def place(at: Instant) -> float:
        return round(10 + min(max((at - start) // SECOND / seats, 0.0), 1.0) * 980, 1)

    drawn: list[Rectangle | Letter] = [Rectangle("shut", 10, 38, 980, 8)]
    for first, last in found.spans[:_SPANS]:
        width = max(round(place(last) + 980 / seats - place(first), 1), 2)
        drawn.append(Rectangle("allowed", place(first), 30, width, 24))
    drawn += [Letter("rejected", "×", place(each.at), 24) for each in candidates(decision) if each.rejected_by]
    if start <= decision.nominal_time <= decision.window_end:
        drawn.append(Letter("nominal", "N", place(decision.nominal_time), 76))
    if decision.chosen_time is not None:
        at = place(decision.chosen_time)
        drawn += [Letter("chosen", "▼", at, 24), Rectangle("mark", at - 2, 26, 4, 32)]
    return Drawing(label, drawn)


class Column(NamedTuple):
    """A row of the history in the strip of outcomes."""

    row: RunRow
    shapes: Sequence[Rectangle | Letter]


class Strip(NamedTuple):
    """A column for each row: its height is the duration, with the symbol of the result."""

    width: int
    height: int
    columns: Sequence[Column]


def strip(rows: Sequence[RunRow]) -> Strip:
    """Return the strip of these rows, in their order."""
    longest = max((row.duration or 0 for row in rows), default=0) or 1
    latest = max((row.lateness or 0 for row in rows), default=0) or 1
    columns = []
    for number, row in enumerate(rows):
        left, badge = number * _COLUMN, badge_of(row)
        high = round(4 + (_HIGH - 4) * sqrt((row.duration or 0) / longest), 1) if row.run_id else 4.0
        shapes: list[Rectangle | Letter] = [Rectangle(f"col {badge.kind}", left + 1, _HIGH - high, _COLUMN - 2, high)]
        if row.lateness:
            y = round(_HIGH - _HIGH * sqrt(row.lateness / latest), 1)
            shapes.append(Rectangle("late", left, min(y, _HIGH - 3), _COLUMN, 3))
        shapes.append(Letter("glyph", badge.symbol, left + _COLUMN / 2, _HIGH + 14))
        columns.append(Column(row, shapes))
    return Strip(len(rows) * _COLUMN, _HIGH + 20, columns)


class HeatPicture(NamedTuple):
    """Where the cells of a map of starts and its names are drawn."""

    width: int
    height: int
    label: str
    most: int  # starts in a cell
    names: Sequence[tuple[int, int, str]]  # of columns and rows: where, and what
    cells: Sequence[tuple[str, str, str]]  # the path, how strong the colour is, and what it means


def heat_picture(heat: Mapping[str, Any]) -> HeatPicture:
    """Return the picture of a heat map that a worker sent."""
    rows, columns = heat["rows"], heat["columns"]
    most = max((count for *_, count in heat["cells"]), default=1)
    wide, left = _HEAT // len(columns), max(_LEFT, _LETTER * max(map(len, rows)))
    heads = list(enumerate(columns))[:: -(-len(columns) // _HEADS)]
    names = [(left + number * wide, _TOP - 6, name) for number, name in heads]
    names += [(0, _TOP + row * _CELL + 12, name) for row, name in enumerate(rows)]
    cells = []
    for row, column, name, count in heat["cells"]:
        square = f"M{left + column * wide} {_TOP + row * _CELL}h{wide - 1}v15h-{wide - 1}z"
        cells.append((square, f"{_FAINTEST + (1 - _FAINTEST) * count / most:.2f}", f"{name}: {count}"))
    label = f"A map of {len(rows)} rows and {len(columns)} columns; the tables below say the same"
    return HeatPicture(left + len(columns) * wide, _TOP + len(rows) * _CELL, label, most, names, cells)

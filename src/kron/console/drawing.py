"""Drawings for a terminal: the bar of a window, the strips of a week, a histogram, and a heat map."""

from collections.abc import Iterator, Sequence
from shutil import get_terminal_size

import click

from kron.console.output import display_width, pad
from kron.decision.decide import Candidate
from kron.decision.decision import Decision
from kron.decision.feasibility import Feasibility
from kron.forecast.forecast import HeatMap
from kron.instant import SECOND, Instant

_WIDEST_BAR = 64
_CELLS_A_DAY = 8
_EIGHTHS = " ▁▂▃▄▅▆▇█"


def window_bar(decision: Decision, found: Feasibility, tried: Sequence[Candidate]) -> list[str]:
    """Return the window drawn to scale: what is allowed, where candidates were rejected, and what was chosen."""
    bar = min(_WIDEST_BAR, max(get_terminal_size((80, 24)).columns - 4, 16))
    start, seats = decision.window_start, (decision.window_end - decision.window_start) // SECOND + 1

    def column(at: Instant) -> int:
        return min(max((at - start) // SECOND * bar // seats, 0), bar - 1)

    cells = ["░"] * bar
    for first, last in found.spans:
        for position in range(column(first), column(last) + 1):
            cells[position] = "█"
    marks = [" "] * bar
    for candidate in tried:
        if candidate.rejected_by:
            marks[column(candidate.at)] = click.style("×", fg="red")
    if decision.chosen_time is not None:
        marks[column(decision.chosen_time)] = click.style("▼", fg="green", bold=True)
    under = [" "] * bar
    if start <= decision.nominal_time <= decision.window_end:
        under[column(decision.nominal_time)] = "N"
    zone = decision.terms.zone
    first_text, last_text = (f"{zone.local(at):%H:%M:%S}" for at in (start, decision.window_end))
    scale = first_text + last_text.rjust(bar - len(first_text))
    legend = "█ allowed  ░ not allowed  × rejected  ▼ chosen  N nominal"
    return ["".join(marks), "".join(cells), "".join(under), scale, legend]


def week_strips(decisions: Sequence[Decision], names: dict[str, str]) -> list[str]:
    """Return a row for each job: seven days from the first decision on, a cell for every three hours of UTC."""
    moments = [(decision.identity, decision.chosen_time or decision.window_start) for decision in decisions]
    midnight = min(at for _, at in moments).replace(hour=0, minute=0, second=0, microsecond=0)
    days = [midnight + SECOND * 86_400 * day for day in range(7)]
    width = max(map(display_width, names.values())) + 2
    counts = {identity: [0] * 7 * _CELLS_A_DAY for identity in names}
    for identity, at in moments:
        cell = (at - midnight) // (SECOND * (86_400 // _CELLS_A_DAY))
        if cell < 7 * _CELLS_A_DAY:
            counts[identity][cell] += 1
    rows = [" " * width + "".join(f"{day:%a %d}".ljust(_CELLS_A_DAY) for day in days).rstrip()]
    for identity, name in names.items():
        cells = "".join(_EIGHTHS[min(count, 8)] if count else "·" for count in counts[identity])
        rows.append(f"{pad(name, width)}{cells}")
    return rows


def histogram(values: Sequence[int]) -> str:
    """Return one block character for each count, scaled to the greatest."""
    top = max(values, default=0) or 1
    return "".join(_EIGHTHS[-(-value * 8 // top)] for value in values)


_HEAT_LEVELS = "·▁▂▃▄▅▆▇█"
_HEAT_COLOURS = ("bright_black", "blue", "cyan", "cyan", "green", "green", "yellow", "yellow", "red")
_TENS = 10


def heat_rows(heat: HeatMap) -> Iterator[str]:
    """Yield the title, the columns and a line for each row: chosen starts, scaled to the greatest count."""
    top = max((count for row in heat.chosen for count in row), default=0)
    wide = 1 if len(heat.columns) > 24 else 2  # columns of a cell
    left = max(map(len, heat.rows)) + 1
    yield click.style(heat.title, bold=True)
    step = _TENS if wide == 1 else 3
    heads = (name.rstrip(":").ljust(wide * step) for name in heat.columns[::step])
    yield f"{' ' * left}{''.join(heads).rstrip()}"
    for name, counts in zip(heat.rows, heat.chosen, strict=True):
        yield name.ljust(left) + "".join(_cell(count, top) * wide for count in counts)
    yield f"{' ' * left}· none  {_HEAT_LEVELS[1]} few  {_HEAT_LEVELS[8]} {top}"


def _cell(count: int, top: int) -> str:
    level = -(-count * 8 // top) if count else 0
    return click.style(_HEAT_LEVELS[level], fg=_HEAT_COLOURS[level])

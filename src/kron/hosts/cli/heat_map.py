"""heat_rows(heat) -> lines: a map of starts for a terminal, a character a cell, in colour where there is any."""

from collections.abc import Iterator

import click

from kron.rules.heat import Heat

_EIGHTHS = "·▁▂▃▄▅▆▇█"
_COLOURS = ("bright_black", "blue", "cyan", "cyan", "green", "green", "yellow", "yellow", "red")
_TENS = 10


def heat_rows(heat: Heat) -> Iterator[str]:
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
    yield f"{' ' * left}· none  {_EIGHTHS[1]} few  {_EIGHTHS[8]} {top}"


def _cell(count: int, top: int) -> str:
    level = -(-count * 8 // top) if count else 0
    return click.style(_EIGHTHS[level], fg=_COLOURS[level])

"""Pictures for a terminal: a window as a bar, a histogram, and times in two zones."""

from collections.abc import Sequence

import click

from kron.cron.zone import Zone
from kron.decision.decide import Candidate
from kron.decision.decision import Decision
from kron.decision.report import Report
from kron.instant import SECOND, Instant, format_instant

BAR = 64
_CELLS_A_DAY = 8
_EIGHTHS = " ▁▂▃▄▅▆▇█"


def local_text(zone: Zone, at: Instant) -> str:
    """Return an instant on the zone's wall clock, with its weekday and offset."""
    local = zone.local(at)
    return f"{local:%a %Y-%m-%d %H:%M:%S} {_offset_text(local.strftime('%z'))}"


def _offset_text(offset: str) -> str:
    parts = [offset[:3], offset[3:5], offset[5:7]]
    return ":".join(part for part in parts if part)


def both_texts(zone: Zone, at: Instant) -> str:
    """Return an instant in UTC and, in any other zone, on its wall clock too."""
    text = format_instant(at)
    return text if zone.name == "UTC" else f"{text}  ({local_text(zone, at)})"


def window_bar(decision: Decision, found: Report, tried: Sequence[Candidate]) -> list[str]:
    """Return the window drawn to scale: what is allowed, where candidates were rejected, and what was chosen."""
    start, seats = decision.window_start, (decision.window_end - decision.window_start) // SECOND + 1

    def column(at: Instant) -> int:
        return min(max((at - start) // SECOND * BAR // seats, 0), BAR - 1)

    cells = ["░"] * BAR
    for first, last in found.spans:
        for position in range(column(first), column(last) + 1):
            cells[position] = "█"
    marks = [" "] * BAR
    for candidate in tried:
        if candidate.rejected_by:
            marks[column(candidate.at)] = click.style("×", fg="red")
    if decision.chosen_time is not None:
        marks[column(decision.chosen_time)] = click.style("▼", fg="green", bold=True)
    under = [" "] * BAR
    if start <= decision.nominal_time <= decision.window_end:
        under[column(decision.nominal_time)] = "N"
    zone = decision.terms.zone
    first_text, last_text = (f"{zone.local(at):%H:%M:%S}" for at in (start, decision.window_end))
    scale = first_text + last_text.rjust(BAR - len(first_text))
    legend = "█ allowed  ░ not allowed  × rejected  ▼ chosen  N nominal"
    return ["".join(marks), "".join(cells), "".join(under), scale, legend]


def week_strips(decisions: Sequence[Decision], names: dict[str, str]) -> list[str]:
    """Return a row for each job: seven days from the first decision on, a cell for every three hours of UTC."""
    moments = [(decision.identity, decision.chosen_time or decision.window_start) for decision in decisions]
    midnight = min(at for _, at in moments).replace(hour=0, minute=0, second=0, microsecond=0)
    days = [midnight + SECOND * 86_400 * day for day in range(7)]
    width = max(map(len, names.values())) + 2
    rows = [" " * width + "".join(f"{day:%a %d}".ljust(_CELLS_A_DAY) for day in days)]
    for identity, name in names.items():
        counts = [0] * 7 * _CELLS_A_DAY
        for owner, at in moments:
            cell = (at - midnight) // (SECOND * (86_400 // _CELLS_A_DAY))
            if owner == identity and cell < len(counts):
                counts[cell] += 1
        rows.append(f"{name:<{width}}{''.join(_EIGHTHS[min(count, 8)] if count else '·' for count in counts)}")
    return rows


def histogram(values: Sequence[int]) -> str:
    """Return one block character for each count, scaled to the greatest."""
    top = max(values, default=0) or 1
    return "".join(_EIGHTHS[-(-value * 8 // top)] for value in values)

"""Pictures as SVG, drawn by krond: windows as bands with the chosen second as a mark, a window explained, outcomes."""

from collections.abc import Iterable, Sequence
from math import sqrt

from kron.decision.decide import candidates
from kron.decision.decision import Decision
from kron.decision.feasibility import feasibility
from kron.hosts.krond.web.format import glyph, run_href, told_briefly, tone
from kron.hosts.krond.web.html import Child, Markup, tag
from kron.instant import SECOND, Instant
from kron.rules.history import RunRow

_WIDE = 1000.0
_SPANS = 200  # of allowed time that are drawn
_COLUMN, _HIGH = 16, 60  # of the strip of outcomes


def bands(since: Instant, until: Instant, decisions: Sequence[Decision], label: str) -> Markup:
    """Return the windows of decisions in a span of time, and their chosen seconds."""
    whole = (until - since) / SECOND

    def place(at: Instant) -> float:
        return round(min(max((at - since) / SECOND / whole, 0.0), 1.0) * _WIDE, 1)

    drawn: list[Child] = []
    for each in decisions:
        left, right = place(each.window_start), place(each.window_end)
        if each.window_end > each.window_start:
            drawn.append(tag("rect", class_="band", x=left, y=4, width=max(round(right - left, 1), 2), height=12))
    for each in decisions:
        if each.chosen_time is not None and each.chosen_time <= until:
            drawn.append(tag("rect", class_="mark", x=place(each.chosen_time), y=0, width=5, height=20))
    return _svg("bands", "0 0 1005 20", label, drawn, stretched=True)


def explanation(decision: Decision, label: str) -> Markup:
    """Return a window to scale: what is allowed, which candidates were rejected, what was chosen, and the nominal."""
    found = feasibility(decision, decision.nominal_time)
    start, seats = decision.window_start, (decision.window_end - decision.window_start) // SECOND + 1

    def place(at: Instant) -> float:
        return round(10 + min(max((at - start) // SECOND / seats, 0.0), 1.0) * 980, 1)

    drawn: list[Child] = [tag("rect", class_="shut", x=10, y=38, width=980, height=8)]
    for first, last in found.spans[:_SPANS]:
        width = max(round(place(last) + 980 / seats - place(first), 1), 2)
        drawn.append(tag("rect", class_="allowed", x=place(first), y=30, width=width, height=24))
    drawn += [_letter("rejected", "×", place(each.at), 24) for each in candidates(decision) if each.rejected_by]
    if start <= decision.nominal_time <= decision.window_end:
        drawn.append(_letter("nominal", "N", place(decision.nominal_time), 76))
    if decision.chosen_time is not None:
        at = place(decision.chosen_time)
        drawn += [_letter("chosen", "▼", at, 24), tag("rect", class_="mark", x=at - 2, y=26, width=4, height=32)]
    return tag("div", _svg("explained", "0 0 1000 80", label, drawn), class_="wide")


def strip(rows: Sequence[RunRow]) -> Markup:
    """Return a column for each row: as high as it took long, with a sign for what became of it.

    It leads to runs with a pointer alone: who has none goes through the table that says the same.
    """
    longest = max((_took(row) for row in rows), default=0.0) or 1.0
    latest = max((_late(row) for row in rows), default=0.0) or 1.0
    columns: list[Child] = []
    for number, row in enumerate(rows):
        left, took, late = number * _COLUMN, _took(row), _late(row)
        high = round(4 + (_HIGH - 4) * sqrt(took / longest), 1) if row.run_id else 4.0
        parts: list[Child] = [
            tag("title", told_briefly(row)),
            tag("rect", class_=f"col {tone(row)}", x=left + 1, y=_HIGH - high, width=_COLUMN - 2, height=high),
        ]
        if late:
            y = round(_HIGH - _HIGH * sqrt(late / latest), 1)
            parts.append(tag("rect", class_="late", x=left, y=min(y, _HIGH - 3), width=_COLUMN, height=3))
        parts.append(tag("text", glyph(row), class_="glyph", x=left + _COLUMN / 2, y=_HIGH + 14, text_anchor="middle"))
        whole = tag("g", parts)
        columns.append(tag("a", whole, href=run_href(row.run_id), tabindex=-1) if row.run_id else whole)
    box = f"0 0 {len(rows) * _COLUMN} {_HIGH + 20}"
    return tag("div", _svg("strip", box, "Outcomes, as in the table below", columns), class_="wide")


def _took(row: RunRow) -> float:
    return row.duration or 0


def _late(row: RunRow) -> float:
    return row.lateness or 0


def _letter(kind: str, letter: str, x: float, y: int) -> Markup:
    return tag("text", letter, class_=kind, x=x, y=y, text_anchor="middle")


def _svg(kind: str, box: str, label: str, drawn: Iterable[Child], *, stretched: bool = False) -> Markup:
    ratio = {"preserveAspectRatio": "none"} if stretched else {}
    return tag("svg", drawn, class_=kind, viewBox=box, **ratio, role="img", aria_label=label)

"""Plot series of points as SVG: both axes logarithmic, so that linear growth is a line of slope one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import ceil, floor, log10

from bench.tables import number

Points = Sequence[tuple[float, float]]

_WIDTH, _HEIGHT = 760, 470
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 170, 40, 50
_COLOURS = (
    "#0b5fa5",
    "#66a3d9",
    "#c0392b",
    "#e08214",
    "#6a3d9a",
    "#2e7d32",
    "#888888",
    "#aaaaaa",
    "#bbbbbb",
    "#cccccc",
)
_STYLE = "font-family='sans-serif' font-size='12' fill='#333'"
_LABEL_HEIGHT = 15.0


@dataclass(frozen=True, slots=True)
class Axis:
    """Powers of ten along one side of the image."""

    low: int
    high: int
    start: float
    end: float

    @classmethod
    def over(cls, values: Sequence[float], start: float, end: float) -> "Axis":
        """Return the axis that holds all values."""
        low = floor(log10(min(values)))
        return cls(low, max(low + 1, ceil(log10(max(values)))), start, end)

    def place(self, value: float) -> float:
        """Return where a value is."""
        return self.start + (log10(value) - self.low) / (self.high - self.low) * (self.end - self.start)

    def powers(self) -> list[float]:
        """Return what the axis is marked with."""
        return [10.0**power for power in range(self.low, self.high + 1)]


def log_log(title: str, across: str, up: str, series: Mapping[str, Points]) -> str:
    """Return the image: a line for each series, named at its end, and a dotted one that shows linear growth."""
    points = list(chain.from_iterable(series.values()))
    if not points:
        return ""
    x = Axis.over([point[0] for point in points], _LEFT, _WIDTH - _RIGHT)
    y = Axis.over([point[1] for point in points], _HEIGHT - _BOTTOM, _TOP)
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {_WIDTH} {_HEIGHT}' width='{_WIDTH}'>",
        f"<rect width='{_WIDTH}' height='{_HEIGHT}' fill='white'/>",
        _text(_LEFT, 22, title, "font-weight='bold'"),
        _text((x.start + x.end) / 2, _HEIGHT - 12, across, "text-anchor='middle'"),
        _text(16, _HEIGHT / 2, up, f"text-anchor='middle' transform='rotate(-90 16 {_HEIGHT / 2})'"),
    ]
    for value in x.powers():
        parts.append(_line([(x.place(value), y.start), (x.place(value), y.end)], "#e5e5e5"))
        parts.append(_text(x.place(value), y.start + 18, number(value), "text-anchor='middle'"))
    for value in y.powers():
        parts.append(_line([(x.start, y.place(value)), (x.end, y.place(value))], "#e5e5e5"))
        parts.append(_text(x.start - 6, y.place(value) + 4, number(value), "text-anchor='end'"))
    parts += _linear(x, y, next(iter(series.values())))
    parts += _series(x, y, series)
    return "\n".join([*parts, "</svg>", ""])


def _linear(x: Axis, y: Axis, points: Points) -> list[str]:
    """Return the dotted line through the last point of a series along which a value grows as the number does."""
    if not points:
        return []
    per_one = points[-1][1] / points[-1][0]
    least = max(10.0**x.low, 10.0**y.low / per_one)
    most = min(10.0**x.high, 10.0**y.high / per_one)
    ends = [(x.place(value), y.place(value * per_one)) for value in (least, most)]
    return [_line(ends, "#999999", "stroke-dasharray='2 4'")]


def _series(x: Axis, y: Axis, series: Mapping[str, Points]) -> list[str]:
    """Return lines and dots, and the names, moved apart where they would lie on each other."""
    parts, names = [], []
    for index, (name, points) in enumerate(series.items()):
        if not points:
            continue
        colour = _COLOURS[index % len(_COLOURS)]
        places = [(x.place(across), y.place(up)) for across, up in points]
        parts.append(_line(places, colour, f"stroke-width='{3 if index == 0 else 1.5}'"))
        parts += [f"<circle cx='{across:.1f}' cy='{up:.1f}' r='3' fill='{colour}'/>" for across, up in places]
        names.append((places[-1], name, colour))
    height = 0.0
    for (across, up), name, colour in sorted(names, key=lambda each: each[0][1]):
        height = max(up + 4, height + _LABEL_HEIGHT)
        parts.append(_line([(across + 4, up), (_WIDTH - _RIGHT + 12, height - 4)], colour, "stroke-width='0.5'"))
        parts.append(_text(_WIDTH - _RIGHT + 16, height, name, f"style='fill:{colour}'"))
    return parts


def _line(places: Points, colour: str, more: str = "") -> str:
    path = " ".join(f"{across:.1f},{up:.1f}" for across, up in places)
    return f"<polyline points='{path}' fill='none' stroke='{colour}' {more}/>"


def _text(across: float, up: float, text: str, more: str = "") -> str:
    return f"<text x='{across:.1f}' y='{up:.1f}' {_STYLE} {more}>{text}</text>"

"""The page of the load: how many jobs start when, over the coming day, week or year."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from heapq import nlargest
from operator import itemgetter
from typing import Any, NamedTuple

from kron.instant import parse_instant
from kron.web.forecast_worker import ForecastWorkers
from kron.web.queries import JobQueries
from kron.web.views import Page

SPANS = {"day": timedelta(days=1), "week": timedelta(days=7), "year": timedelta(days=365)}
_CELL, _LEFT, _TOP = 16, 60, 18
_LETTER = 8  # width
_HEADS = 12  # columns that are named, at most
_WIDE = 960
_FAINTEST = 0.25  # colour of a cell with hardly anything in it
_BUSIEST = 10


def load_page(queries: JobQueries, workers: ForecastWorkers, name: str) -> Page:
    """Return the load of a span that begins with the current day, in UTC."""
    now = queries.now()
    since = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(seconds=1)
    found = workers.load(queries.definitions(), since, since + SPANS[name])
    heat = found["heat"]
    peaks = [
        {
            "unit": unit,
            "nominal": found["nominal"][unit]["count"],
            "chosen": chosen["count"],
            "at": None if chosen["at"] is None else parse_instant(chosen["at"]),
        }
        for unit, chosen in found["chosen"].items()
    ]
    context = {
        "runs": found["runs"],
        "unschedulable": found["unschedulable"],
        "peaks": peaks,
        "heat": _drawn(heat),
        "most": _most(heat),
        "busiest": [(name, count) for *_, name, count in nlargest(_BUSIEST, heat["cells"], key=itemgetter(3))],
        "starts": heat["listed"],
    }
    return _page(name, context)


def waiting_page(name: str) -> Page:
    """Return what is shown while the load is counted; a browser asks again by itself."""
    return _page(name, {"peaks": None})


def _page(name: str, context: Mapping[str, object]) -> Page:
    return Page("load.html", f"Load of the {name}", {"spans": list(SPANS), "span": name, **context}, path="/load")


class HeatPicture(NamedTuple):
    """Where the cells of a map of starts and its names are drawn."""

    width: int
    height: int
    label: str
    names: Sequence[tuple[int, int, str]]  # of columns and rows: where, and what
    cells: Sequence[tuple[str, str, str]]  # the path, how strong the colour is, and what it means


def _drawn(heat: Mapping[str, Any]) -> HeatPicture:
    """Return the picture of a heat map that a worker sent."""
    rows, columns, most = heat["rows"], heat["columns"], _most(heat)
    wide, left = _WIDE // len(columns), max(_LEFT, _LETTER * max(map(len, rows)))
    heads = list(enumerate(columns))[:: -(-len(columns) // _HEADS)]
    names = [(left + number * wide, _TOP - 6, name) for number, name in heads]
    names += [(0, _TOP + row * _CELL + 12, name) for row, name in enumerate(rows)]
    cells = []
    for row, column, name, count in heat["cells"]:
        square = f"M{left + column * wide} {_TOP + row * _CELL}h{wide - 1}v15h-{wide - 1}z"
        cells.append((square, f"{_FAINTEST + (1 - _FAINTEST) * count / most:.2f}", f"{name}: {count}"))
    label = f"A map of {len(rows)} rows and {len(columns)} columns; the tables below say the same"
    return HeatPicture(left + len(columns) * wide, _TOP + len(rows) * _CELL, label, names, cells)


def _most(heat: Mapping[str, Any]) -> int:
    return max((count for *_, count in heat["cells"]), default=1)

"""The page of the load: how many jobs start when, over the coming day, week or year."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from heapq import nlargest
from typing import Any, NamedTuple

from kron.forecast.load import epoch_second, from_epoch_second
from kron.instant import Instant, parse_instant
from kron.web.forecast_worker import ForecastWorkers
from kron.web.queries import JobQueries
from kron.web.views import Page

SPANS = {"day": timedelta(days=1), "week": timedelta(days=7), "year": timedelta(days=365)}
_DAY = timedelta(days=1)
_CELL, _LEFT, _TOP = 16, 60, 18
_WIDE = 960
_FAINTEST = 0.25  # colour of a cell with hardly anything in it
_BUSIEST = 10


class _Heat(NamedTuple):
    rows: Sequence[str]
    columns: Sequence[str]
    told: Sequence[tuple[str, int]]  # what it is in words: when, and how many
    cells: Mapping[tuple[int, int], tuple[int, str]]  # by row and column: how many, and what it is called


def load_page(queries: JobQueries, workers: ForecastWorkers, name: str) -> Page:
    """Return the load of a span that begins with the current day, in UTC."""
    now = queries.now()
    since = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(seconds=1)
    found = workers.load(queries.definitions(), since, since + SPANS[name])
    heat = (
        _by_minutes(found) if name == "day" else _by_hours(found, since) if name == "week" else _by_days(found, since)
    )
    peaks = [
        {
            "unit": unit,
            "nominal": found["nominal"][unit]["count"],
            "chosen": chosen["count"],
            "at": None if chosen["at"] is None else parse_instant(chosen["at"]),
        }
        for unit, chosen in found["chosen"].items()
    ]
    busiest = nlargest(_BUSIEST, heat.cells.values(), key=lambda cell: cell[0])
    context = {
        "runs": found["runs"],
        "unschedulable": found["unschedulable"],
        "peaks": peaks,
        "heat": _drawn(heat),
        "most": _most(heat),
        "busiest": [(name, count) for count, name in busiest],
        "starts": heat.told,
    }
    return _page(name, context)


def waiting_page(name: str) -> Page:
    """Return what is shown while the load is counted; a browser asks again by itself."""
    return _page(name, {"peaks": None})


def _page(name: str, context: Mapping[str, object]) -> Page:
    return Page("load.html", f"Load of the {name}", {"spans": list(SPANS), "span": name, **context}, path="/load")


def _by_minutes(found: Mapping[str, Any]) -> _Heat:
    cells = {
        divmod(at, 60): (count, f"{at // 60:02}:{at % 60:02}") for at, count in enumerate(found["minutes"]) if count
    }
    hours = [f"{hour:02}:" for hour in range(24)]
    listed = [(f"{hour}00", sum(found["minutes"][number * 60 : number * 60 + 60])) for number, hour in enumerate(hours)]
    return _Heat(hours, [f"{minute:02}" for minute in range(60)], listed, cells)


def _by_hours(found: Mapping[str, Any], since: Instant) -> _Heat:
    first = _first_day(since)
    cells = {}
    for at, count in found["hours"]:
        hour = from_epoch_second(at * 3600)
        cells[at // 24 - first, at % 24] = (count, f"{hour:%a %d %b %H}:00")
    days = [f"{from_epoch_second((first + day) * 86_400):%a %d}" for day in range(7)]
    listed = [(name, count) for _, (count, name) in sorted(cells.items())]
    return _Heat(days, [f"{hour:02}" for hour in range(24)], listed, cells)


def _by_days(found: Mapping[str, Any], since: Instant) -> _Heat:
    """Return a column for each week, as calendars are drawn."""
    first = _first_day(since)
    monday = first - (first + 3) % 7  # 1970 began on a Thursday
    days: Counter[int] = Counter()
    for at, count in found["hours"]:
        days[at // 24] += count
    cells, listed = {}, []
    for day, count in sorted(days.items()):
        listed.append((f"{from_epoch_second(day * 86_400):%a %d %b %Y}", count))
        cells[(day + 3) % 7, (day - monday) // 7] = count, listed[-1][0]
    weeks = [f"{from_epoch_second((monday + week * 7) * 86_400):%d %b}" for week in range(54)]
    return _Heat(("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"), weeks, listed, cells)


def _first_day(since: Instant) -> int:
    return epoch_second(since) // 86_400 + 1


class HeatPicture(NamedTuple):
    """Where the cells of a map of starts and its names are drawn."""

    width: int
    height: int
    label: str
    names: Sequence[tuple[int, int, str]]  # of columns and rows: where, and what
    cells: Sequence[tuple[str, str, str]]  # the path, how strong the colour is, and what it means


def _drawn(heat: _Heat) -> HeatPicture:
    most, wide = _most(heat), _WIDE // len(heat.columns)
    often = -(-len(heat.columns) // 12)
    names = [(_LEFT + number * wide, _TOP - 6, name) for number, name in list(enumerate(heat.columns))[::often]]
    names += [(0, _TOP + row * _CELL + 12, name) for row, name in enumerate(heat.rows)]
    cells = []
    for (row, column), (count, name) in heat.cells.items():
        square = f"M{_LEFT + column * wide} {_TOP + row * _CELL}h{wide - 1}v15h-{wide - 1}z"
        cells.append((square, f"{_FAINTEST + (1 - _FAINTEST) * count / most:.2f}", f"{name}: {count}"))
    label = f"A map of {len(heat.rows)} rows and {len(heat.columns)} columns; the tables below say the same"
    return HeatPicture(_LEFT + len(heat.columns) * wide, _TOP + len(heat.rows) * _CELL, label, names, cells)


def _most(heat: _Heat) -> int:
    return max((count for count, _ in heat.cells.values()), default=1)

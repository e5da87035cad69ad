"""load_page(sight, foresight, name) -> bytes: how many jobs start when, over the coming day, week or year."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from heapq import nlargest
from typing import Any, NamedTuple

from kron.forecast.load import epoch_second, from_epoch_second
from kron.hosts.krond.web.document import document, notice, section
from kron.hosts.krond.web.forecast_worker import ForecastWorkers
from kron.hosts.krond.web.format import moment_of
from kron.hosts.krond.web.html import Child, Markup, facts, table, tag
from kron.hosts.krond.web.queries import JobQueries
from kron.instant import Instant

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


def load_page(sight: JobQueries, foresight: ForecastWorkers, name: str) -> bytes:
    """Return the page of a span that begins with the current day, in UTC."""
    now = sight.now()
    since = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(seconds=1)
    found = foresight.load(sight.jobs(), since, since + SPANS[name])
    heat = (
        _by_minutes(found) if name == "day" else _by_hours(found, since) if name == "week" else _by_days(found, since)
    )
    figures = [
        (unit, found["nominal"][unit]["count"], chosen["count"], moment_of(chosen["at"]))
        for unit, chosen in found["chosen"].items()
    ]
    return _document(
        name,
        now,
        section(
            "figures",
            "Most starts",
            facts([("Runs", f"{found['runs']}"), ("Periods without a second", str(found["unschedulable"] or ""))]),
            table("Most starts", ("In one", "Nominal", "Chosen", "First at"), figures, empty=""),
        ),
        section("heat", "Starts, in UTC", _drawn(heat), _told(heat)),
    )


def waiting_page(name: str, now: Instant) -> bytes:
    """Return what is shown while the load is counted; a browser asks again by itself."""
    return _document(name, now, notice("It is being counted. This page asks again by itself.", kind="busy"))


def _document(name: str, now: Instant, *content: Child) -> bytes:
    ways = [tag("a", each.capitalize(), href=f"/load?span={each}", aria_current="page" if each == name else None)
            for each in SPANS]  # fmt: skip
    nav = tag("nav", ways, class_="pages", aria_label="Span")
    return document(f"Load of the {name}", nav, content, now=now, path="/load")


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


def _drawn(heat: _Heat) -> Markup:
    most, wide = _most(heat), _WIDE // len(heat.columns)
    often = -(-len(heat.columns) // 12)
    columns = list(enumerate(heat.columns))[::often]
    drawn: list[Child] = [tag("text", name, x=_LEFT + number * wide, y=_TOP - 6) for number, name in columns]
    drawn += [tag("text", name, x=0, y=_TOP + row * _CELL + 12) for row, name in enumerate(heat.rows)]
    for (row, column), (count, name) in heat.cells.items():
        title = tag("title", f"{name}: {count}")
        square = f"M{_LEFT + column * wide} {_TOP + row * _CELL}h{wide - 1}v15h-{wide - 1}z"
        drawn.append(tag("path", title, d=square, fill_opacity=f"{_FAINTEST + (1 - _FAINTEST) * count / most:.2f}"))
    box = f"0 0 {_LEFT + len(heat.columns) * wide} {_TOP + len(heat.rows) * _CELL}"
    label = f"A map of {len(heat.rows)} rows and {len(heat.columns)} columns; the tables below say the same"
    return tag("div", tag("svg", drawn, class_="heat", viewBox=box, role="img", aria_label=label), class_="wide",
               tabindex="0", role="group", aria_label="Map of starts")  # fmt: skip


def _told(heat: _Heat) -> Child:
    """Return the map for who cannot see it, or wants numbers."""
    rows = [(name, count) for count, name in nlargest(_BUSIEST, heat.cells.values(), key=lambda cell: cell[0])]
    if not rows:
        return tag("p", "Nothing comes.", class_="empty")
    heads = ("When", "Starts")
    return [
        tag("p", f"No colour: nothing starts. The strongest: {_most(heat)} starts.", class_="legend"),
        tag("h3", "The busiest"),
        table("The busiest", heads, rows, empty=""),
        tag("details", tag("summary", "All of it as a table"), table("Starts", heads, heat.told, empty=""), id="all"),
    ]


def _most(heat: _Heat) -> int:
    return max((count for count, _ in heat.cells.values()), default=1)

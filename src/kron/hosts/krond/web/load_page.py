"""load_page(sight, foresight, name) -> bytes: how many jobs start when, over the coming day, week or year."""

from collections.abc import Mapping
from datetime import timedelta
from heapq import nlargest
from operator import itemgetter
from typing import Any

from kron.hosts.krond.web.document import document, notice, section
from kron.hosts.krond.web.forecast_worker import ForecastWorkers
from kron.hosts.krond.web.format import moment_of
from kron.hosts.krond.web.html import Child, Markup, facts, table, tag
from kron.hosts.krond.web.queries import JobQueries
from kron.instant import Instant

SPANS = {"day": timedelta(days=1), "week": timedelta(days=7), "year": timedelta(days=365)}
_CELL, _LEFT, _TOP = 16, 60, 18
_LETTER = 8  # width
_HEADS = 12  # columns that are named, at most
_WIDE = 960
_FAINTEST = 0.25  # colour of a cell with hardly anything in it
_BUSIEST = 10


def load_page(sight: JobQueries, foresight: ForecastWorkers, name: str) -> bytes:
    """Return the page of a span that begins with the current day, in UTC."""
    now = sight.now()
    since = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(seconds=1)
    found = foresight.load(sight.jobs(), since, since + SPANS[name])
    heat = found["heat"]
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


def _drawn(heat: Mapping[str, Any]) -> Markup:
    rows, columns, most = heat["rows"], heat["columns"], _most(heat)
    wide, left = _WIDE // len(columns), max(_LEFT, _LETTER * max(map(len, rows)))
    heads = list(enumerate(columns))[:: -(-len(columns) // _HEADS)]
    drawn: list[Child] = [tag("text", name, x=left + number * wide, y=_TOP - 6) for number, name in heads]
    drawn += [tag("text", name, x=0, y=_TOP + row * _CELL + 12) for row, name in enumerate(rows)]
    for row, column, name, count in heat["cells"]:
        title = tag("title", f"{name}: {count}")
        square = f"M{left + column * wide} {_TOP + row * _CELL}h{wide - 1}v15h-{wide - 1}z"
        drawn.append(tag("path", title, d=square, fill_opacity=f"{_FAINTEST + (1 - _FAINTEST) * count / most:.2f}"))
    box = f"0 0 {left + len(columns) * wide} {_TOP + len(rows) * _CELL}"
    label = f"A map of {len(rows)} rows and {len(columns)} columns; the tables below say the same"
    return tag("div", tag("svg", drawn, class_="heat", viewBox=box, role="img", aria_label=label), class_="wide",
               tabindex="0", role="group", aria_label="Map of starts")  # fmt: skip


def _told(heat: Mapping[str, Any]) -> Child:
    """Return the map for who cannot see it, or wants numbers."""
    rows = [(name, count) for *_, name, count in nlargest(_BUSIEST, heat["cells"], key=itemgetter(3))]
    if not rows:
        return tag("p", "Nothing comes.", class_="empty")
    heads = ("When", "Starts")
    return [
        tag("p", f"No colour: nothing starts. The strongest: {_most(heat)} starts.", class_="legend"),
        tag("h3", "The busiest"),
        table("The busiest", heads, rows, empty=""),
        tag(
            "details",
            tag("summary", "All of it as a table"),
            table("Starts", heads, heat["listed"], empty=""),
            id="all",
        ),
    ]


def _most(heat: Mapping[str, Any]) -> int:
    return max((count for *_, count in heat["cells"]), default=1)

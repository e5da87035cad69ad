"""Pages that need nothing else: the load of a span (`kron forecast --html`) and a trace (`kron verify --html`)."""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256

from kron.forecast.forecast import Collision, Forecast
from kron.forecast.heat import HeatMap, days_by_hours, hours_by_minutes
from kron.forecast.load import UNITS, StartCounts, from_epoch_second
from kron.instant import format_instant
from kron.theory.formula import TruthValue
from kron.theory.results import TraceReport
from kron.theory.trace_format import Line, TraceEvent, TraceHeader, events_of
from kron.web.template import inline_file, render


def _render(template: str, title: str, context: Mapping[str, object], *, script: str = "") -> str:
    """Return a page with its style, its script, and the policy that allows these two and nothing else."""
    style = inline_file(template.replace(".html", ".css"))
    code = inline_file(script) if script else ""
    policy = f"default-src 'none'; style-src {_digest(style)}"
    if code:
        policy += f"; script-src {_digest(code)}"
    return render(template, {"title": title, "policy": policy, "style": style, "script": code, **context})


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


# --- the load of a span -----------------------------------------------------------------------------------------------

_POINTS = 600  # of the curve; of those that fall together the highest is drawn
_WIDTH, _HEIGHT = 1000, 160
_NAMES = 200  # of those in a collision
_FIRST = 3  # of them that are seen at once


def render_load_page(found: Forecast) -> str:
    """Return the load of a span as one page."""
    begin, end = format_instant(found.span.since), format_instant(found.span.until)
    maps = (hours_by_minutes(found), days_by_hours(found))
    context = {
        "begin": begin,
        "end": end,
        "figures": list(_figures(found)),
        "peaks": list(_peaks(found)),
        "curve": _curve(found),
        "maps": [_map(each) for each in maps if each is not None],
        "collisions": [_collision(each) for each in found.collisions],
    }
    return _render("forecast.html", f"Load from {begin} to {end}", context, script="forecast.js")


def _figures(found: Forecast) -> Iterator[tuple[str, str]]:
    load = found.load
    yield "jobs", f"{found.jobs:,}"
    yield "runs", f"{load.chosen.total:,}"
    yield "periods without a second", f"{load.unschedulable:,}"
    if found.known:
        yield "at once, at most", f"{load.active.count:,}"
        yield "at once, on average", f"{found.mean_active:.3g}"


def _peaks(found: Forecast) -> Iterator[tuple[str, dict[str, object], dict[str, object]]]:
    chosen = found.load.chosen.peaks
    for unit, nominal in found.load.nominal.peaks.items():
        yield unit, nominal.to_dict(UNITS[unit]), chosen[unit].to_dict(UNITS[unit])


def _curve(found: Forecast) -> dict[str, object]:
    """Return both series as areas over the span."""
    nominal, chosen = (_coarse(found.series(counts)) for counts in (found.load.nominal, found.load.chosen))
    top = max([*nominal, *chosen, 1])
    first, last = (
        format_instant(from_epoch_second(at * UNITS[found.unit])) for at in (found.buckets[0], found.buckets[-1])
    )
    label = (
        f"Starts in each {found.unit}: nominal at most {_most(found.load.nominal):,}, "
        f"chosen at most {_most(found.load.chosen):,}"
    )
    return {
        "unit": found.unit,
        "width": _WIDTH,
        "height": _HEIGHT,
        "top": top,
        "label": label,
        "nominal": _area(nominal, top),
        "chosen": _area(chosen, top),
        "first": first,
        "last": last,
    }


def _most(counts: StartCounts) -> int:
    return max(counts.series.values(), default=0)


def _coarse(values: list[int]) -> list[int]:
    size = -(-len(values) // _POINTS)
    return [max(values[at : at + size]) for at in range(0, len(values), size)]


def _area(values: list[int], top: int) -> str:
    step = _WIDTH / len(values)
    line = "".join(
        f"V{_HEIGHT - value * (_HEIGHT - 4) / top:.4g}H{(place + 1) * step:.5g}" for place, value in enumerate(values)
    )
    return f"M0 {_HEIGHT}{line}V{_HEIGHT}Z"


def _map(heat: HeatMap) -> dict[str, object]:
    tops = [max((count for row in cells for count in row), default=0) for cells in (heat.nominal, heat.chosen)]
    rows = []
    for name, names, nominal, chosen in zip(heat.rows, heat.names, heat.nominal, heat.chosen, strict=True):
        cells = []
        for place, before, after in zip(names, nominal, chosen, strict=True):
            cells.append(
                {
                    "levels": f"n{_level(before, tops[0])} c{_level(after, tops[1])}",
                    "title": f"{place} — {after:,} chosen, {before:,} nominal",
                    "chosen": _short(after),
                    "nominal": _short(before),
                }
            )
        rows.append((name.rstrip(":"), cells))
    return {"title": heat.title, "columns": [each.rstrip(":") for each in heat.columns], "rows": rows}


def _short(count: int) -> str:
    """Return a count that fits a cell; its title has all of it."""
    if count < 1000:
        return str(count or "")
    return f"{count // 1000}k" if count < 1_000_000 else f"{count // 1_000_000}M"


def _level(count: int, top: int) -> int:
    return -(-count * 8 // top) if count else 0


def _collision(collision: Collision) -> dict[str, object]:
    jobs = collision.entries
    first = ", ".join(each.label for each in jobs[:_FIRST])
    more = f" and {len(jobs) - _FIRST:,} more" if len(jobs) > _FIRST else ""
    return {
        "at": format_instant(collision.at),
        "count": len(jobs),
        "first": f"{first}{more}",
        "jobs": jobs[:_NAMES],
        "more": max(0, len(jobs) - _NAMES),
    }


# --- a trace ----------------------------------------------------------------------------------------------------------

_WIDE, _LANE, _LEFT, _TOP = 1200, 26, 180, 40
_MAX_LANES, _MAX_EVENTS = 200, 20_000  # more than a page can show; the page says what is left out
_SCHEDULER = ""  # the lane of events that are about no single task
_SIGNS = {
    "RunStart": "▶",
    "RunSuccess": "●",
    "RunFailure": "✖",
    "Due": "|",
    "RetryDue": "|",
    "UnexpectedShutdown": "✸",
    "InitStart": "[",
    "InitSuccess": "]",
    "InitFailure": "✖",
    "StopStart": "(",
    "StopEnd": ")",
    "Freeze": "❄",
    "Thaw": "☼",
    "End": "■",
}
_WORDS = {TruthValue.HOLDS: "sound", TruthValue.VIOLATED: "violated", TruthValue.UNDECIDED: "sound so far"}


def render_trace_page(header: TraceHeader, report: TraceReport, positions: Iterable[Line]) -> str:
    """Return a trace as a timeline, with violations marked, and the verdict on each property."""
    verdict = report.verdict.value
    context = {
        "header": header,
        "report": report,
        "verdict": verdict,
        "word": _WORDS[report.verdict],
        "timeline": _timeline(report, positions),
    }
    return _render("trace.html", f"Trace: {verdict}", context)


def _timeline(report: TraceReport, positions: Iterable[Line]) -> dict[str, object] | None:
    first_line = min((finding.line for finding in report.findings if finding.line is not None), default=0)
    begin = max(0, first_line - _MAX_EVENTS * 3 // 4)  # the page shows what led to the first violation
    shown: list[tuple[int, TraceEvent]] = []
    total = 0
    for number, position in enumerate(positions):
        total += 1
        if begin <= number < begin + _MAX_EVENTS:
            shown += [(number, event) for event in events_of(position)]
    if not shown:
        return None
    lanes = list(dict.fromkeys([_SCHEDULER, *(event.subject for _, event in shown)]))
    hidden = lanes[_MAX_LANES:]
    places = {lane: _TOP + _LANE * row for row, lane in enumerate(lanes[:_MAX_LANES])}
    first, last = shown[0][1].time_ms, shown[-1][1].time_ms
    span = max(1, last - first)
    columns = {number: _LEFT + (event.time_ms - first) * (_WIDE - _LEFT - 20) // span for number, event in shown}
    left_out = [f"{len(shown):,} of {total:,} events, from line {begin:,}"] if total > _MAX_EVENTS else []
    left_out += [f"{len(hidden):,} tasks left out"] if hidden else []
    return {
        "width": _WIDE,
        "height": _TOP + _LANE * len(places) + 10,
        "left": _LEFT,
        "right": _WIDE - 20,
        "lanes": [{"name": lane[:24] or "scheduler", "y": y} for lane, y in places.items()],
        "events": [
            {
                "kind": event.kind if event.kind in _SIGNS else "",
                "sign": _SIGNS.get(event.kind, "·"),
                "title": f"line {number}: {event.kind} at {event.time_ms} ms",
                "x": columns[number],
                "y": places[event.subject] + 4,
            }
            for number, event in shown
            if event.subject in places
        ],
        "violations": list(_violations(report, columns, places)),
        "left_out": left_out,
    }


def _violations(
    report: TraceReport, columns: Mapping[int, int], places: Mapping[str, int]
) -> Iterator[dict[str, object]]:
    for finding in report.findings:
        if finding.verdict is TruthValue.VIOLATED and finding.line is not None and finding.line in columns:
            y = places.get(finding.instance, _TOP)
            yield {"line": finding.line, "name": finding.property.name, "x": columns[finding.line], "y": y}

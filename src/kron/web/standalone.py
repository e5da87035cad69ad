"""Pages in one file: the load of a span (`kron forecast --html`) and a trace (`kron verify --html`)."""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256

from kron.forecast.forecast import Forecast, days_by_hours, hours_by_minutes
from kron.forecast.load import UNITS, from_epoch_second
from kron.instant import format_instant
from kron.theory.formula import TruthValue
from kron.theory.results import TraceReport
from kron.theory.trace_format import TraceEvent, TraceHeader, TracePosition, events_of
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


def render_load_page(found: Forecast) -> str:
    """Return the load of a span as one page."""
    begin, end = format_instant(found.span.since), format_instant(found.span.until)
    nominal, chosen = found.load.nominal, found.load.chosen
    curves = [_coarse(found.series(counts)) for counts in (nominal, chosen)]
    top = max([*curves[0], *curves[1], 1])
    ends = [from_epoch_second(bucket * UNITS[found.unit]) for bucket in (found.buckets[0], found.buckets[-1])]
    context = {
        "found": found,
        "begin": begin,
        "end": end,
        "peaks": [
            (unit, peak.to_dict(UNITS[unit]), chosen.peaks[unit].to_dict(UNITS[unit]))
            for unit, peak in nominal.peaks.items()
        ],
        "width": _WIDTH,
        "height": _HEIGHT,
        "top": top,
        "most": [max(counts.series.values(), default=0) for counts in (nominal, chosen)],
        "areas": [_area(values, top) for values in curves],
        "ends": [format_instant(at) for at in ends],
        "maps": [heat for heat in (hours_by_minutes(found), days_by_hours(found)) if heat is not None],
        "level": _level,
        "short": _short,
    }
    return _render("forecast.html", f"Load from {begin} to {end}", context, script="forecast.js")


def _coarse(values: list[int]) -> list[int]:
    size = -(-len(values) // _POINTS)
    return [max(values[at : at + size]) for at in range(0, len(values), size)]


def _area(values: list[int], top: int) -> str:
    step = _WIDTH / len(values)
    line = "".join(
        f"V{_HEIGHT - value * (_HEIGHT - 4) / top:.4g}H{(place + 1) * step:.5g}" for place, value in enumerate(values)
    )
    return f"M0 {_HEIGHT}{line}V{_HEIGHT}Z"


def _short(count: int) -> str:
    """Return a count that fits a cell; its title has all of it."""
    if count < 1000:
        return str(count or "")
    return f"{count // 1000}k" if count < 1_000_000 else f"{count // 1_000_000}M"


def _level(count: int, top: int) -> int:
    return -(-count * 8 // top) if count else 0


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


def render_trace_page(header: TraceHeader, report: TraceReport, positions: Iterable[TracePosition]) -> str:
    """Return a trace as a timeline, with violations marked, and the verdict on each property."""
    verdict = report.verdict
    context = {"header": header, "report": report, "word": _WORDS[verdict], "timeline": _timeline(report, positions)}
    return _render("trace.html", f"Trace: {verdict.value}", context)


def _timeline(report: TraceReport, positions: Iterable[TracePosition]) -> dict[str, object] | None:
    """Return the events that are drawn with their numbers, and where: lanes by subject, columns by number."""
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
    first, last = shown[0][1].time_ms, shown[-1][1].time_ms
    span = max(1, last - first)
    left_out = [f"{len(shown):,} of {total:,} events, from line {begin:,}"] if total > _MAX_EVENTS else []
    left_out += [f"{len(hidden):,} tasks left out"] if hidden else []
    return {
        "width": _WIDE,
        "height": _TOP + _LANE * len(lanes[:_MAX_LANES]) + 10,
        "left": _LEFT,
        "right": _WIDE - 20,
        "top": _TOP,
        "lanes": {lane: _TOP + _LANE * row for row, lane in enumerate(lanes[:_MAX_LANES])},
        "columns": {number: _LEFT + (each.time_ms - first) * (_WIDE - _LEFT - 20) // span for number, each in shown},
        "events": shown,
        "signs": _SIGNS,
        "left_out": left_out,
    }

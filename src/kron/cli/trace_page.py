"""render_trace_page(header, report, positions) -> a trace as an HTML timeline, with violations marked."""

from collections.abc import Iterable
from html import escape

from kron.theory.formula import TruthValue
from kron.theory.results import PropertyResult, TraceReport
from kron.theory.trace_format import Line, TraceEvent, TraceHeader, events_of

_WIDTH, _LANE, _LEFT, _TOP = 1200, 26, 180, 40
_MOST_LANES, _MOST_EVENTS = 200, 20_000  # more than a page can show; what is left out is said
_EVERYBODY = ""  # the lane of events that are about no single task
_MARKS = {
    "RunStart": ("▶", "#2563eb"),
    "RunSuccess": ("●", "#16a34a"),
    "RunFailure": ("✖", "#dc2626"),
    "Due": ("|", "#64748b"),
    "RetryDue": ("|", "#d97706"),
    "UnexpectedShutdown": ("✸", "#dc2626"),
    "InitStart": ("[", "#7c3aed"),
    "InitSuccess": ("]", "#7c3aed"),
    "InitFailure": ("✖", "#7c3aed"),
    "StopStart": ("(", "#0f766e"),
    "StopEnd": (")", "#0f766e"),
    "Freeze": ("❄", "#0284c7"),
    "Thaw": ("☼", "#0284c7"),
    "End": ("■", "#0f172a"),
}
_STYLE = """
body{font:14px/1.5 system-ui,sans-serif;margin:2rem;color:#0f172a}
table{border-collapse:collapse;margin:1rem 0}td,th{padding:.2rem .8rem .2rem 0;text-align:left;vertical-align:top}
.holds{color:#16a34a}.violated{color:#dc2626;font-weight:600}.undecided{color:#b45309}
svg{background:#f8fafc;border:1px solid #e2e8f0;max-width:100%;height:auto}text{font:12px system-ui,sans-serif}
"""


def render_trace_page(header: TraceHeader, report: TraceReport, positions: Iterable[Line]) -> str:
    """Return the whole page; it needs nothing from elsewhere."""
    rows = "".join(_row(finding) for finding in report.findings)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Trace: {report.verdict.value}</title>'
        f"<style>{_STYLE}</style>"
        f"<h1>The trace is <span class={report.verdict.value}>{_word(report.verdict)}</span></h1>"
        f"<p>{report.positions:,} positions under the contract {escape(header.contract)}, "
        f"zone {escape(header.timezone)}.</p>{_drawing(report, positions)}"
        f"<table><tr><th>property<th>verdict<th>line<th>says</tr>{rows}</table></html>\n"
    )


def _word(verdict: TruthValue) -> str:
    return {TruthValue.HOLDS: "sound", TruthValue.VIOLATED: "violated", TruthValue.UNDECIDED: "sound so far"}[verdict]


def _row(finding: PropertyResult) -> str:
    blame = f" ({finding.blame.value})" if finding.blame is not None and finding.verdict is TruthValue.VIOLATED else ""
    more = f"<br><small>{escape(finding.explanation)}{blame}</small>" if finding.explanation else ""
    line = "" if finding.line is None else f"<a href=#line{finding.line}>{finding.line}</a>"
    return (
        f"<tr><td title='{escape(str(finding.property.formula))}'>{finding.property.name}"
        f"<td class={finding.verdict.value}>{finding.verdict.value}<td>{line}"
        f"<td>{escape(finding.property.sentence)}{more}</tr>"
    )


def _drawing(report: TraceReport, positions: Iterable[Line]) -> str:
    broken = [finding.line for finding in report.findings if finding.line is not None]
    begin = max(0, min(broken, default=0) - _MOST_EVENTS * 3 // 4)  # what led to the first violation is to be seen
    shown: list[tuple[int, TraceEvent]] = []
    total = 0
    for number, position in enumerate(positions):
        total += 1
        if begin <= number < begin + _MOST_EVENTS:
            shown += [(number, event) for event in events_of(position)]
    if not shown:
        return ""
    lanes = list(dict.fromkeys([_EVERYBODY, *(position.subject for _, position in shown)]))
    hidden = lanes[_MOST_LANES:]
    places = {lane: _TOP + _LANE * row for row, lane in enumerate(lanes[:_MOST_LANES])}
    first, last = shown[0][1].time_ms, shown[-1][1].time_ms
    span = max(1, last - first)
    where = {number: _LEFT + (position.time_ms - first) * (_WIDTH - _LEFT - 20) // span for number, position in shown}
    height = _TOP + _LANE * len(places) + 10
    parts = [f"<svg viewBox='0 0 {_WIDTH} {height}' width={_WIDTH} role=img aria-label='the trace as a timeline'>"]
    for lane, y in places.items():
        name = escape(lane[:24]) if lane else "scheduler"
        parts.append(f"<text x=8 y={y + 4}>{name}</text><path d='M{_LEFT} {y}H{_WIDTH - 20}' stroke='#e2e8f0'/>")
    for number, position in shown:
        if position.subject in places:
            y = places[position.subject]
            sign, colour = _MARKS.get(position.kind, ("·", "#64748b"))
            title = f"line {number}: {position.kind} at {position.time_ms} ms"
            parts.append(
                f"<text x={where[number]} y={y + 4} fill='{colour}'><title>{escape(title)}</title>{sign}</text>"
            )
    for finding in report.findings:
        if finding.verdict is TruthValue.VIOLATED and finding.line in where:
            x, y = where[finding.line], places.get(finding.instance, _TOP)
            parts.append(
                f"<g id=line{finding.line}><path d='M{x} 20V{height}' stroke='#dc2626' stroke-dasharray='3 3'/>"
                f"<circle cx={x + 3} cy={y} r=10 fill=none stroke='#dc2626' stroke-width=2 />"
                f"<text x={x + 4} y=16 fill='#dc2626'>{finding.property.name}</text></g>"
            )
    left = [f"{len(shown):,} of {total:,} events, from line {begin:,}"] if total > _MOST_EVENTS else []
    left += [f"{len(hidden):,} tasks left out"] if hidden else []
    note = f"<p><small>Drawn: {'; '.join(left)}.</small></p>" if left else ""
    return f"{''.join(parts)}</svg>{note}"

"""Standalone pages: their policy allows their own style and script, and nothing else."""

import re
from base64 import b64encode
from hashlib import sha256
from html import unescape

from kron.forecast.forecast import Forecast
from kron.forecast.load import Load
from kron.forecast.runs import TimeSpan
from kron.instant import parse_instant
from kron.theory.properties import SUITES
from kron.theory.results import TraceReport
from kron.theory.trace_format import TraceHeader, read_trace, write_event, write_header
from kron.web.standalone import render_load_page, render_trace_page
from tests.theory.traces import trace

SPAN = TimeSpan(parse_instant("2026-03-01T00:00:00Z"), parse_instant("2026-03-02T00:00:00Z"))


def load_page() -> str:
    return render_load_page(Forecast(SPAN, 0, Load(), ()))


def trace_page(text: str) -> str:
    lines = [write_header(TraceHeader("declarative")), *map(write_event, trace(text))]
    header, positions = read_trace(iter(lines), SUITES)
    return render_trace_page(header, TraceReport([]), positions)


def policy(page: str) -> str:
    (found,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    return unescape(found)


def digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def test_the_policy_of_a_load_allows_its_style_and_its_script_alone() -> None:
    page = load_page()
    (style,), (script,) = (
        re.findall("<style>(.*?)</style>", page, re.DOTALL),
        re.findall("<script>(.*?)</script>", page, re.DOTALL),
    )

    assert policy(page) == f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)}"


def test_the_policy_of_a_trace_allows_its_style_alone() -> None:
    page = trace_page("I@0 RS@300 REs@301 SS@400 SE@400")
    (style,) = re.findall("<style>(.*?)</style>", page, re.DOTALL)

    assert policy(page) == f"default-src 'none'; style-src {digest(style)}"
    assert "<script" not in page


def test_a_trace_without_events_has_no_timeline() -> None:
    assert "<svg" not in trace_page("")


def test_an_event_is_drawn_in_the_lane_of_its_task() -> None:
    page = trace_page("I@0 RS@300 REs@301 SS@400 SE@400")

    (event,) = re.findall('<text class="event RunStart"[^>]*><title>([^<]*)</title>▶</text>', page)
    assert event == "line 2: RunStart at 300000 ms"

"""python -m kron.hosts.krond.web.foreseeing: a question about the future on stdin, the answer on stdout.

A process of its own: counting a year of ten thousand jobs takes minutes, in which no job of the daemon may be late.
"""

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from kron.instant import parse_instant
from kron.rules.expected import Entry, Span
from kron.rules.feed import feed
from kron.rules.load import Load, count_starts, slices
from kron.rules.work import timing_and_policy

_NICE = 19  # whoever else wants the processor may have it


def answer(asked: Mapping[str, Any]) -> None:
    """Write a feed in its form, or the load as JSON."""
    span = Span(parse_instant(asked["since"]), parse_instant(asked["until"]))
    entries = []
    for name, identity, definition in asked["jobs"]:
        timing, _ = timing_and_policy(identity, definition)
        if timing is not None:
            entries.append(Entry(name, timing))
    if asked["form"] == "load":
        sys.stdout.write(json.dumps(_load(entries, span)))
        return
    for part in feed(entries, span, asked["form"]):
        sys.stdout.write(part)


def _load(entries: list[Entry], span: Span) -> dict[str, object]:
    load = Load()
    for part in slices(span):
        load.add(count_starts(entries, part, "hour"))
    return {
        "minutes": load.chosen.minutes,
        "hours": list(load.chosen.series.items()),
        "nominal": load.nominal.peaks_to_dict(),
        "chosen": load.chosen.peaks_to_dict(),
        "runs": load.chosen.total,
        "unschedulable": load.unschedulable,
    }


if __name__ == "__main__":
    os.nice(_NICE)
    answer(json.load(sys.stdin))

"""Load and feeds of a span, computed in separate processes at the lowest priority: that may take minutes."""

import json
import os
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from datetime import timedelta
from threading import Lock, Timer
from typing import Any

from kron.engine.ledger import JobDefinition
from kron.errors import ControlError
from kron.forecast.feed import feed
from kron.forecast.forecast import Forecast, days_by_hours, hours_by_minutes, weekdays_by_weeks
from kron.forecast.load import Load, count_starts, series_unit, slices
from kron.forecast.runs import ForecastJob, TimeSpan
from kron.instant import Instant, format_instant, parse_instant
from kron.rules.job_spec import parse_definition

_COMMAND = (sys.executable, "-P", "-c", "from kron.web.forecast_worker import main; main()")
_MOST = 3  # processes at a time
_MOST_FEEDS = 2  # of these: a client that reads a feed slowly does not block the load
_LOAD = "load"
_LONGEST = 120.0  # seconds of a process
_PART = 64 * 1024  # bytes passed on at a time


class ForecastWorkers:
    """Runs at most three processes at a time, each for at most two minutes. Its methods block: call them in threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._asked: dict[subprocess.Popen[bytes], str] = {}  # and the form each computes
        self._is_open = True

    def load(self, jobs: Sequence[JobDefinition], since: Instant, until: Instant) -> dict[str, Any]:
        """Return how many jobs start, and when."""
        found: dict[str, Any] = json.loads(b"".join(self.ask(_LOAD, jobs, since, until)))
        return found

    def ask(
        self, form: str, jobs: Sequence[JobDefinition], since: Instant, until: Instant
    ) -> Generator[bytes, None, None]:
        """Yield the answer in parts. Closing the iterator ends the process."""
        span = {"since": format_instant(since), "until": format_instant(until)}
        question = json.dumps({"form": form, **span, "jobs": jobs}).encode()
        process = self._begin(form)
        limit = Timer(_LONGEST, self._give_up, [process])
        limit.daemon = True
        limit.start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(question)
            process.stdin.close()
            while part := process.stdout.read(_PART):
                yield part
            if process.wait():
                raise ControlError(reason="this takes too long to count here; use `kron forecast`")
        finally:
            limit.cancel()
            self._end(process)

    def close(self) -> None:
        """End all processes, and start no more."""
        self._is_open = False
        for process in list(self._asked):
            process.kill()

    def _begin(self, form: str) -> "subprocess.Popen[bytes]":
        with self._lock:
            feeds = sum(each != _LOAD for each in self._asked.values())
            is_full = len(self._asked) >= _MOST or (form != _LOAD and feeds >= _MOST_FEEDS)
            if is_full or not self._is_open:
                raise ControlError(reason="too many forecasts are being computed; try again in a minute")
            pipe = subprocess.PIPE
            process = subprocess.Popen(_COMMAND, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
            self._asked[process] = form
            return process

    def _give_up(self, process: "subprocess.Popen[bytes]") -> None:
        """End a process and free its place, even if its answer is still being read."""
        process.kill()
        with self._lock:
            self._asked.pop(process, None)

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        self._give_up(process)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


_DAY, _MANY_DAYS = timedelta(days=1), timedelta(days=31)
_NICE = 19  # the lowest priority


def answer(asked: Mapping[str, Any]) -> None:
    """Write a feed in its form, or the load as JSON."""
    span = TimeSpan(parse_instant(asked["since"]), parse_instant(asked["until"]))
    entries = []
    for identity, name, definition in asked["jobs"]:
        timing, _ = parse_definition(identity, definition)
        if timing is not None:
            entries.append(ForecastJob(name, timing))
    if asked["form"] == "load":
        sys.stdout.write(json.dumps(_load(entries, span)))
        return
    for part in feed(entries, span, asked["form"]):
        sys.stdout.write(part)


def _load(entries: list[ForecastJob], span: TimeSpan) -> dict[str, object]:
    load = Load()
    for part in slices(span):
        load.add(count_starts(entries, part, series_unit(span)))
    return {
        "heat": _map(Forecast(span, len(entries), load, ())),
        "nominal": load.nominal.peaks_to_dict(),
        "chosen": load.chosen.peaks_to_dict(),
        "runs": load.chosen.total,
        "unschedulable": load.unschedulable,
    }


def _map(found: Forecast) -> dict[str, object]:
    """Return the map that fits the span, and its starts as a list in the order of time."""
    length = found.span.until - found.span.since
    if length <= _DAY:
        heat = hours_by_minutes(found)
        listed = [(f"{name}00", sum(counts)) for name, counts in zip(heat.rows, heat.chosen, strict=True)]
    else:
        by_hour = days_by_hours(found) if length <= _MANY_DAYS else None
        heat = weekdays_by_weeks(found) if by_hour is None else by_hour
        listed = [(cell.name, cell.chosen) for cell in heat.cells()]
    return {"rows": heat.rows, "columns": heat.columns, "cells": list(heat.cells()), "listed": listed}


def main() -> None:
    """Answer the question on stdin, at the lowest priority."""
    os.nice(_NICE)
    answer(json.load(sys.stdin))

"""Trace: what happened in a process, line by line, in a file that survives its death."""

import json
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from kron.instant import Instant, format_instant

TraceLine = Mapping[str, Any]


class Trace:
    """Makes lines, and hands each to `put`."""

    def __init__(self, put: Callable[[bytes], object], now: Callable[[], Instant]) -> None:
        self._put = put
        self._now = now

    def write(self, what: str, **fields: object) -> None:
        """Add a line."""
        line = {"what": what, "at": format_instant(self._now()), **fields}
        self._put(json.dumps(line).encode() + b"\n")


def to_file(path: str) -> Callable[[bytes], object]:
    """Return what puts lines into a file, each by one unbuffered write at its end: SIGKILL cannot undo it."""
    return partial(os.write, os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600))


def read(path: Path) -> list[TraceLine]:
    """Return the lines of a trace; one that was never begun has none."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []

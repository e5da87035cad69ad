"""RunRecord: one finished run as the history keeps it. The history informs people; no rule reads it."""

from enum import Enum
from typing import NamedTuple

from kron.instant import Instant


class RunResult(Enum):
    """How a run ended."""

    SUCCESS = "success"
    FAILURE = "failure"
    INTERRUPTED = "interrupted"  # its scheduler died before it could record the end


class RunRecord(NamedTuple):
    """Of which task, for which instant, from when until when, and how it ended."""

    task: str
    scheduled: Instant | None  # None: an interrupted run, of which only the start is known
    started: Instant
    ended: Instant | None
    result: RunResult
    error: str | None = None

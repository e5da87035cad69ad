"""usual_durations(path) -> how long the runs of each job took of late, by identity."""

from datetime import timedelta
from os import PathLike
from pathlib import Path
from statistics import median

from kron.adapters.sqlite_ledger.job_history import open_to_read
from kron.adapters.sqlite_ledger.stamp import moment

_ROWS = 200_000  # runs that are looked at, the newest first
_RUNS = 50  # of each job
# What was not started, or ended unseen, took no time that is known.
_NEWEST = """SELECT identity, at, ended FROM (
    SELECT job, at, ended, result FROM entry WHERE run_id IS NOT NULL ORDER BY effective DESC LIMIT ?
) JOIN job ON job.id = job WHERE ended IS NOT NULL AND result IN ('succeeded', 'failed', 'timeout')"""


def usual_durations(path: str | PathLike[str]) -> dict[str, timedelta]:
    """Return the median duration of the newest runs of each job that has any."""
    found: dict[str, list[float]] = {}
    with open_to_read(Path(path)) as connection:
        for identity, started, ended in connection.execute(_NEWEST, (_ROWS,)):
            durations = found.setdefault(identity, [])
            if len(durations) < _RUNS:
                durations.append(max(0.0, (moment(ended) - moment(started)).total_seconds()))
    return {identity: timedelta(seconds=median(durations)) for identity, durations in found.items()}

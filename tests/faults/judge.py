"""Judge the history of a host against the records of its child processes."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from kron.instant import Instant, format_instant, parse_instant
from tests.faults.recording_jobs import RecordingJob, Word

_MINUTE = timedelta(minutes=1)

Row = Mapping[str, Any]  # of `history --json`


def judge(
    rows: Sequence[Row], said: Sequence[Word], jobs: Sequence[RecordingJob], span: tuple[Instant, Instant]
) -> Iterator[str]:
    """Yield what is wrong; in the span every period of these jobs that has come must have its outcome."""
    yield from _children(rows, said)
    yield from _alone(said, {job.name for job in jobs if "concurrency" not in job.policy})
    outcomes: dict[str, Counter[Instant]] = {row["name"]: Counter() for row in rows}
    for row in rows:
        if row["period_id"] is not None and row["attempt"] in (None, 1):
            outcomes[row["name"]].update(_minutes(row))
    for name, found in outcomes.items():
        yield from (f"{name} {format_instant(at)} has {number} outcomes" for at, number in found.items() if number > 1)
    born, ended = span
    for job in jobs:
        minute = born.replace(second=0, microsecond=0) + 2 * _MINUTE
        while minute + job.minutes * _MINUTE < ended:
            if minute not in outcomes[job.name]:
                yield f"{job.name} {format_instant(minute)} has no outcome"
            minute += _MINUTE


def _minutes(row: Row) -> list[Instant]:
    last = parse_instant(row["period_id"])
    return [last - number * _MINUTE for number in range(row.get("count", 1))]


def _children(rows: Sequence[Row], said: Sequence[Word]) -> Iterator[str]:
    """Every child has its record, and no record has two children."""
    runs = {row["run_id"]: row for row in rows if row["run_id"] is not None}
    for row in runs.values():
        if row["state"] != "completed":
            yield f"{row['run_id']} has no end"
    begun = [word for word in said if word.what == "begin"]
    for word in begun:
        found = runs.get(word.run_id)
        recorded = found and (found["name"], str(found["attempt"]), found["period_id"] or "-")
        if recorded != (word.job, word.attempt, word.period):
            yield f"{word} is recorded as {recorded}"
    for run_id, number in Counter(word.run_id for word in begun).items():
        if number > 1:
            yield f"{run_id} began {number} times"
    periods = Counter((word.job, word.period, word.attempt) for word in begun if word.period != "-")
    yield from (f"{period} ran {number} times" for period, number in periods.items() if number > 1)


def _alone(said: Sequence[Word], forbids: Collection[str]) -> Iterator[str]:
    """What forbids it has never two at once."""
    active: dict[str, str] = {}
    for word in said:
        if word.job in forbids:
            if word.what == "end" or word.job.startswith("fails"):
                active.pop(word.job, None)
            elif word.job in active:
                yield f"{word.run_id} began beside {active[word.job]}"
            if word.what == "begin":
                active[word.job] = word.run_id

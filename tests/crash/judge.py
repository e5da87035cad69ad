"""Judge traces and ledgers of killed schedulers against the promises, with an independent oracle.

The oracle keeps four facts of each task (last start, retry, cut off, running) and finds due minutes by trying them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from typing import NamedTuple

from kron.instant import Instant, format_instant, parse_instant
from kron.rules.contract import Contract, InterruptedRun, OrphanMeaning
from kron.rules.task_record import TaskRecord
from tests.crash.ledger_contents import LedgerContents
from tests.crash.life import RECORDING_TASKS, RecordingTask
from tests.crash.trace import TraceLine

_RECORDING_TASKS = {task.name: task for task in RECORDING_TASKS}
_MINUTE = timedelta(minutes=1)


class Life(NamedTuple):
    """What is known of a life: the file before and after it, its trace, and whether starts had to be on time."""

    before: LedgerContents
    lines: Sequence[TraceLine]
    after: LedgerContents
    is_prompt: bool


class AppendedBatch(NamedTuple):
    """The names that one append removes, and the records that it writes."""

    forgotten: Sequence[str]
    records: Sequence[TaskRecord]


@dataclass(slots=True)
class Oracle:
    """What one task owes."""

    task: RecordingTask
    first: Instant
    last_start: Instant | None = None
    retry: Instant | None = None
    count: int = 0
    was_cut_off: bool = False
    recorded: bool = False  # a start is durable and the callback has not begun
    begun: bool = False
    done: bool | None = None  # the callback has ended, well or not, and the record does not say so yet
    idle_since: Instant | None = None  # in this life
    restore: tuple[Instant | None, Instant | None, int, bool] = field(default=(None, None, 0, False))

    @property
    def running(self) -> bool:
        """Whether a run is under way, by its record."""
        return self.recorded or self.begun or self.done is not None

    def owes_due(self, now: Instant) -> bool:
        """Whether an occurrence has come that no start has served."""
        due = self.task.latest_due(now)
        return due >= self.first.replace(second=0, microsecond=0) and (self.last_start is None or due > self.last_start)

    def owes(self, now: Instant) -> bool:
        """Whether a run is owed."""
        return self.was_cut_off or self.owes_due(now) or (self.retry is not None and self.retry <= now)

    def owes_from(self, base: Instant) -> Instant:
        """Return the first instant from base on at which a run is owed."""
        if self.owes(base):
            return base
        due = self.task.latest_due(base)
        while due <= base or self.task.latest_due(due) != due:
            due += _MINUTE
        return due if self.retry is None else min(due, self.retry)


def judge(lives: Sequence[Life], contract: Contract) -> list[str]:
    """Return every broken promise, in words."""
    oracles: dict[str, Oracle] = {}
    complaints = []
    for number, life in enumerate(lives, 1):
        said = [*_Verdict(life, contract, oracles).complaints()]
        complaints += [f"life {number}: {complaint}" for complaint in said]
    return [*complaints, *_repeated_successes(lives[-1].after)]


def _repeated_successes(file: LedgerContents) -> Iterator[str]:
    for task in RECORDING_TASKS:
        runs = [run for run in file.runs if run[0] == task.name and run[4] == "success"]
        starts = [parse_instant(start) for _, _, start, _, _ in runs]
        for one, two in pairwise(starts):
            if task.latest_due(two) <= one:
                yield f"{task.name} succeeded at {format_instant(one)} and once more at {format_instant(two)}"


class _Verdict:
    """Goes through one life, line by line."""

    def __init__(self, life: Life, contract: Contract, oracles: dict[str, Oracle]) -> None:
        self._life, self._contract, self._oracles = life, contract, oracles
        self._records = dict(life.before.records)
        self._ready: Instant | None = None
        self._stopping: Instant | None = None
        self._doubtful: list[AppendedBatch] = []  # appended; unknown whether the file has it
        self._reported: set[str] = set()
        self._owed_again = self._cut_off()
        self._handlers = {
            "appending": self._see_appending,
            "appended": self._see_appended,
            "ready": self._see_ready,
            "begun": self._see_begun,
            "done": self._see_done,
            "event": self._see_event,
            "stopping": self._see_stopping,
            "stopped": self._see_stopped,
        }

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with this life."""
        if self._life.after.verdict != "ok":
            yield f"the file is damaged: {self._life.after.verdict}"
        for line in self._life.lines:
            if handle := self._handlers.get(line["what"]):
                yield from handle(line)
        for batch in self._doubtful:
            # Either the process died before it reported the append, or the disk reported a failure but kept it.
            if self._life.after.records != self._records and self._life.after.records == self._after(batch):
                yield from self._write(batch)
        if self._life.after.records != self._records:
            yield f"the file holds {self._life.after.records}, not what was appended: {self._records}"

    def _see_appending(self, line: TraceLine) -> Iterator[str]:
        self._doubtful.append(
            AppendedBatch(line["forgotten"], [TaskRecord.from_row(tuple(row)) for row in line["records"]])
        )
        yield from ()

    def _see_appended(self, _: TraceLine) -> Iterator[str]:
        yield from self._write(self._doubtful[-1])
        self._doubtful.clear()

    def _see_ready(self, line: TraceLine) -> Iterator[str]:
        self._ready = parse_instant(line["at"])
        if self._contract.orphan_means is OrphanMeaning.INTERRUPTED and self._reported != self._owed_again:
            yield f"cut off were {sorted(self._owed_again)}, reported were {sorted(self._reported)}"

    def _see_event(self, line: TraceLine) -> Iterator[str]:
        if line["name"] == "TaskOrphaned":
            self._reported.add(line["fields"]["taskName"])
        elif line["name"] == "TaskRetryStarted":
            yield from self._count(line["fields"])

    def _see_done(self, line: TraceLine) -> Iterator[str]:
        oracle = self._oracles[line["task"]]
        oracle.begun, oracle.done = False, not line["fails"]
        yield from ()

    def _see_stopping(self, line: TraceLine) -> Iterator[str]:
        self._stopping = parse_instant(line["at"])
        if line["settled"]:
            yield from self._left_undone(self._stopping)

    def _see_stopped(self, line: TraceLine) -> Iterator[str]:
        for name, oracle in self._oracles.items():
            if oracle.begun or (oracle.running and line["is_clean"]):
                yield f"{name} still ran after stop"

    def _cut_off(self) -> set[str]:
        """Note what the death before this life has cut off."""
        for oracle in self._oracles.values():
            if oracle.running:
                oracle.recorded, oracle.begun, oracle.done = False, False, None
                oracle.was_cut_off = self._contract.interrupted_run is InterruptedRun.RESTART
            oracle.idle_since = None
        return {name for name, oracle in self._oracles.items() if oracle.was_cut_off}

    # --- records ------------------------------------------------------------------------------------------------------

    def _after(self, batch: AppendedBatch) -> dict[str, TaskRecord]:
        """Return the records as they are after a batch."""
        records = self._records | {record.name: record for record in batch.records}
        return {name: record for name, record in records.items() if name not in batch.forgotten}

    def _write(self, batch: AppendedBatch) -> Iterator[str]:
        for name in batch.forgotten:
            del self._records[name], self._oracles[name]
        for record in batch.records:
            before = self._records.get(record.name)
            self._records[record.name] = record
            if before is None:
                self._oracles[record.name] = Oracle(_RECORDING_TASKS[record.name], record.first_seen)
            elif self._ready is None:
                yield from self._declare(before, record)
            elif record.running_since is not None:
                yield from self._start(self._oracles[record.name], before, record)
            else:
                yield from self._end(self._oracles[record.name], before, record)

    def _declare(self, before: TaskRecord, after: TaskRecord) -> Iterator[str]:
        """A restart may take possession of a record, and close a run that is not to be repeated; nothing else."""
        allowed = before._replace(scheduler=after.scheduler)
        if self._contract.interrupted_run is not InterruptedRun.RESTART:
            allowed = allowed._replace(running_since=None)
        if after != allowed:
            yield f"a restart changed {before} to {after}"

    def _start(self, oracle: Oracle, before: TaskRecord, after: TaskRecord) -> Iterator[str]:
        now = after.running_since
        assert now is not None
        assert self._ready is not None
        name = f"{after.name} at {format_instant(now)}"
        if oracle.running:
            yield f"{name} started although it ran"
        if not oracle.owes(now):
            yield f"{name} started although nothing was owed"
        base = max(self._ready, oracle.idle_since or self._ready)
        if self._life.is_prompt and now != oracle.owes_from(base):
            yield f"{name} was owed at {format_instant(oracle.owes_from(base))}"
        is_retry = not oracle.was_cut_off and not oracle.owes_due(now)
        count = oracle.count + 1 if is_retry else 0
        expected = before._replace(
            last_attempt=now, retry_until=None, retry_count=count, running_since=now, scheduler=after.scheduler
        )
        if after != expected:
            yield f"{name} was recorded as {after}, not as {expected}"
        oracle.restore = (oracle.last_start, oracle.retry, oracle.count, oracle.was_cut_off)
        oracle.last_start, oracle.retry, oracle.count, oracle.was_cut_off = now, None, count, False
        oracle.recorded = True

    def _end(self, oracle: Oracle, before: TaskRecord, after: TaskRecord) -> Iterator[str]:
        name = after.name
        ended = before._replace(running_since=None, scheduler=after.scheduler)
        if oracle.done is None:
            if self._stopping is None or not oracle.recorded:
                yield f"{name}: an end was recorded that has not happened: {after}"
            oracle.recorded = False  # a start that a stop forbade is taken back
            oracle.last_start, oracle.retry, oracle.count, oracle.was_cut_off = oracle.restore
            return
        if oracle.done:
            expected = ended._replace(last_success=after.last_success, retry_until=None, retry_count=0)
            oracle.idle_since, oracle.retry, oracle.count = after.last_success, None, 0
        else:
            oracle.idle_since = after.last_failure
            oracle.retry = None if after.last_failure is None else after.last_failure + oracle.task.delay
            expected = ended._replace(last_failure=after.last_failure, retry_until=oracle.retry)
        if after != expected or oracle.idle_since is None:
            yield f"{name}: the end was recorded as {after}, not as {expected}"
        oracle.done = None

    # --- callbacks and events -----------------------------------------------------------------------------------------

    def _see_begun(self, line: TraceLine) -> Iterator[str]:
        name = line["task"]
        oracle = self._oracles.get(name)
        if oracle is None or not oracle.recorded:
            yield f"{name} began before its start was durable"
        elif oracle.begun or oracle.done is not None:
            yield f"{name} began twice at once"
        if oracle is not None:
            oracle.recorded, oracle.begun = False, True

    def _count(self, fields: TraceLine) -> Iterator[str]:
        record = self._records[fields["taskName"]]
        if fields["retryCount"] != record.retry_count or not record.retry_count:
            yield f"{record.name}: retry {fields['retryCount']} was emitted, {record.retry_count} is recorded"

    def _left_undone(self, now: Instant) -> Iterator[str]:
        for name, oracle in self._oracles.items():
            if oracle.recorded:
                yield f"{name} was recorded as started and never began"
            if not oracle.running and oracle.owes(now):
                yield f"{name} still owed a run at {format_instant(now)}"

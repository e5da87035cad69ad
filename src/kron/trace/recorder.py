"""TraceRecorder: writes the events of a scheduler and its runs as positions of its trace.

An end is reported when its record is durable. Then it enters the trace, with the instant at which the run ended.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Any

from kron.engine.clock_watch import ClockDeviation
from kron.engine.ports import FailedLedger, SchedulerObserver
from kron.engine.runs import TaskRun
from kron.engine.tasks.events import failure_text
from kron.errors import LedgerError
from kron.instant import EPOCH, MILLISECOND, Instant, epoch_milliseconds, from_epoch_milliseconds
from kron.rules.job_record import ResultCode, RunEnd
from kron.rules.registration import is_async_callable
from kron.rules.task_record import TaskRecord, milliseconds
from kron.theory.trace_format import TraceEvent

_FIELDS = 4

EmitBatch = Callable[[int, str, Sequence[str]], object]
"""Takes an instant, `RunStart` or `RunSuccess`, and the tasks: one position for each of them."""


class TraceRecorder(SchedulerObserver):
    """An observer. Hands the positions on, in an order that time agrees with."""

    def __init__(
        self,
        now: Callable[[], Instant],
        take: Callable[[TraceEvent], object],
        take_runs: EmitBatch | None = None,
        *,
        last: int | None = None,
    ) -> None:
        """`take_runs` takes many starts or successes at once; `last` is the instant of the last position before this
        life, in milliseconds.
        """
        self._now, self._take, self._take_runs = now, take, take_runs
        self._last = self._shown = last if last is not None else -(2**63)  # what the clock showed at the last position
        self._initialisations = self._stops = 0
        self._is_stopping = False
        self._initialising: dict[str, object] | None = None  # the fields of a call in progress
        self._is_ledger_down = False

    def timestamp(self) -> int:
        """Return the instant of a position that would be written now."""
        self._last = max(self._last, _milliseconds(self._now()))
        return self._last

    def record_crash(self) -> None:
        """Say that the process died."""
        self._is_ledger_down = self._is_stopping = False
        self._initialising = None
        self._emit(None, "UnexpectedShutdown", {})

    def _emit(self, at: Instant | None, name: str, fields: Mapping[str, object]) -> None:
        """Hand a position on; a clock that was set back stands still here until it is later again."""
        t = shown = _milliseconds(self._now() if at is None else at)
        if t < self._last:
            if self._is_behind():  # otherwise it is only reported late
                fields = {**fields, "clock": t}
            else:
                shown = self._last
            t = self._last
        self._last, self._shown = t, shown
        self._emit_through_freeze(TraceEvent(t, name, fields))

    def _is_behind(self) -> bool:
        """Whether the clock was set back, and is not yet where it was."""
        return _milliseconds(self._now()) < self._last

    def _emit_through_freeze(self, position: TraceEvent) -> None:
        if not self._is_ledger_down:
            self._take(position)
            return
        shown = {"clock": position.fields["clock"]} if "clock" in position.fields else {}
        for each in (
            TraceEvent(position.time_ms, "Thaw", shown),
            position,
            TraceEvent(position.time_ms, "Freeze", shown),
        ):
            self._take(each)

    def on_started(self, runs: Sequence[TaskRun]) -> None:
        """Take the starts of runs."""
        names, at = [run.run_id for run in runs], runs[0].started
        if self._is_behind():
            for name in names:
                self._emit(at, "RunStart", {"task": name})
            return
        self._put_runs(max(self._last, _milliseconds(at)), "RunStart", names)

    def on_ended(self, ended: Sequence[tuple[TaskRun, RunEnd]]) -> None:
        """Take the ends of runs, which are durable by now."""
        succeeded: list[str] = []
        is_behind = self._is_behind()
        t, until = self._last, EPOCH  # those that end before `until` end in the same millisecond
        for run, end in ended:
            at, has_failed = end.ended_at, end.result is not ResultCode.SUCCEEDED
            if not has_failed and at < until:
                succeeded.append(run.run_id)
                continue
            if succeeded:
                self._put_runs(t, "RunSuccess", succeeded)
                succeeded = []
            if not has_failed and is_behind:
                self._emit(at, "RunSuccess", {"task": run.run_id})
            elif not has_failed:
                t = max(self._last, _milliseconds(at))
                until = from_epoch_milliseconds(t + 1)
                succeeded.append(run.run_id)
            else:
                self._put_failure(end)
        if succeeded:
            self._put_runs(t, "RunSuccess", succeeded)

    def _put_failure(self, end: RunEnd) -> None:
        fields: dict[str, object] = {"task": end.run_id, "error": end.detail}
        ended = _milliseconds(end.ended_at)
        if ended < self._last:  # another line came first; its retry delay counts from its end
            fields["ended"] = ended
        self._emit(end.ended_at, "RunFailure", fields)

    def _put_runs(self, t: int, event: str, names: Sequence[str]) -> None:
        self._last = self._shown = t
        if self._take_runs is not None and not self._is_ledger_down:
            self._take_runs(t, event, names)
            return
        for name in names:
            self._emit_through_freeze(TraceEvent(t, event, {"task": name}))

    def on_initialize(self, registrations: object) -> None:
        """Take a call with its list."""
        self._initialisations += 1
        items, is_expressible = _express(registrations)
        fields: dict[str, object] = {"call": self._initialisations, "registrations": items}
        self._initialising = fields if is_expressible else {**fields, "valid": False}
        self._emit(None, "InitStart", self._initialising)

    def on_initialized(self, at: Instant, remembered: Mapping[str, TaskRecord]) -> None:
        """Take the end of a call that went well."""
        fields: dict[str, object] = {"call": self._initialisations}
        if remembered:
            fields["remembered"] = [_remembered(record) for record in remembered.values()]
        self._initialising = None
        self._emit(at, "InitSuccess", fields)

    def on_initialize_failed(self, error: BaseException) -> None:
        """Take the end of a call that failed."""
        fields: dict[str, object] = {"call": self._initialisations, "error": failure_text(error)}
        self._initialising = None
        self._emit(None, "InitFailure", {**fields, "cause": "environment"} if _is_of_storage(error) else fields)

    def on_stop(self) -> None:
        """Take the call of a stop."""
        self._stops += 1
        self._is_stopping = True
        self._emit(None, "StopStart", {"call": self._stops})

    def on_stopped(self) -> None:
        """Take the end of a stop."""
        if self._is_stopping:
            self._is_stopping = False
            self._emit(None, "StopEnd", {"call": self._stops})

    def on_ledger(self, failed: FailedLedger | None) -> None:
        """While nothing can be recorded nothing can be started: by the world's fault, so that time does not count."""
        if failed is None:
            self._is_ledger_down = False
            self._emit(None, "Thaw", {})
        elif not self._is_ledger_down:
            self._emit(None, "Freeze", {})
            self._is_ledger_down = True

    def on_lost(self, runs: Sequence[TaskRun]) -> None:  # noqa: ARG002
        """An end that the ledger does not know has not happened: to the next scheduler those runs were cut off."""
        initialising = self._initialising
        self.record_crash()
        if initialising is not None:  # of a list that was given up; the call that follows it goes on
            self._initialising = initialising
            self._emit(None, "InitStart", initialising)

    def on_clock(self, deviation: ClockDeviation) -> None:
        """The loop stood still, or the clock leapt, or both: in that time nothing could be done."""
        if deviation.jump < 0:
            self._emit(deviation.at, "ClockSet", {})
        elif deviation.jump:
            self._put_pause(deviation.jump + deviation.late)
        if deviation.stall:
            self._put_pause(round(deviation.stall, 3))

    def _put_pause(self, seconds: float) -> None:
        if self._is_ledger_down:
            return
        began = self._now() - timedelta(seconds=seconds)
        # The clock may leap from far behind to where it was: until then it was behind.
        clock = max(self._shown, _milliseconds(began))
        self._emit(began, "Freeze", {"clock": clock} if self._shown < self._last and clock < self._last else {})
        self._emit(None, "Thaw", {})


def _express(registrations: object) -> tuple[list[dict[str, object]], bool]:
    """Return a list as a trace holds it, and whether all that is right or wrong with it can be seen there."""
    items: list[dict[str, object]] = []
    is_expressible = isinstance(registrations, list | tuple)
    for item in registrations if isinstance(registrations, list | tuple) else ():
        parts: tuple[Any, ...] = tuple(item) if isinstance(item, list | tuple) else ()
        name, cron, callback, delay = parts if len(parts) == _FIELDS else (None, None, None, None)
        fits = isinstance(name, str) and isinstance(cron, str) and isinstance(delay, timedelta)
        is_expressible &= fits and is_async_callable(callback) and _is_text(name)
        milliseconds = delay / MILLISECOND if isinstance(delay, timedelta) else -1
        whole = int(milliseconds) if milliseconds == int(milliseconds) else milliseconds
        items.append({"name": _text(name), "cron": _text(cron), "retryDelayMs": whole})
    return items, is_expressible


def _remembered(record: TaskRecord) -> dict[str, object]:
    """Return the task's record for a trace that begins here: it shows why a run may be owed at once."""
    instants = {
        "first": record.first_seen,
        "lastStart": record.last_attempt,
        "retryAt": record.retry_until,
        "lastSuccess": record.last_success,
        "lastFailure": record.last_failure,
    }
    delay = milliseconds(record.retry_delay)
    found: dict[str, object] = {"task": record.name, "cron": record.cron, "retryDelayMs": delay}
    found |= {key: _milliseconds(at) for key, at in instants.items() if at is not None}
    if record.running_since is not None:
        found["interrupted"] = True
    return found


_milliseconds = lru_cache(maxsize=4)(epoch_milliseconds)  # one instant is asked for several times in a row


def _text(value: object) -> str:
    return value if _is_text(value) else ascii(value)  # type: ignore[return-value] # it is a text


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)


def _is_of_storage(error: object) -> bool:
    """Whether a failure is one of the disk, somewhere down the chain."""
    while isinstance(error, BaseException):
        if isinstance(error, LedgerError | OSError):
            return True
        error = error.__cause__
    return False

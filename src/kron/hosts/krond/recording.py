"""JobRecorder: what becomes of jobs and their periods -> the positions of a trace under the contract `kron`."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from kron.decision.decision import Decision
from kron.decision.seed import period_id
from kron.engine.jobs.execution import Execution
from kron.instant import Instant, format_instant
from kron.rules.job_record import End, Kind, PeriodRecord, Result
from kron.rules.work import Work
from kron.theory.trace import Position

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class JobRecorder:
    """A chronicle. It speaks of one life of a host: of runs that an earlier one began it says nothing."""

    def __init__(self, now: Callable[[], Instant], take: Callable[[Position], object]) -> None:
        self._now, self._take = now, take
        self._last = -(2**63)
        self._calls = 0
        self._begun: set[str] = set()  # runs of this life that have not ended

    def on_declared(self) -> None:
        """The jobs are declared, for the first time or anew."""
        self._calls += 1
        self._put("InitStart", call=self._calls, registrations=[])
        self._put("InitSuccess", call=self._calls)

    def on_stop(self) -> None:
        """The host begins to stop."""
        self._put("StopStart", call=1)

    def on_stopped(self) -> None:
        """Nothing runs any more."""
        self._put("StopEnd", call=1)

    def on_suspended(self, identity: str, *, suspended: bool) -> None:
        """A job is held, or goes on."""
        self._put("Suspended" if suspended else "Resumed", identity=identity)

    def on_closed(self, work: Work, record: PeriodRecord, last: Decision) -> None:
        """A period is over; of neighbours the last stands for all."""
        self._decided(work, last)
        fields = {"identity": record.identity, "period": period_id(record.last)}
        self._put("Outcome", **fields, outcome=record.outcome.value, reason=record.reason)

    def on_begun(self, execution: Execution, decision: Decision | None) -> None:
        """An attempt begins."""
        attempt = execution.attempt
        if attempt.kind is not Kind.PERIOD or attempt.nominal is None:
            return  # it belongs to no period, and several may run side by side
        self._begun.add(attempt.run_id)
        period = period_id(attempt.nominal)
        if decision is not None:
            self._decided(execution.work, decision)
            self._put("Outcome", identity=attempt.identity, period=period, outcome="executed", reason=None)
        self._put("RunStart", task=attempt.identity, period=period, attempt=attempt.attempt)

    def on_ended(self, execution: Execution, end: End) -> None:
        """An attempt has ended."""
        attempt = execution.attempt
        if attempt.run_id in self._begun and attempt.nominal is not None:
            self._begun.remove(attempt.run_id)
            event = "RunSuccess" if end.result is Result.SUCCEEDED else "RunFailure"
            period = period_id(attempt.nominal)
            self._put(event, task=attempt.identity, period=period, attempt=attempt.attempt)

    def _decided(self, work: Work, decision: Decision) -> None:
        chosen = decision.chosen_time
        self._put(
            "Decision",
            identity=work.identity,
            period=decision.period_id,
            windowStart=format_instant(decision.window_start),
            windowEnd=format_instant(decision.window_end),
            chosen=None if chosen is None else format_instant(chosen),
            seedHash=decision.seed_hash,
            definition=work.key if work.timing is None else work.timing.to_line(),
        )

    def _put(self, event: str, **fields: object) -> None:
        self._last = max(self._last, (self._now() - _EPOCH) // _MILLISECOND)
        self._take(Position(self._last, event, fields))

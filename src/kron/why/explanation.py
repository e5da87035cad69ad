"""Explanation: whether a job ran at an instant, and the outcome or the plan of each period near it, from evidence."""

import json
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from kron.cron.zone import UTC_ZONE, Zone
from kron.decision.decide import decide
from kron.decision.decision import Decision
from kron.errors import CronCalculationError, OutOfRangeError
from kron.instant import MICROSECOND, SECOND, Instant, format_instant
from kron.rules.evidence import Evidence, RecordedPeriod
from kron.rules.history import NoRecordReason, RunRow, merge_attempts
from kron.rules.job_spec import parse_definition, parse_timing
from kron.rules.periods import effective_time, nominal_range_around, touches_instant
from kron.rules.policy import Policy

_NOT_OWNED = frozenset({NoRecordReason.EARLIER_DEFINITION, NoRecordReason.REMOVED, NoRecordReason.BEFORE_CREATION})


class ExplainedPeriod(NamedTuple):
    """A period: its outcome or its plan, how its second was chosen, and the definition that held."""

    row: RunRow
    decided: Decision | None  # None: no known definition has the period
    definition: str | None  # its text, where it is recorded
    ahead: Instant | None = None  # if it was handled while the clock was ahead: until when periods were

    @property
    def decision(self) -> Decision:
        """How its second was chosen; a period of a ledger always has it."""
        assert self.decided is not None
        return self.decided

    @property
    def nominal(self) -> Instant:
        """Its nominal time."""
        assert self.row.nominal_time is not None
        return self.row.nominal_time

    @property
    def effective_time(self) -> Instant:
        """When it was handled or will be, if nothing comes in the way: as it was recorded."""
        if self.row.chosen_time is not None or self.decided is None:
            return self.row.chosen_time or self.nominal
        return effective_time(self.decided)

    @property
    def policy(self) -> Policy:
        """What held for it; a period of a ledger always has a definition."""
        assert self.definition is not None
        return parse_definition(self.row.identity, self.definition)[1]

    def to_dict(self) -> dict[str, object]:
        """Return its row and what led to it."""
        return {
            **self.row.to_dict(),
            "window_start": format_instant(self.decision.window_start),
            "window_end": format_instant(self.decision.window_end),
            "seed_hash": self.decision.seed_hash,
            "definition": json.loads(self.definition or "null"),
            "clock_ahead_until": None if self.ahead is None else format_instant(self.ahead.replace(microsecond=0)),
        }


class Explanation:
    """The answer to a question, from what a ledger or a cluster knows."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.second = evidence.at.replace(microsecond=0)
        periods = [self._dated(each) for each in (*self._recorded(), *self._open())]
        self.periods = sorted(periods, key=lambda each: (abs(each.effective_time - evidence.at), each.nominal))

    @property
    def zone(self) -> Zone:
        """The zone in which people speak of the job."""
        return UTC_ZONE if self.evidence.timing is None else self.evidence.timing.schedule.zone

    @cached_property
    def run(self) -> RunRow | None:
        """What ran: it was started within the minute of the instant, or its chosen second is the instant."""
        exact = [each.row for each in self.periods if each.row.chosen_time == self.second]
        rows = [*(each.row for each in self.evidence.started), *exact]
        return next((row for row in rows if row.has_started), None)

    @cached_property
    def neighbours(self) -> tuple[ExplainedPeriod | None, ExplainedPeriod | None]:
        """The nearest periods before and after the instant: recorded ones, those to come, else any other."""
        at = self.evidence.at
        near = [period for each in self.evidence.nearest for period in self._nearest(each)]
        around = list(self._around())
        near += [period for period in around if period.row.no_record not in _NOT_OWNED]

        def nearest(*, after: bool) -> ExplainedPeriod | None:
            found = [each for each in near if (each.effective_time > at) is after]
            found = found or [each for each in around if (each.effective_time > at) is after]
            return min(found, key=lambda each: abs(each.effective_time - at), default=None)

        return nearest(after=False), nearest(after=True)

    # --- periods with an outcome --------------------------------------------------------------------------------------

    def _dated(self, period: ExplainedPeriod) -> ExplainedPeriod:
        """Return a period with the instant until which periods were handled ahead of time, if it is one of them."""
        until, row = self.evidence.ahead_until, period.row
        is_over = row.outcome is not None or row.no_record is NoRecordReason.CLOCK_AHEAD
        is_ahead = until is not None and is_over and self.evidence.now < period.effective_time <= until
        return period._replace(ahead=until) if is_ahead else period

    def _recorded(self) -> Iterator[ExplainedPeriod]:
        periods: dict[Instant, list[RecordedPeriod]] = {}
        touching = {each.row.run_id for each in self.evidence.touching}
        late = (each for each in self.evidence.started if each.row.run_id not in touching)  # or tried again
        for each in (*self.evidence.touching, *late):
            if each.nominal is not None:
                periods.setdefault(each.nominal, []).append(each)
        for nominal, attempts in periods.items():
            yield self._period(nominal, merge_attempts([each.row for each in attempts]), attempts[-1].definition)

    def _nearest(self, recorded: RecordedPeriod) -> Iterator[ExplainedPeriod]:
        """Yield the period of a record, or of those of a range the nearest before and after the instant."""
        if recorded.nominal is None:
            return
        at, row, definition = self.evidence.at, recorded.row, recorded.definition
        begin, end = row.first or recorded.nominal, row.last or recorded.nominal
        if begin == end or definition is None:
            yield self._period(end, row, definition)
            return
        schedule = parse_timing(row.identity, definition).schedule
        if begin <= at:
            yield self._period(end if end <= at else schedule.previous(at), row, definition)
        if end > at:
            yield self._period(begin if begin > at else schedule.next(at), row, definition)

    def _period(self, nominal: Instant, row: RunRow, definition: str | None) -> ExplainedPeriod:
        if definition is None:
            return ExplainedPeriod(row, self._decide(nominal), None)
        decision = decide(parse_timing(row.identity, definition), nominal)
        return ExplainedPeriod(row.narrow_to_period(decision), decision, definition)

    def _decide(self, nominal: Instant) -> Decision | None:
        """Return what the definition in force decides, None if it has no such period."""
        timing = self.evidence.timing
        try:
            if timing is None or timing.schedule.previous(nominal) != nominal:
                return None
            return decide(timing, nominal)
        except (CronCalculationError, OutOfRangeError):  # the calendar ends, or begins
            return None

    # --- periods without one ------------------------------------------------------------------------------------------

    def _open(self) -> Iterator[ExplainedPeriod]:
        """Yield the periods of the definition in force that touch the instant and have no outcome."""
        timing, at = self.evidence.timing, self.evidence.at
        if timing is None:
            return
        known = {each.nominal for each in self.evidence.touching}
        first, last = nominal_range_around(timing, at)
        for nominal in timing.schedule.between(first - MICROSECOND, last):
            is_open = nominal not in known and touches_instant(timing, nominal, at)
            if is_open and (decision := self._decide(nominal)) is not None:
                yield self._without_outcome(decision)

    def _around(self) -> Iterator[ExplainedPeriod]:
        """Yield the nearest periods of the definition in force whose windows are before and after the instant."""
        timing = self.evidence.timing
        if timing is None:
            return
        searches = ((timing.schedule.previous, timing.terms.last + 1), (timing.schedule.next, timing.terms.first))
        for search, seconds in searches:
            try:
                yield self._without_outcome(decide(timing, search(self.second - SECOND * seconds)))
            except (CronCalculationError, OutOfRangeError, OverflowError):
                continue

    def _without_outcome(self, decision: Decision) -> ExplainedPeriod:
        due = effective_time(decision)
        why = next(each for each in self.evidence.no_record if each.covers(due))
        row = RunRow.of_open(self.evidence.name, decision, why.reason, why.detail)
        return ExplainedPeriod(row, decision, self.evidence.definition)

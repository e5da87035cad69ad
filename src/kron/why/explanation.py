"""Explanation(evidence): whether a job ran at an instant, and what happened to every period near it."""

import json
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from kron.decision.decide import decide
from kron.decision.decision import Decision
from kron.decision.timing import Timing
from kron.errors import CronCalculationError, InvalidDefinitionError, OutOfRangeError
from kron.instant import MICROSECOND, SECOND, Instant, format_instant
from kron.rules.evidence import Evidence, RecordedPeriod, ahead_text
from kron.rules.history import NoRecordReason, RunRow, merge_attempts
from kron.rules.job_record import JobRecord
from kron.rules.job_spec import parse_definition, parse_timing
from kron.rules.periods import effective_time, nominal_range_around, touches_instant
from kron.rules.policy import Policy


class ExplainedPeriod(NamedTuple):
    """A period: what became of it or will, how its second was chosen, and the definition that held."""

    row: RunRow
    decision: Decision
    definition: str  # its text
    ahead: Instant | None = None  # if it was handled while the clock was ahead: until when periods were

    @property
    def effective_time(self) -> Instant:
        """When it was handled or will be, if nothing comes in the way: as it was recorded."""
        chosen = self.row.chosen_time
        return effective_time(self.decision) if chosen is None else chosen

    @property
    def policy(self) -> Policy:
        """What held for it."""
        return parse_definition(self.decision.identity, self.definition)[1]

    def to_dict(self) -> dict[str, object]:
        """Return its row and what led to it."""
        return {
            **self.row.to_dict(),
            "window_start": format_instant(self.decision.window_start),
            "window_end": format_instant(self.decision.window_end),
            "seed_hash": self.decision.seed_hash,
            "definition": json.loads(self.definition),
            "clock_ahead_until": None if self.ahead is None else _second(self.ahead),
        }


class Explanation:
    """What is to be said to an inquiry."""

    def __init__(self, inquiry: Evidence) -> None:
        self.inquiry = inquiry
        self.second = inquiry.at.replace(microsecond=0)
        episodes = [self._dated(each) for each in (*self._told(), *self._open())]
        self.periods = sorted(
            episodes, key=lambda each: (abs(each.effective_time - inquiry.at), each.decision.nominal_time)
        )

    @cached_property
    def timing(self) -> Timing | None:
        """That of the definition in force; None: it has no periods."""
        try:
            return parse_timing(self.inquiry.record.identity, self.inquiry.definition)
        except InvalidDefinitionError:
            return None

    @cached_property
    def run(self) -> RunRow | None:
        """What ran: it was started within the minute of the instant, or its chosen second is the instant."""
        exact = [each.row for each in self.periods if each.row.chosen_time == self.second]
        rows = [*(told.row for told in self.inquiry.started), *exact]
        return next((row for row in rows if row.has_started), None)

    @cached_property
    def neighbours(self) -> tuple[ExplainedPeriod | None, ExplainedPeriod | None]:
        """The periods that lie nearest before and after the instant: recorded ones, those to come, else any other."""
        at = self.inquiry.at
        near = [episode for told in self.inquiry.nearest for episode in _nearest(told, at)]
        around = list(self._around())
        near += [episode for episode in around if episode.row.no_record is not NoRecordReason.NOT_OWNED]

        def nearest(*, after: bool) -> ExplainedPeriod | None:
            found = [each for each in near if (each.effective_time > at) is after]
            found = found or [each for each in around if (each.effective_time > at) is after]
            return min(found, key=lambda each: abs(each.effective_time - at), default=None)

        return nearest(after=False), nearest(after=True)

    # --- periods with an outcome, and without -------------------------------------------------------------------------

    def _dated(self, episode: ExplainedPeriod) -> ExplainedPeriod:
        """Return an episode with the instant until which periods were handled ahead of time, if it is one of them."""
        until, row = self.inquiry.ahead_until, episode.row
        is_over = row.outcome is not None or row.no_record is NoRecordReason.CLOCK_AHEAD
        is_ahead = until is not None and is_over and self.inquiry.now < episode.effective_time <= until
        return episode._replace(ahead=until) if is_ahead else episode

    def _told(self) -> Iterator[ExplainedPeriod]:
        periods: dict[Instant, list[RecordedPeriod]] = {}
        for told in self.inquiry.touching:
            if told.nominal is not None:
                periods.setdefault(told.nominal, []).append(told)
        for told in self.inquiry.started:  # late, or tried again
            if told.nominal is not None and all(told.row.run_id != each.row.run_id for each in self.inquiry.touching):
                periods.setdefault(told.nominal, []).append(told)
        for nominal, attempts in periods.items():
            yield _episode(nominal, merge_attempts([each.row for each in attempts]), attempts[-1].definition)

    def _open(self) -> Iterator[ExplainedPeriod]:
        """Yield the periods of the definition in force that touch the instant and have no outcome."""
        timing, at = self.timing, self.inquiry.at
        if timing is None:
            return
        known = {told.nominal for told in self.inquiry.touching}
        first, last = nominal_range_around(timing, at)
        for nominal in timing.schedule.between(first - MICROSECOND, last):
            if nominal not in known and touches_instant(timing, nominal, at):
                yield self._without_outcome(decide(timing, nominal))

    def _around(self) -> Iterator[ExplainedPeriod]:
        """Yield the periods of the definition in force whose windows lie nearest before and after the instant."""
        if self.timing is None:
            return
        terms, schedule = self.timing.terms, self.timing.schedule
        searches = ((schedule.previous, terms.last + 1), (schedule.next, terms.first))
        for search, seconds in searches:
            try:
                yield self._without_outcome(decide(self.timing, search(self.second - SECOND * seconds)))
            except (CronCalculationError, OutOfRangeError, OverflowError):
                continue

    def _without_outcome(self, decision: Decision) -> ExplainedPeriod:
        row = RunRow.of_open(self.inquiry.record.name, decision, *self._no_record(effective_time(decision)))
        return ExplainedPeriod(row, decision, self.inquiry.definition)

    def _no_record(self, due: Instant) -> tuple[NoRecordReason, str]:
        record, now = self.inquiry.record, self.inquiry.now
        _, policy = parse_definition(record.identity, self.inquiry.definition)
        if now < due <= record.handled_until:
            return NoRecordReason.CLOCK_AHEAD, f"it was {ahead_text(record.handled_until)}"
        if due <= record.declared_at:
            since = _second(record.declared_at)
            return NoRecordReason.NOT_OWNED, f"the definition is in force since {since}, and owns no earlier period"
        if not record.is_declared and due > record.handled_until:
            return NoRecordReason.NOT_OWNED, f"the job was removed at {_second(record.handled_until)}"
        if due <= record.handled_until:
            return NoRecordReason.FORGOTTEN, "it was handled, and its record is older than what the ledger keeps"
        if policy.suspend:
            return NoRecordReason.SUSPENDED, "its file suspends the job"
        if _holds(record, due):
            until = record.suspended_until
            how = f"until {_second(until)}" if until else "by command"
            return NoRecordReason.SUSPENDED, f"the job is suspended {how}"
        if due > now:
            return NoRecordReason.PLANNED, "its time has not come yet"
        return NoRecordReason.PLANNED, "its time has come, and it is judged as soon as krond runs and has room for it"


def _second(at: Instant) -> str:
    return format_instant(at.replace(microsecond=0))


def _holds(record: JobRecord, due: Instant) -> bool:
    return record.is_suspended and (record.suspended_until is None or due < record.suspended_until)


def _episode(nominal: Instant, row: RunRow, definition: str) -> ExplainedPeriod:
    decision = decide(parse_timing(row.identity, definition), nominal)
    return ExplainedPeriod(row.narrow_to_period(decision), decision, definition)


def _nearest(told: RecordedPeriod, at: Instant) -> Iterator[ExplainedPeriod]:
    """Yield the period of a record, or of those of a range the nearest before and after an instant."""
    if told.nominal is None:
        return
    begin, end = told.row.first or told.nominal, told.row.last or told.nominal
    if begin == end:
        yield _episode(end, told.row, told.definition)
        return
    schedule = parse_timing(told.row.identity, told.definition).schedule
    if begin <= at:
        yield _episode(end if end <= at else schedule.previous(at), told.row, told.definition)
    if end > at:
        yield _episode(begin if begin > at else schedule.next(at), told.row, told.definition)

"""Explanation: whether a job ran at an instant, and the outcome or the plan of each period near it, from evidence."""

import json
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from kron.cron.wall_time import format_short
from kron.cron.zone import UTC_ZONE, Zone
from kron.decision.decide import decide
from kron.decision.decision import Decision
from kron.errors import CronCalculationError, OutOfRangeError
from kron.instant import MICROSECOND, SECOND, Instant, format_instant
from kron.rules.evidence import Evidence, RecordedPeriod, ahead_text
from kron.rules.history import NoRecordReason, RunRow, merge_attempts
from kron.rules.job_record import ResultCode, RunKind
from kron.rules.job_spec import parse_definition, parse_timing
from kron.rules.periods import effective_time, nominal_range_around, touches_instant
from kron.rules.policy import Policy
from kron.rules.verdict import Outcome

_NOT_OWNED = frozenset({NoRecordReason.EARLIER_DEFINITION, NoRecordReason.REMOVED, NoRecordReason.BEFORE_CREATION})
_STATES = {
    NoRecordReason.PLANNED: "is planned",
    NoRecordReason.SUSPENDED: "waits",
    NoRecordReason.BEFORE_CREATION: "does not count",
    NoRecordReason.EARLIER_DEFINITION: "does not count",
    NoRecordReason.REMOVED: "does not count",
    NoRecordReason.CLOCK_AHEAD: "is over",
    NoRecordReason.FORGOTTEN: "is over, and its record is no longer kept",
    NoRecordReason.NOT_SEEN: "has no outcome",
    NoRecordReason.NOT_HANDLED: "has no outcome",
}
_KINDS = {RunKind.TRIGGER: "a user triggered it", RunKind.BOOT: "the machine was started"}
_ENDS = {
    ResultCode.SUCCEEDED: "succeeded",
    ResultCode.TIMEOUT: "was ended because its time was over",
    ResultCode.REPLACED: "was replaced by a newer one",
    ResultCode.STOPPED: "was stopped with krond",
    ResultCode.NOT_STARTED: "could not be started",
    ResultCode.UNKNOWN: "ended, and its result is not known",
}


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


def to_dict(answer: Explanation) -> dict[str, object]:
    """Return the answer of a ledger as JSON holds it."""
    evidence = answer.evidence
    until = evidence.ahead_until
    return {
        "identity": evidence.identity,
        "at": format_instant(evidence.at),
        "ran": answer.run is not None,
        "answer": sentence(answer),
        "clock_ahead_until": None if until is None else format_instant(until.replace(microsecond=0)),
        "periods": [period.to_dict() for period in answer.periods],
    }


def sentence(answer: Explanation) -> str:
    """Return the answer of a ledger; as long as periods to come are handled already, with the reason for that."""
    evidence, said = answer.evidence, _sentence(answer)
    until = evidence.ahead_until
    if until is None or evidence.at > until or (why := ahead_text(until)) in said:
        return said
    return f"{said.removesuffix('.')}; periods of {evidence.name} were {why}."


def _sentence(answer: Explanation) -> str:
    if answer.run is not None:
        return f"Yes: {_ran(answer.run, answer.zone)}."
    if answer.periods:
        return f"No: {_period_sentence(answer.periods[0], answer.zone)}."
    if answer.evidence.timing is None and not any(answer.neighbours):
        at = format_short(answer.zone, answer.evidence.at)
        return f"No: {answer.evidence.name} runs when the machine is started, and nothing was started at {at}."
    return no_period(answer)


def no_period(answer: Explanation) -> str:
    """Return the answer about an instant that no period touches."""
    name, at = answer.evidence.name, format_short(answer.zone, answer.evidence.at)
    before, after = (_neighbour(each, answer.zone) for each in answer.neighbours)
    return f"No: no period of {name} belongs to {at}; the nearest before is {before}, the nearest after is {after}."


def open_period(period: ExplainedPeriod, zone: Zone) -> str:
    """Return why nothing is recorded of a period."""
    row, at = period.row, period.effective_time
    assert row.no_record is not None
    second = "" if at == row.nominal_time else f", due at {format_short(zone, at)},"
    return f"the period {row.period_id}{second} {_STATES[row.no_record]}: {row.detail}"


def _period_sentence(period: ExplainedPeriod, zone: Zone) -> str:
    row, named = period.row, f"the period {period.row.period_id}"
    if row.outcome is None:
        return open_period(period, zone)
    if row.result is ResultCode.NOT_STARTED:
        return f"{named} was executed at {_started(row, zone)}, but nothing could be started: {row.detail}"
    if row.outcome is Outcome.EXECUTED:
        return f"{named} was executed at another second: run {row.run_id} {_began(row, zone)} and {how_it_ended(row)}"
    is_nominal = row.chosen_time in (None, row.nominal_time)
    due = "" if is_nominal else f" its second was {format_short(zone, period.effective_time)};"
    return f"{named} was {row.outcome.value} ({row.reason}):{due} {row.detail or row.reason}"


def how_it_ended(row: RunRow) -> str:
    """Return how a run ended, in words."""
    if row.result is None:
        return "is still running"
    if row.result is ResultCode.FAILED:
        return f"failed with {f'signal {row.signal}' if row.signal else f'exit code {row.exit_code}'}"
    return _ENDS[row.result]


def _ran(row: RunRow, zone: Zone) -> str:
    attempts = "" if row.attempts == 1 else f" (attempt {row.attempt} of {row.attempts})"
    of = f" of the period {row.period_id}" if row.period_id else f", because {_KINDS[row.kind]},"
    return f"run {row.run_id}{of}{attempts} {_began(row, zone)} and {how_it_ended(row)}"


def _began(row: RunRow, zone: Zone) -> str:
    late = f", {row.lateness} s late," if row.lateness else ""
    return f"began at {_started(row, zone)}{late}"


def _started(row: RunRow, zone: Zone) -> str:
    assert row.started_at is not None
    return format_short(zone, row.started_at.replace(microsecond=0))


def _neighbour(period: ExplainedPeriod | None, zone: Zone) -> str:
    if period is None:
        return "none"
    row, due = period.row, format_short(zone, period.effective_time)
    if period.definition is None:  # in a cluster, only what touches the instant is evidence
        return due
    return f"{due} ({row.state if row.outcome is None else row.outcome.value})"

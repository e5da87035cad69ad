"""An explanation as one sentence that begins with Yes or No, and as JSON."""

from kron.cron.wall_time import format_short
from kron.cron.zone import Zone
from kron.instant import format_instant
from kron.rules.evidence import ahead_text
from kron.rules.history import NoRecordReason, RunRow
from kron.rules.job_record import ResultCode, RunKind
from kron.rules.verdict import Outcome
from kron.why.explanation import ExplainedPeriod, Explanation

_STATES = {
    NoRecordReason.PLANNED: "is planned",
    NoRecordReason.SUSPENDED: "waits",
    NoRecordReason.BEFORE_CREATION: "does not count",
    NoRecordReason.EARLIER_DEFINITION: "does not count",
    NoRecordReason.REMOVED: "does not count",
    NoRecordReason.CLOCK_AHEAD: "is over",
    NoRecordReason.FORGOTTEN: "is over, and nothing is known of it any more",
    NoRecordReason.NOT_SEEN: "has no outcome",
    NoRecordReason.NOT_HANDLED: "has no outcome",
}
_KINDS = {RunKind.TRIGGER: "somebody asked for it", RunKind.BOOT: "the machine was started"}
_ENDS = {
    ResultCode.SUCCEEDED: "succeeded",
    ResultCode.TIMEOUT: "was ended because its time was over",
    ResultCode.REPLACED: "was replaced by a newer one",
    ResultCode.STOPPED: "was stopped with krond",
    ResultCode.NOT_STARTED: "could not be started",
    ResultCode.UNKNOWN: "ended without anybody seeing how",
}


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
    return f"No: no period of {name} has to do with {at}; the nearest before is {before}, the nearest after is {after}."


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
    """Return what became of a run."""
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

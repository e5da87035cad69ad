"""sentence(answer) -> str: whether a job ran at an instant, in one sentence that begins with Yes or No."""

from kron.cron.wall_time import format_short
from kron.cron.zone import UTC_ZONE, Zone
from kron.instant import format_instant
from kron.rules.evidence import ahead_text
from kron.rules.history import NoRecordReason, RunRow
from kron.rules.job_record import ResultCode, RunKind
from kron.rules.verdict import Outcome
from kron.why.explanation import ExplainedPeriod, Explanation

_STATES = {
    NoRecordReason.PLANNED: "is planned",
    NoRecordReason.SUSPENDED: "waits",
    NoRecordReason.NOT_OWNED: "does not count",
    NoRecordReason.CLOCK_AHEAD: "is over",
    NoRecordReason.FORGOTTEN: "is over, and nothing is known of it any more",
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
    """Return the answer as JSON holds it."""
    until = answer.inquiry.ahead_until
    return {
        "identity": answer.inquiry.record.identity,
        "at": format_instant(answer.inquiry.at),
        "ran": answer.run is not None,
        "answer": sentence(answer),
        "clock_ahead_until": None if until is None else format_instant(until.replace(microsecond=0)),
        "periods": [episode.to_dict() for episode in answer.periods],
    }


def sentence(answer: Explanation) -> str:
    """Return the answer; as long as periods to come are handled already, with the reason for that."""
    inquiry, said = answer.inquiry, _sentence(answer)
    until = inquiry.ahead_until
    if until is None or inquiry.at > until or (why := ahead_text(until)) in said:
        return said
    return f"{said.removesuffix('.')}; periods of {inquiry.record.name} were {why}."


def _sentence(answer: Explanation) -> str:
    zone = UTC_ZONE if answer.timing is None else answer.timing.schedule.zone
    if answer.run is not None:
        return f"Yes: {_ran(answer.run, zone)}."
    if answer.periods:
        return f"No: {period_sentence(answer.periods[0], zone)}."
    name, at = answer.inquiry.record.name, format_short(zone, answer.inquiry.at)
    if answer.timing is None and not any(answer.neighbours):
        return f"No: {name} runs when the machine is started, and nothing was started at {at}."
    before, after = (_neighbour(each, zone) for each in answer.neighbours)
    return f"No: no period of {name} has to do with {at}; the nearest before is {before}, the nearest after is {after}."


def period_sentence(episode: ExplainedPeriod, zone: Zone) -> str:
    """Return what became of a period, or will."""
    row, at = episode.row, format_short(zone, episode.effective_time)
    period = f"the period {episode.decision.period_id}"
    if row.no_record is not None:
        second = "" if episode.effective_time == episode.decision.nominal_time else f", due at {at},"
        return f"{period}{second} {_STATES[row.no_record]}: {row.detail}"
    if row.result is ResultCode.NOT_STARTED:
        return f"{period} was executed at {_started(row, zone)}, but nothing could be started: {row.detail}"
    if row.outcome is Outcome.EXECUTED:
        return f"{period} was executed at another second: run {row.run_id} {_began(row, zone)} and {how_it_ended(row)}"
    is_told = row.chosen_time is None or episode.effective_time == episode.decision.nominal_time
    due = "" if is_told else f" its second was {at};"
    return f"{period} was {_outcome(row)} ({row.reason}):{due} {row.detail or row.reason}"


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


def _outcome(row: RunRow) -> str | None:
    return row.state if row.outcome is None else row.outcome.value


def _neighbour(episode: ExplainedPeriod | None, zone: Zone) -> str:
    if episode is None:
        return "none"
    return f"{format_short(zone, episode.effective_time)} ({_outcome(episode.row)})"

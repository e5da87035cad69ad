"""What a step or a declaration did -> events, made only if somebody wants them."""

from datetime import timedelta

from kron.engine.declaration import Declaration
from kron.engine.emitter import Emitter
from kron.engine.step import Planned
from kron.instant import Instant
from kron.rules.contract import Contract
from kron.rules.event import INFO, WARNING
from kron.rules.obligation import Obligation
from kron.rules.override import Kind
from kron.rules.record import TaskRecord
from kron.rules.telling import tell_end, tell_override


def tell_declaration(emitter: Emitter, made: Declaration, contract: Contract, owing: set[str]) -> None:
    """Tell what became of each task of a new list."""
    if not emitter.wants(WARNING):
        return
    quiet = not emitter.wants(INFO)  # then only what has a warning to give is looked at
    for override in made.overrides:
        record = override.after or override.before
        is_noteworthy = override.kind in (Kind.ORPHANED, Kind.UNREGISTERED) or override.clamped is not None
        if record is None or (quiet and not is_noteworthy):
            continue
        told = tell_override(override, contract, run_follows=record.name in owing, skipped=record.name in made.skipped)
        emitter.emit(told)


def tell_ends(emitter: Emitter, step: Planned) -> None:
    """Tell of each run that ended, now that the ledger knows it."""
    completed, failed = emitter.takes("TaskRunCompleted"), emitter.takes("TaskRunFailed")
    if completed or failed:
        for run, retry in zip(step.ended, step.retries, strict=True):
            if completed if run.error is None else failed:
                emitter.emit((tell_end(run.name, run.ended, run.seconds, run.error, retry),))
    emitter.note_ends(step.ended)


def lateness(before: TaskRecord, owed: Obligation, now: Instant, armed: Instant | None) -> timedelta:
    """Return how late a start comes; time without a scheduler, or while the task ran, does not count."""
    reasons = (owed.scheduled, armed, before.last_success, before.last_failure)
    return now - max(at for at in reasons if at is not None)

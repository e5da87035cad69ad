"""recorded(unfinished) -> Recorded: by what the process runner finds runs again of which the ledger has no end."""

from collections.abc import Iterable

from kron.adapters.process_runner.execution import Recorded
from kron.engine.jobs.store import Unfinished


def recorded(unfinished: Iterable[Unfinished]) -> list[Recorded]:
    """Return by what each is recognised."""
    return [
        Recorded(
            each.attempt.run_id,
            each.attempt.boot,
            None if each.process is None else each.process.pid,
            None if each.process is None else each.process.ticks,
        )
        for each in unfinished
    ]

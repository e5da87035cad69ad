"""recent_troubles(path) -> rows: what did not go well lately, the newest first."""

from pathlib import Path

from kron.adapters.sqlite_ledger.job_entries import SELECT, history_row
from kron.adapters.sqlite_ledger.job_history import open_to_read
from kron.rules.history_row import HistoryRow
from kron.rules.job_record import Result
from kron.rules.verdict import Outcome

LOOKED_AT = 50_000  # records: what is older is for who asks for it, and nobody waits for a long history
_BAD = ", ".join(f"'{each.value}'" for each in (Result.FAILED, Result.TIMEOUT, Result.NOT_STARTED, Result.UNKNOWN))
_TROUBLES = f"""{SELECT} WHERE entry.id IN (
    SELECT id FROM entry WHERE id > (SELECT max(id) FROM entry) - {LOOKED_AT}
        AND (outcome <> '{Outcome.EXECUTED.value}' OR result IN ({_BAD}))
    ORDER BY id DESC LIMIT ?
) ORDER BY entry.id DESC"""


def recent_troubles(path: Path, limit: int) -> list[HistoryRow]:
    """Return runs that failed and periods without one, as they were recorded; also while another has the ledger."""
    with open_to_read(path) as connection:
        return [history_row(row) for row in connection.execute(_TROUBLES, (limit,))]

"""Read a ledger's file from a copy, so that reading changes nothing."""

import shutil
import sqlite3
import tempfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from kron.rules.task_record import FIELDS, TaskRecord

_RUN = "SELECT task, scheduledAt, startedAt, endedAt, result FROM run ORDER BY id"


@dataclass(frozen=True, slots=True)
class LedgerContents:
    """The records by task, the runs in their order, and SQLite's verdict on the file."""

    records: Mapping[str, TaskRecord] = field(default_factory=dict)
    runs: tuple[tuple[str, str | None, str, str | None, str], ...] = ()
    verdict: str = "ok"


def ledger_contents(ledger: Path) -> LedgerContents:
    """Return what is there; a ledger that was never made is empty."""
    if not ledger.exists():
        return LedgerContents()
    with tempfile.TemporaryDirectory() as folder:
        for tail in ("", "-wal", "-journal"):
            source = ledger.with_name(f"{ledger.name}{tail}")
            if source.exists():
                shutil.copy(source, folder)
        with closing(sqlite3.connect(Path(folder) / ledger.name)) as connection:
            connection.execute("PRAGMA synchronous=OFF")  # the copy need not survive a power cut
            (verdict,) = connection.execute("PRAGMA quick_check").fetchone()
            rows = connection.execute(f"SELECT {', '.join(FIELDS)} FROM task").fetchall()
            runs = tuple(connection.execute(_RUN).fetchall())
    records = [TaskRecord.from_row(row) for row in rows]
    return LedgerContents({record.name: record for record in records}, runs, verdict)

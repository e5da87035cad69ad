"""TASKS: what the library's ledger has in its file: a row for each task, and the last runs."""

from kron.adapters.sqlite_ledger.schema import Schema
from kron.rules.record import FIELDS

_TYPES = {"retryDelayMs": "NUMERIC", "retryCount": "INTEGER"}
_COLUMNS = ", ".join(f"{field} {_TYPES.get(field, 'TEXT')}" for field in FIELDS[1:])
# No index on the name: all rows are loaded and then found by number; `load` refuses a name that is there twice.
_TASK = f"CREATE TABLE task (id INTEGER PRIMARY KEY, name TEXT NOT NULL, {_COLUMNS})"
_RUN = """CREATE TABLE run (
    id INTEGER PRIMARY KEY, task TEXT NOT NULL, scheduledAt TEXT, startedAt TEXT NOT NULL, endedAt TEXT,
    result TEXT NOT NULL, error TEXT
)"""

TASKS = Schema(0x4B726F6E, 1, (_TASK, _RUN), {"task": "a table", "run": "a table"})  # "Kron"

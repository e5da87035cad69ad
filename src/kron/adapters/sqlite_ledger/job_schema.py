"""JOBS: what the ledger of jobs with periods has in its file.

`entry` has a row for each outcome and each further attempt, and for runs without a period: one table, so that a start
and the outcome that it is cannot contradict each other. Neighbouring periods that were closed together are one row
under the last of them. Instants are texts of one width, which compare as they follow each other.

No index that every start has to enter begins with the job: a thousand jobs would be a thousand pages to write, and with
a history of a few weeks a start would cost ten times as much. By time they are a handful.
"""

from kron.adapters.sqlite_ledger.schema import Schema

_DEFINITION = "CREATE TABLE definition (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, text TEXT NOT NULL)"
# Which definitions a job has had; so that it is known how far around an instant its windows may reach.
_VERSION = """CREATE TABLE version (
    job INTEGER NOT NULL REFERENCES job, definition INTEGER NOT NULL REFERENCES definition,
    PRIMARY KEY (job, definition)
) WITHOUT ROWID"""
# `newest`: the last nominal time with an outcome; whatever lies after it is free.
_JOB = """CREATE TABLE job (
    id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
    definition INTEGER NOT NULL REFERENCES definition, declared_at TEXT NOT NULL, served TEXT NOT NULL,
    suspended INTEGER NOT NULL, suspended_until TEXT, boot TEXT NOT NULL, declared INTEGER NOT NULL,
    newest TEXT NOT NULL
)"""
# `first` only of several periods; `at`: when a run began or a period was closed; from `run_id` on only of runs.
# `again`: the run that failed, and that a further attempt tries again.
_ENTRY = """CREATE TABLE entry (
    id INTEGER PRIMARY KEY, job INTEGER NOT NULL REFERENCES job, kind TEXT NOT NULL,
    nominal TEXT, first TEXT, number INTEGER NOT NULL, attempt INTEGER NOT NULL,
    chosen TEXT, effective TEXT NOT NULL,
    outcome TEXT NOT NULL, reason TEXT NOT NULL, detail TEXT NOT NULL,
    definition INTEGER NOT NULL REFERENCES definition, at TEXT NOT NULL,
    run_id TEXT, boot TEXT, pid INTEGER, ticks INTEGER,
    ended TEXT, result TEXT, exit_code INTEGER, signal TEXT, retry_at TEXT,
    again TEXT
)"""
_INDICES = {
    "entry_period": "UNIQUE INDEX entry_period ON entry (nominal, job, attempt)",  # a closed period is its attempt 1
    "entry_run": "UNIQUE INDEX entry_run ON entry (run_id) WHERE run_id IS NOT NULL",
    "entry_time": "INDEX entry_time ON entry (effective, job)",
    "entry_range": "INDEX entry_range ON entry (job, nominal) WHERE number > 1",
    "entry_unfinished": "INDEX entry_unfinished ON entry (id) WHERE run_id IS NOT NULL AND ended IS NULL",
    "entry_retry": "INDEX entry_retry ON entry (id) WHERE retry_at IS NOT NULL",
    "entry_again": "INDEX entry_again ON entry (again) WHERE again IS NOT NULL",
}

JOBS = Schema(
    application_id=0x4B726E64,  # "Krnd"
    version=3,
    statements=(_DEFINITION, _JOB, _VERSION, _ENTRY, *(f"CREATE {index}" for index in _INDICES.values())),
    parts={
        **dict.fromkeys(("definition", "job", "version", "entry"), "a table"),
        **dict.fromkeys(_INDICES, "an index"),
    },
    migrations={1: ("ALTER TABLE entry ADD COLUMN again TEXT",), 2: (f"CREATE {_INDICES['entry_again']}",)},
    private=True,
)

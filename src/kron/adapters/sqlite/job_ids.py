"""JobIds: the row numbers of jobs and definitions, and what a write has to know of a job."""

import sqlite3
from typing import NamedTuple

from kron.adapters.sqlite.statements import to_timestamp
from kron.engine.ledger import JobBatch
from kron.errors import LedgerWriteError

_VERSIONS = """SELECT identity, key FROM version
    JOIN job ON job.id = version.job JOIN definition ON definition.id = version.definition"""
NEVER = ""  # before every stamp


class JobRow(NamedTuple):
    """The row of a job."""

    number: int
    newest: str  # a stamp


class JobIds:
    """Those that are in the file, and until it is committed those of one batch."""

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self._path = path
        rows = connection.execute("SELECT identity, id, newest FROM job")
        self._jobs = {identity: JobRow(*known) for identity, *known in rows}
        self._definitions: dict[str, int] = dict(connection.execute("SELECT key, id FROM definition").fetchall())
        self._versions: set[tuple[str, str]] = set(connection.execute(_VERSIONS).fetchall())
        self._last_job = max((known.number for known in self._jobs.values()), default=0)
        self._last_definition = max(self._definitions.values(), default=0)
        self.changed_jobs: dict[str, JobRow] = {}
        self.new_definitions: dict[str, int] = {}
        self.new_versions: set[tuple[str, str]] = set()  # identities and keys

    def take(self, batch: JobBatch) -> None:
        """Give numbers to what has none yet, and note how far each job has outcomes."""
        self.changed_jobs, self.new_definitions = {}, {}
        for key in batch.definitions:
            if key not in self._definitions:
                self.new_definitions[key] = self._last_definition + len(self.new_definitions) + 1
        following = self._last_job + 1
        for record in batch.jobs:
            known = self.changed_jobs.get(record.identity) or self._jobs.get(record.identity)
            if known is None:
                known = JobRow(following, NEVER)
                following += 1
            self.changed_jobs[record.identity] = known
        outcomes = [(each.identity, each.last) for each in batch.closed]
        outcomes += [(each.identity, each.nominal) for each in batch.begun if each.nominal is not None]
        for identity, nominal in outcomes:
            known, text = self.job(identity), to_timestamp(nominal)
            if text > known.newest:
                self.changed_jobs[identity] = JobRow(known.number, text)
        named = {(each.identity, each.definition_key) for each in batch.jobs}
        named |= {(each.identity, each.definition_key) for each in batch.closed}
        named |= {(each.identity, each.definition_key) for each in batch.begun}
        self.new_versions = named - self._versions

    def commit(self) -> None:
        """Keep what the batch has brought."""
        self._jobs.update(self.changed_jobs)
        self._definitions.update(self.new_definitions)
        self._versions |= self.new_versions
        self._last_job = max(self._last_job, max((known.number for known in self.changed_jobs.values()), default=0))
        self._last_definition += len(self.new_definitions)

    def forget(self, keys: set[str]) -> None:
        """Forget definitions that are not there any more."""
        for key in keys:
            del self._definitions[key]
        if keys:
            self._versions = {version for version in self._versions if version[1] not in keys}

    def job(self, identity: str) -> JobRow:
        """Return what is known of a job; one that was never declared cannot have records."""
        known = self.changed_jobs.get(identity) or self._jobs.get(identity)
        if known is None:
            raise LedgerWriteError(path=self._path, reason=f"there is no job {identity!r}")
        return known

    def before(self, identity: str) -> JobRow | None:
        """Return what was known of a job before the batch."""
        return self._jobs.get(identity)

    def definition(self, key: str) -> int:
        """Return the number of a definition."""
        number = self._definitions.get(key) or self.new_definitions.get(key)
        if number is None:
            raise LedgerWriteError(path=self._path, reason=f"there is no definition {key!r}")
        return number

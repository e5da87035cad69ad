"""declared_jobs(path) -> the jobs that a host has declared now, with the texts of their definitions."""

from os import PathLike
from pathlib import Path
from typing import NamedTuple

from kron.adapters.sqlite_ledger.job_history import open_to_read

_DECLARED = """SELECT identity, name, text FROM job JOIN definition ON definition.id = job.definition
    WHERE declared = 1 ORDER BY identity"""


class Declared(NamedTuple):
    """A job that is defined, and how."""

    identity: str
    name: str
    definition: str


def declared_jobs(path: str | PathLike[str]) -> list[Declared]:
    """Return them all, by identity."""
    with open_to_read(Path(path)) as connection:
        return [Declared(*map(str, row)) for row in connection.execute(_DECLARED)]

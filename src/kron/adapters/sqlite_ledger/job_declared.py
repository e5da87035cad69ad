"""declared_jobs(path) -> the jobs that a host has declared; served_at_boot(path, boot) -> those it starts no more."""

from os import PathLike
from pathlib import Path
from typing import NamedTuple

from kron.adapters.sqlite_ledger.job_history import open_to_read

_DECLARED = """SELECT identity, name, text FROM job JOIN definition ON definition.id = job.definition
    WHERE declared = 1 ORDER BY identity"""


_SERVED = "SELECT identity FROM job WHERE boot = ? OR suspended = 1"


class Declared(NamedTuple):
    """A job that is defined, and how."""

    identity: str
    name: str
    definition: str


def declared_jobs(path: str | PathLike[str]) -> list[Declared]:
    """Return them all, by identity."""
    with open_to_read(Path(path)) as connection:
        return [Declared(*map(str, row)) for row in connection.execute(_DECLARED)]


def served_at_boot(path: str | PathLike[str], boot: str) -> set[str]:
    """Return the identities of jobs that a start does not run because of a boot: it has, or they are suspended."""
    with open_to_read(Path(path)) as connection:
        return {str(identity) for (identity,) in connection.execute(_SERVED, (boot,))}

"""Errors of hosts whose jobs have periods."""

from kron.errors.tree import KronError, shown


class JobActiveError(KronError):
    """A run was asked for while one is active, and the job forbids a second one."""

    def __init__(self, *, identity: str) -> None:
        super().__init__(f"{shown(identity)} is active, and its concurrency is forbid", identity=identity)

"""Disk: the fault injection that every layer below a ledger offers."""

from collections.abc import Sequence
from enum import Enum
from typing import Protocol


class Fault(Enum):
    """What becomes of a step that does not go well."""

    NO_SPACE = "no space left"
    IO_ERROR = "input-output error"
    READ_ONLY = "read-only file system"
    KILL = "the process dies"


class Disk(Protocol):
    """A layer that counts the steps by which files are changed."""

    def arm(self, step: int, fault: Fault, *, for_good: bool = False) -> None:
        """Let that step from now on fail; `for_good`: and all after it, until `repair`."""

    def repair(self) -> None:
        """Stop injecting faults."""

    @property
    def failed(self) -> Sequence[str]:
        """The steps that failed since it was armed, as "write ledger-wal"; perhaps only the first."""

"""AskedClock: a virtual clock that records which waits for the ledger were watched."""

from contextlib import AbstractContextManager
from datetime import datetime

from kron.adapters.virtual_clock import VirtualClock


class AskedClock(VirtualClock):
    """Notes each call of `working`."""

    def __init__(self, start: datetime) -> None:
        super().__init__(start)
        self.watched: list[bool] = []

    def busy(self, *, watched: bool = False) -> AbstractContextManager[object]:
        """Surround a wait."""
        self.watched.append(watched)
        return super().busy(watched=watched)

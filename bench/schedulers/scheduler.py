"""The interface that every scheduler inside a process offers to the benchmarks."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from math import ceil
from pathlib import Path
from time import time
from typing import Any, ClassVar

from bench.probe import pause

Task = tuple[str, str, Callable[[], Coroutine[Any, Any, None]], timedelta]  # name, cron, callback, retry delay
DAY = 86_400.0
_SOON = 0.5


@dataclass(frozen=True, slots=True)
class Due:
    """When all tasks are due: a whole second of the real clock, and how many seconds pass until they are due again."""

    at: float
    period: float = DAY

    @property
    def second(self) -> str:
        """The field for seconds of those who have one."""
        return f"*/{self.period:.0f}" if self.period < 60 else f"{self.at % 60:.0f}"


class Scheduler:
    """Open, register, begin, close, in this order and in one event loop."""

    distribution: ClassVar[str] = ""
    every: ClassVar[str] = "* * * * *"  # the cron text of a task that is due each period
    seconds_per_task: ClassVar[float] = 1e-5  # generously, what registration takes
    blocks: ClassVar[bool] = False  # it has no event loop, or holds it from the first start to the last
    restarts: ClassVar[bool] = False  # it keeps its tasks in a file and takes them up again

    def version(self) -> str:
        """Return the version that is installed, nothing for what is no product."""
        return version(self.distribution) if self.distribution else ""

    async def open(self, folder: Path) -> None:
        """Make what there must be before tasks can be registered; files go into the folder."""

    def wall(self, due: Due) -> datetime:
        """Return what the scheduler's clock will show at the due instant."""
        return datetime.fromtimestamp(due.at, UTC)

    async def register(self, tasks: Sequence[Task], due: Due) -> None:
        """Register the tasks: this is timed."""
        raise NotImplementedError

    async def begin(self) -> None:
        """Let tasks start from now on; one that blocks returns when all have."""

    async def boundary(self, due: Due, *, ahead: float = _SOON) -> float:
        """Return so many seconds before a real instant at which all tasks are due: that instant."""
        periods = max(0, ceil((time() + ahead - due.at) / due.period))
        boundary = due.at + periods * due.period
        await pause(boundary - ahead - time())
        return boundary

    async def close(self) -> None:
        """End it in good order."""

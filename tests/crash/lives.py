"""SchedulerLives: consecutive schedulers on one ledger, and the state of the file between them."""

from datetime import timedelta
from pathlib import Path

from kron.instant import Instant, format_instant, parse_instant
from kron.rules.contract import Contract
from tests.crash.fork_server import ForkServer
from tests.crash.judge import Life, judge
from tests.crash.kill_point import Point
from tests.crash.ledger_contents import LedgerContents, ledger_contents
from tests.crash.life import Order
from tests.crash.trace import read

BEGINNING = parse_instant("2026-03-02T10:00:30Z")  # inside a minute in which every task is due


class SchedulerLives:
    """Yields lives as they end; `now` is the wall clock's time at the end of the last."""

    def __init__(self, fork_server: ForkServer, folder: Path, contract: Contract) -> None:
        (folder / "disk").mkdir(parents=True)
        self._fork_server, self._folder, self._contract = fork_server, folder, contract
        self.lives: list[Life] = []
        self.now = BEGINNING

    def live(
        self,
        *,
        lasting: timedelta,
        after: timedelta = timedelta(),
        point: Point | None = None,
        count: int = 0,
        clock: tuple[Instant, float] | None = None,
        seconds: float | None = None,
    ) -> bool:
        """Live once more, after a pause; to the end, or until a point is reached so many times, or so many seconds.

        `clock`: start and origin of a fast one. Return whether the end was reached.
        """
        ledger, trace = self._folder / "disk" / "ledger", self._folder / f"trace-{len(self.lives)}"
        before = self.lives[-1].after if self.lives else LedgerContents()
        start, origin = clock or (self.now + after, None)
        order = Order(
            ledger=str(ledger),
            trace=str(trace),
            contract=self._contract.name,
            start=format_instant(start),
            until=format_instant(self.now + after + lasting),
            origin=origin,
            point=None if point is None else point.value,
            count=count,
        )
        survived = self._fork_server.live(order, seconds=seconds)
        lines = read(trace)
        if lines:
            self.now = parse_instant(lines[-1]["at"])
        self.lives.append(Life(before, lines, ledger_contents(ledger), is_prompt=clock is None))
        return survived

    def complaints(self) -> list[str]:
        """Return every promise that was broken."""
        return judge(self.lives, self._contract)

"""The demand bits of the theory, second by second: an independent and slow oracle of starts."""

from collections.abc import Callable
from dataclasses import dataclass, field

MINUTE = 60


@dataclass
class Config:
    """A task as it is registered: minutes of the hour, seconds until a retry."""

    minutes: frozenset[int]
    delay: int

    def matches(self, second: int) -> bool:
        """Whether the minute that holds a second is named."""
        return second // MINUTE % 60 in self.minutes


@dataclass
class TaskDemands:
    """What one name owes, and what it is doing."""

    due: bool = False
    retry: bool = False
    orphan: bool = False
    boot: bool = False
    retry_at: int | None = None
    ends_at: int | None = None
    succeeds: bool = True
    last_start: int | None = None
    first_minute: int = 0
    runs: int = 0

    def forget(self) -> None:
        """A first coming forgets all demands."""
        self.due = self.retry = self.orphan = self.boot = False
        self.retry_at = None


@dataclass
class DemandOracle:
    """Each task that owes a run and may start, starts. `script(name, n)` gives the n-th run's success and seconds."""

    now: int
    script: Callable[[str, int], tuple[bool, int]]
    resets: bool  # a changed task counts as one that comes first
    restarts: bool  # an interrupted run is owed again
    active: bool = False
    current: dict[str, Config] = field(default_factory=dict)
    bits: dict[str, TaskDemands] = field(default_factory=dict)
    starts: list[tuple[int, str]] = field(default_factory=list)

    def initialize(self, configs: dict[str, Config]) -> None:
        """A list succeeds, and is active."""
        for name, config in configs.items():
            old, bits = self.current.get(name), self.bits.setdefault(name, TaskDemands())
            if old is None or (old != config and self.resets):
                bits.forget()
                bits.boot = config.matches(self.now)
                bits.last_start = None
                bits.first_minute = self.now - self.now % MINUTE
            elif old.minutes != config.minutes:
                baseline = bits.first_minute if bits.last_start is None else bits.last_start + 1
                bits.boot = False
                bits.due = any(
                    second % MINUTE == 0 and config.matches(second) for second in range(baseline, self.now + 1)
                )
        self.current, self.active = configs, True
        self._start()

    def stop(self) -> None:
        """A stop begins."""
        self.active = False

    def crash(self) -> None:
        """Whatever ran is cut off."""
        self.active = False
        for bits in self.bits.values():
            if bits.ends_at is not None:
                bits.orphan |= self.restarts
                bits.ends_at = None

    def advance(self, seconds: int) -> None:
        """Time passes."""
        for _ in range(seconds):
            self.now += 1
            for name, config in self.current.items():
                bits = self.bits[name]
                bits.due |= self.now % MINUTE == 0 and config.matches(self.now)
                bits.retry |= bits.retry_at == self.now
            self._end()
            self._start()

    def _end(self) -> None:
        for name, bits in self.bits.items():
            if bits.ends_at is not None and bits.ends_at <= self.now:
                bits.ends_at = None
                if not bits.succeeds and name in self.current:
                    bits.retry_at = self.now + self.current[name].delay

    def _start(self) -> None:
        for name in self.current if self.active else ():
            bits = self.bits[name]
            if bits.ends_at is None and (bits.due or bits.retry or bits.orphan or bits.boot):
                bits.forget()
                bits.last_start = self.now
                bits.succeeds, seconds = self.script(name, bits.runs)
                bits.runs += 1
                bits.ends_at = self.now + seconds
                self.starts.append((self.now, name))
        self._end()

"""Handled: the periods of a job that have their outcome, as far as anybody may still ask."""

from collections.abc import Iterable
from dataclasses import dataclass

from kron.instant import Instant


@dataclass(frozen=True, slots=True)
class Handled:
    """Spans of nominal times, both ends included: what was closed together is one span."""

    spans: tuple[tuple[Instant, Instant], ...] = ()

    @classmethod
    def of(cls, nominals: Iterable[Instant]) -> "Handled":
        """Return the periods of these nominal times, each on its own."""
        return cls(tuple((nominal, nominal) for nominal in nominals))

    def has(self, nominal: Instant) -> bool:
        """Whether the period of a nominal time has its outcome."""
        return any(first <= nominal <= last for first, last in self.spans)

    def latest(self) -> Instant | None:
        """Return the latest nominal time of them."""
        return max((last for _, last in self.spans), default=None)


NONE = Handled()

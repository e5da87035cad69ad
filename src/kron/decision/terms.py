"""Terms: what stays the same from period to period of one timing, prepared for `decide`, kept in each decision."""

from dataclasses import dataclass, field, fields
from datetime import timedelta

from kron.cron.zone import Zone, database_version
from kron.decision.constraint import Constraints
from kron.decision.distribution import Distribution, Frame, Map
from kron.decision.seed import Seed
from kron.decision.window import WindowMode
from kron.instant import SECOND


@dataclass(frozen=True, slots=True)
class Terms:
    """All that a choice depends on but the nominal time; `first` and `last` are the window's whole seconds from it."""

    identity: str
    zone: Zone
    mode: WindowMode
    first: int
    last: int
    distribution: Distribution
    seed: Seed
    constraints: Constraints
    tzdata_version: str = field(default_factory=database_version)
    # Prepared once, because a preview asks hundreds of thousands of times.
    start: timedelta = field(init=False, compare=False, repr=False)
    width: int = field(init=False, compare=False, repr=False)
    quantile: Map | None = field(init=False, compare=False, repr=False)
    free: bool = field(init=False, compare=False, repr=False)  # the first candidate is always accepted

    def __reduce__(self) -> tuple[object, ...]:
        return Terms, tuple(getattr(self, part.name) for part in fields(self) if part.init)

    def __post_init__(self) -> None:
        frame = Frame(self.mode, self.last - self.first, -self.first)
        resolved = self.distribution.resolve(frame)
        prepare = object.__setattr__
        prepare(self, "distribution", resolved)
        prepare(self, "start", SECOND * self.first)
        prepare(self, "width", frame.width)
        prepare(self, "quantile", resolved.quantile(frame) if frame.width else None)
        prepare(self, "free", frame.width > 0 and not self.constraints)

"""Timing: all inputs of a chosen time; Terms: the same, prepared for `decide`."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import Literal

from kron.cron.schedule import GapPolicy, RepeatedPolicy, Schedule
from kron.cron.zone import Zone, tzdata_release
from kron.decision.constraint import Constraints
from kron.decision.definition import (
    check_salt,
    read_clauses,
    read_definition,
    read_distribution,
    read_modifiers,
    read_seed,
    read_window,
    require_identity,
    require_type,
)
from kron.decision.distribution import Distribution, UnitMap
from kron.decision.line import ScheduleLine, parse_line, quote
from kron.decision.seed import Seed
from kron.decision.window import Window, WindowFrame, WindowMode
from kron.instant import SECOND, format_duration


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
    tzdata_version: str = field(default_factory=tzdata_release)
    # Prepared once, because a preview asks hundreds of thousands of times.
    start: timedelta = field(init=False, compare=False, repr=False)
    width: int = field(init=False, compare=False, repr=False)
    quantile: UnitMap | None = field(init=False, compare=False, repr=False)
    free: bool = field(init=False, compare=False, repr=False)  # the first candidate is always accepted

    def __reduce__(self) -> tuple[object, ...]:
        return Terms, tuple(getattr(self, part.name) for part in fields(self) if part.init)

    def __post_init__(self) -> None:
        frame = WindowFrame(self.mode, self.last - self.first, -self.first)
        resolved = self.distribution.with_defaults(frame)
        prepare = object.__setattr__
        prepare(self, "distribution", resolved)
        prepare(self, "start", SECOND * self.first)
        prepare(self, "width", frame.width)
        prepare(self, "quantile", resolved.quantile(frame) if frame.width else None)
        prepare(self, "free", frame.width > 0 and not self.constraints)


@dataclass(frozen=True, slots=True)
class Timing:
    """A schedule, a window in each of its periods, and how the second in the window is chosen."""

    identity: str
    schedule: Schedule
    window: Window = field(default_factory=Window)
    distribution: Distribution = field(default_factory=Distribution)
    seed: Seed = field(default_factory=Seed)
    constraints: Constraints = field(default_factory=Constraints)
    terms: Terms = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        require_identity(self.identity)
        kinds = (Schedule, Window, Distribution, Seed, Constraints)
        for name, kind in zip(("schedule", "window", "distribution", "seed", "constraints"), kinds, strict=True):
            require_type(name, getattr(self, name), kind)
        check_salt("salt", self.seed.salt)
        first, last = self.window.bounds
        terms = Terms(
            self.identity,
            self.schedule.zone,
            self.window.mode,
            first,
            last,
            self.distribution,
            self.seed,
            self.constraints,
        )
        object.__setattr__(self, "terms", terms)

    @classmethod
    def parse(cls, text: str, *, identity: str, dialect: Literal["extended", "posix"] = "extended") -> "Timing":
        """Return the timing that a schedule line names.

        The line's `@policy` says what happens at the chosen second, not which second it is: `Job.parse` reads it.
        """
        return cls.from_line(parse_line(text), identity=identity, dialect=dialect)

    @classmethod
    def from_line(cls, line: ScheduleLine, *, identity: str, **defaults: str) -> "Timing":
        """Return the timing part of a line that was taken apart already.

        `defaults` are the `dialect`, `timezone`, `gap` and `repeated` of a line that does not name its own.
        """
        return cls._build(identity, {"schedule": line.expression, **defaults, **read_modifiers(line)})

    @classmethod
    def from_dict(cls, definition: Mapping[str, object], *, identity: str) -> "Timing":
        """Return the timing of a structured definition: the keys of a job table or of a KronJob's spec.

        `schedule` may carry modifiers; saying the same thing twice is an error.
        """
        return cls._build(identity, read_definition(definition))

    @classmethod
    def _build(cls, identity: str, parts: Mapping[str, object]) -> "Timing":
        words = {key: parts[key] for key in ("timezone", "dialect", "repeated", "gap") if key in parts}
        schedule = Schedule(parts["schedule"], **words)  # type: ignore[arg-type] # it checks each of them
        only, avoid = (read_clauses(side, parts.get(side, ())) for side in ("only", "avoid"))
        return cls(
            identity,
            schedule,
            read_window(parts.get("window", {})),
            read_distribution(parts.get("distribution", {})),
            read_seed(parts.get("seed", {}), parts.get("salt")),
            Constraints(only, avoid),
        )

    def modifiers(self) -> list[str]:
        """Return the modifiers that differ from the defaults, in the order of the documentation."""
        params = "".join(f",{key}={value}" for key, value in self.distribution.to_params().items())
        salt = f",salt={quote(self.seed.salt)}" if self.seed.salt else ""
        schedule = self.schedule
        words = [f"gap={schedule.gap.value}"] if schedule.gap is not GapPolicy.SKIP else []
        words += [f"repeated={schedule.repeated.value}"] if schedule.repeated is not RepeatedPolicy.BOTH else []
        parts = [
            (schedule.timezone != "UTC", f"@tz({schedule.timezone})"),
            (bool(words), f"@dst({','.join(words)})"),
            (self.window != Window(), f"@win({self.window.mode.value},{format_duration(self.window.duration)})"),
            (self.distribution != Distribution(), f"@dist({self.distribution.name}{params})"),
            (self.seed != Seed(), f"@seed({self.seed.strategy.value}{salt})"),
            (bool(self.constraints.only.values), f"@only({self.constraints.only})"),
            (bool(self.constraints.avoid.values), f"@avoid({self.constraints.avoid})"),
        ]
        return [text for differs, text in parts if differs]

    def to_line(self) -> str:
        """Return the schedule line; `Timing.parse` reads it back as an equal timing of the same dialect."""
        return " ".join([self.schedule.expression.text, *self.modifiers()])

    def to_dict(self) -> dict[str, object]:
        """Return the structured form with every key; `Timing.from_dict` reads it back as an equal timing."""
        schedule = self.schedule
        return {
            "schedule": schedule.expression.text,
            "timezone": schedule.timezone,
            "dialect": schedule.expression.dialect.name,
            "gap": schedule.gap.value,
            "repeated": schedule.repeated.value,
            "window": {"mode": self.window.mode.value, "duration": format_duration(self.window.duration)},
            "distribution": self.distribution.to_dict(),
            "seed": {"strategy": self.seed.strategy.value, "salt": self.seed.salt},
            **self.constraints.to_dict(),
        }

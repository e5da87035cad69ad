"""Timing: all the inputs that determine a chosen time, and the two texts they are written in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kron.cron.schedule import Gaps, Repeated, Schedule
from kron.decision.constraint import Constraints
from kron.decision.definition import (
    check_identity,
    check_salt,
    check_type,
    read_clauses,
    read_definition,
    read_distribution,
    read_modifiers,
    read_seed,
    read_window,
)
from kron.decision.distribution import Distribution
from kron.decision.line import Line, parse_line, quote
from kron.decision.seed import Seed
from kron.decision.terms import Terms
from kron.decision.window import Window
from kron.instant import format_duration


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
        check_identity(self.identity)
        kinds = (Schedule, Window, Distribution, Seed, Constraints)
        for name, kind in zip(("schedule", "window", "distribution", "seed", "constraints"), kinds, strict=True):
            check_type(name, getattr(self, name), kind)
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
        return cls.of_line(parse_line(text), identity=identity, dialect=dialect)

    @classmethod
    def of_line(cls, line: Line, *, identity: str, **defaults: str) -> "Timing":
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
        words = [f"gap={schedule.gap.value}"] if schedule.gap is not Gaps.SKIP else []
        words += [f"repeated={schedule.repeated.value}"] if schedule.repeated is not Repeated.BOTH else []
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

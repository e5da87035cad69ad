"""Policy: what a definition says about lateness, overlap and pauses; it never moves a chosen second."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum

from kron.decision.definition import Parts, locate_errors, read_duration, read_pair, read_table, require_type, set_once
from kron.decision.line import Modifier, ScheduleLine
from kron.errors import InvalidDefinitionError
from kron.errors.diagnostics import ErrorCollector, parse_choice, unknown_value
from kron.instant import ZERO, format_duration


class Concurrency(Enum):
    """What becomes of a period whose time has come while an earlier execution is active."""

    ALLOW = "allow"
    FORBID = "forbid"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class Policy:
    """How late a run may start, whether it may overlap, and whether the job is paused."""

    concurrency: Concurrency = Concurrency.FORBID
    deadline: timedelta = ZERO
    suspend: bool = False

    def __post_init__(self) -> None:
        require_type("policy.concurrency", self.concurrency, Concurrency)
        require_type("policy.deadline", self.deadline, timedelta)
        if self.deadline < ZERO:
            raise InvalidDefinitionError(
                field="policy.deadline", found=str(self.deadline), reason="must not be negative"
            )

    @classmethod
    def from_line(cls, line: ScheduleLine) -> "Policy":
        """Return what the line's `@policy(…)` says, the defaults if it has none."""
        if "policy" not in line.modifiers:
            return cls()
        modifier, mistakes = line.modifiers["policy"], ErrorCollector()
        with locate_errors(modifier):
            words = collect_policy_words(modifier, mistakes)
            mistakes.raise_first()
            return cls.from_dict(words)

    @classmethod
    def from_dict(cls, given: Mapping[str, object]) -> "Policy":
        """Return the policy of a table with any of the three keys."""
        table = read_table("policy", given, _WORDS)
        suspend = table.get("suspend", False)
        if not isinstance(suspend, bool):
            raise InvalidDefinitionError(field="policy.suspend", found=str(suspend), reason="must be true or false")
        return cls(
            parse_choice(Concurrency, "policy.concurrency", table.get("concurrency", "forbid")),
            read_duration("policy.deadline", table.get("deadline", "0s")),
            suspend,
        )

    def to_dict(self) -> dict[str, object]:
        """Return all three keys."""
        return {
            "concurrency": self.concurrency.value,
            "deadline": format_duration(self.deadline),
            "suspend": self.suspend,
        }

    def modifiers(self) -> list[str]:
        """Return the modifier that says what differs from the defaults, none if nothing does."""
        usual = Policy().to_dict()
        words = [f"{key}={str(value).lower()}" for key, value in self.to_dict().items() if value != usual[key]]
        return [f"@policy({','.join(words)})"] if words else []


def collect_policy_words(modifier: Modifier, mistakes: ErrorCollector) -> Parts:
    """Return what an `@policy(…)` says, `suspend` as a bool where it is one; what is wrong is added to the mistakes."""
    words: Parts = {}
    for word in modifier.words():
        with mistakes:
            key, value = read_pair("policy", word)
            if key not in _WORDS:
                raise unknown_value("policy", key, _WORDS)
            set_once(words, key, _BOOLS.get(value, value) if key == "suspend" else value, of="policy")
    return words


_WORDS = ("concurrency", "deadline", "suspend")
_BOOLS: dict[str, object] = {"true": True, "false": False}

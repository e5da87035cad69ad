"""Policy: what a definition says about lateness, overlap and pauses; it never moves a chosen second."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum

from kron.decision.choices import choose, unknown_word
from kron.decision.definition import Parts, add_once, check_type, pointing_at, read_duration, read_pair, read_table
from kron.decision.line import Line, Modifier
from kron.decision.mistakes import Mistakes
from kron.errors import InvalidDefinitionError
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
        check_type("policy.concurrency", self.concurrency, Concurrency)
        check_type("policy.deadline", self.deadline, timedelta)
        if self.deadline < ZERO:
            raise InvalidDefinitionError(
                field="policy.deadline", found=str(self.deadline), reason="must not be negative"
            )

    @classmethod
    def of_line(cls, line: Line) -> "Policy":
        """Return what the line's `@policy(…)` says, the defaults if it has none."""
        if "policy" not in line.modifiers:
            return cls()
        modifier = line.modifiers["policy"]
        with pointing_at(modifier):
            return cls.from_dict(policy_words(modifier))

    @classmethod
    def from_dict(cls, given: Mapping[str, object]) -> "Policy":
        """Return the policy of a table with any of the three keys."""
        table = read_table("policy", given, _WORDS)
        suspend = table.get("suspend", False)
        if not isinstance(suspend, bool):
            raise InvalidDefinitionError(field="policy.suspend", found=str(suspend), reason="must be true or false")
        return cls(
            choose(Concurrency, "policy.concurrency", table.get("concurrency", "forbid")),
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


def policy_words(modifier: Modifier) -> Parts:
    """Return what an `@policy(…)` says and no more, `suspend` as a bool where it is one."""
    mistakes = Mistakes()
    words = gather_policy_words(modifier, mistakes)
    mistakes.tell()
    return words


def gather_policy_words(modifier: Modifier, mistakes: Mistakes) -> Parts:
    """Return what an `@policy(…)` says; what is wrong with the rest of it is added to the mistakes."""
    words: Parts = {}
    for word in modifier.words():
        with mistakes:
            key, value = read_pair("policy", word)
            if key not in _WORDS:
                raise unknown_word("policy", key, _WORDS)
            add_once(words, key, _BOOLS.get(value, value) if key == "suspend" else value, of="policy")
    return words


_WORDS = ("concurrency", "deadline", "suspend")
_BOOLS: dict[str, object] = {"true": True, "false": False}

"""Job: a timing, a policy and what to run, from one line of a `.kron` file and back."""

from dataclasses import dataclass, field
from typing import Literal

from kron.decision.definition import require_type, set_once
from kron.decision.line import TrailingText, parse_line, quote, split_outside_quotes, unquote
from kron.decision.timing import Timing
from kron.errors import InvalidDefinitionError
from kron.errors.diagnostics import ErrorCollector, suggest_key
from kron.jobfile.keys import IN_LINES, KEY_ALIASES, KEYS, REPEATABLE
from kron.rules.policy import Policy


@dataclass(frozen=True, slots=True)
class Job:
    """When, under which policy, and with which settings, as they were written."""

    timing: Timing
    policy: Policy = field(default_factory=Policy)
    settings: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        require_type("timing", self.timing, Timing)
        require_type("policy", self.policy, Policy)

    @property
    def identity(self) -> str:
        """The stable identifier that enters every seed."""
        return self.timing.identity

    @property
    def name(self) -> str:
        """The name that the line gives, empty if it gives none."""
        return next((value for key, value in self.settings if key == "name"), "")

    @classmethod
    def parse(cls, text: str, *, identity: str = "", dialect: Literal["extended", "posix"] = "extended") -> "Job":
        """Return the job of a line; without an identity it is the name."""
        line = parse_line(text, trailing=TrailingText.SETTINGS)
        settings = read_settings(line.trailing, line.trailing_position)
        timing = Timing.from_line(line, identity=identity or dict(settings).get("name", ""), dialect=dialect)
        return cls(timing, Policy.from_line(line), settings)

    def to_line(self) -> str:
        """Return the line that `parse` reads back as an equal job of the same identity."""
        words = [self.timing.schedule.expression.text, *self.timing.modifiers(), *self.policy.modifiers()]
        return " ".join(words + [f"{key}={quote(value)}" for key, value in self.settings])


def _words(text: str, position: int) -> list[str]:
    try:
        return split_outside_quotes(text, " \t")
    except InvalidDefinitionError as error:
        error.position = position + (error.position or 0)
        raise


def read_settings(text: str, position: int) -> tuple[tuple[str, str], ...]:
    """Return the keys and values that follow a schedule, in order; errors point into the line, from `position` on."""
    mistakes = ErrorCollector()
    settings = gather_settings(text, position, mistakes)
    mistakes.raise_first()
    return settings


def gather_settings(text: str, position: int, mistakes: ErrorCollector) -> tuple[tuple[str, str], ...]:
    """Return the keys and values that follow a schedule; what is wrong with others is added to the mistakes."""
    settings: list[tuple[str, str]] = []
    seen: dict[str, object] = {}
    for word in _words(text, position):
        if word:
            try:
                settings.append(_read_setting(word, seen))
            except InvalidDefinitionError as error:
                error.position = position
                mistakes.errors.append(error)
        position += len(word) + 1
    return tuple(settings)


def _read_setting(word: str, seen: dict[str, object]) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if word.startswith("@"):
        reason, fix = "modifiers stand before the settings", "move it to just after the schedule"
        raise InvalidDefinitionError(field="settings", found=word, reason=reason, fix=fix)
    if not equals or not key:
        fix = 'quote a value with blanks, as in command="echo hello"'
        raise InvalidDefinitionError(field="settings", found=word, reason="needs KEY=VALUE", fix=fix)
    if key not in IN_LINES:
        if key in KEYS and KEYS[key].modifier:
            fix = f"write @{KEYS[key].modifier}(…) after the schedule"
            raise InvalidDefinitionError(field=key, found=value, reason="is said by a modifier", fix=fix)
        fix = suggest_key(key, IN_LINES, KEY_ALIASES)
        raise InvalidDefinitionError(field=key, found="", reason="is not a key of a line", fix=fix)
    if key not in REPEATABLE:
        set_once(seen, key, value)
    return key, unquote(value)

"""All errors of a text at once, what an unknown word was meant to be, and what a check found."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from types import TracebackType
from typing import Literal, TypeVar

from kron.errors import (
    InvalidCronExpressionError,
    InvalidDefinitionError,
    KronError,
    Remedy,
    UnknownTimezoneError,
    display_text,
    escape_unprintable,
)
from kron.errors.base import nearest


class ErrorCollector:
    """Takes the errors of the blocks that it surrounds (`with collector:`); `raise_first` raises the first of them."""

    __slots__ = ("errors",)

    def __init__(self) -> None:
        self.errors: list[KronError] = []

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        if isinstance(error, KronError):
            self.errors.append(error)
            return True
        return False

    def raise_first(self) -> None:
        """Raise the first error, if there is one, with the others beside it."""
        if self.errors:
            first, *others = (each for error in self.errors for each in error.all_errors)
            first.others = tuple(others)
            raise first


Choice = TypeVar("Choice", bound=Enum)


def parse_choice(enum: type[Choice], field: str, value: object) -> Choice:
    """Return the member whose value is exactly `value`."""
    if isinstance(value, enum):
        return value
    for member in enum:
        if member.value == value:
            return member
    words = [str(member.value) for member in enum]
    raise unknown_value(field, value, words)


def unknown_value(field: str, found: object, known: Iterable[str]) -> InvalidDefinitionError:
    """Return the error for a word outside a closed list, with the nearest one as the fix."""
    words = list(known)
    near = nearest(str(found), words)
    return InvalidDefinitionError(
        field=field,
        found=str(found),
        reason=f"must be one of {', '.join(words)}",
        fix=f"did you mean {near}?" if near else "write one of them",
    )


def suggest_key(key: str, known: Iterable[str], other_words: Mapping[str, str]) -> str:
    """Return the fix for an unknown key: what it is called here, or the nearest one; there are too many to list."""
    words, word = list(known), key.casefold()
    if word in other_words and word not in words:
        return f"did you mean {other_words[word]}?"
    if near := nearest(key, words):
        return f"did you mean {near}?"
    return f"the nearest one is {nearest(key, words, alike=0)}"


Severity = Literal["error", "warning", "notice"]  # a notice is information, not a problem


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """An error, a warning or a notice: where it is, which field it is about, what was found and what would be right."""

    level: Severity
    field: str
    message: str
    fix: Remedy = ""
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        place = f"{escape_unprintable(self.file)}:{self.line}: " if self.file else ""  # one problem is one line
        return f"{place}{self.level}: {self.field}: {self.message}{f'; {self.fix}' if self.fix else ''}"

    def to_dict(self) -> dict[str, object]:
        """Return the finding as JSON holds it."""
        return {
            "file": self.file,
            "line": self.line,
            "field": self.field,
            "level": self.level,
            "message": self.message,
            "fix": str(self.fix),
        }


def as_errors(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the findings with each warning made an error."""
    return [replace(found, level="error") if found.level == "warning" else found for found in findings]


def diagnostic_of(error: KronError, *, file: str, line: int) -> Diagnostic:
    """Return the finding that says what an error of a definition says."""
    match error:
        case InvalidCronExpressionError():
            message = f'{error.problem} in "{display_text(error.expression)}"'
            return Diagnostic("error", "schedule", message, error.remedy, file, line)
        case InvalidDefinitionError():
            found = f', found "{display_text(error.found)}"' if error.found else ""
            return Diagnostic("error", error.where, f"{error.reason}{found}", error.remedy, file, line)
        case UnknownTimezoneError():
            message = f'must be an IANA time zone, found "{display_text(str(error.details["timezone"]))}"'
            return Diagnostic("error", "timezone", message, error.fix, file, line)
    return Diagnostic("error", str(error.details.get("field", "schedule")), error.message, "", file, line)

"""Finding: one thing that a check has to say about a definition, in the form that people and scripts read."""

from dataclasses import dataclass
from typing import Literal

from kron.errors import (
    InvalidCronExpressionError,
    InvalidDefinitionError,
    KronError,
    UnknownTimezoneError,
    printable,
    shown,
)

Level = Literal["error", "warning", "notice"]  # a notice tells what is done, and never that it is wrong


@dataclass(frozen=True, slots=True)
class Finding:
    """An error, a warning or a notice: where it is, which field it is about, what was found and what would be right."""

    level: Level
    field: str
    message: str
    fix: str = ""
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        place = f"{printable(self.file)}:{self.line}: " if self.file else ""  # one problem is one line
        return f"{place}{self.level}: {self.field}: {self.message}{f'; {self.fix}' if self.fix else ''}"

    def to_dict(self) -> dict[str, object]:
        """Return the finding as JSON holds it."""
        return {
            "file": self.file,
            "line": self.line,
            "field": self.field,
            "level": self.level,
            "message": self.message,
            "fix": self.fix,
        }


def finding_of(error: KronError, *, file: str, line: int) -> Finding:
    """Return the finding that says what an error of a definition says."""
    match error:
        case InvalidCronExpressionError():
            return Finding("error", error.field, error.reason, error.fix, file, line)
        case InvalidDefinitionError():
            found = f', found "{shown(error.found)}"' if error.found else ""
            return Finding("error", error.field, f"{error.reason}{found}", error.fix, file, line)
        case UnknownTimezoneError():
            message = f'must be an IANA time zone, found "{shown(str(error.details["timezone"]))}"'
            return Finding("error", "timezone", message, error.fix, file, line)
    return Finding("error", str(error.details.get("field", "schedule")), error.message, "", file, line)

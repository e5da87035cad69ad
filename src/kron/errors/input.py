"""Errors of what people write: cron expressions, times, definitions of a timing, recorded decisions."""

from typing import NamedTuple

from kron.errors.base import KronError, caret, display_text, nearest, truncate

# --- what would be right ----------------------------------------------------------------------------------------------


class Fix(NamedTuple):
    """A setting that would be right, under the key that a job file has for it.

    It is data, because a line, a table and a manifest write the same setting in different ways: code that knows where
    the definition came from calls `worded`. `note` says more about the value, such as `or longer`.
    """

    key: str
    value: str | bool
    note: str = ""

    def __str__(self) -> str:
        return self.worded(f"{self.key}={self.text}")

    @property
    def text(self) -> str:
        """The value as a line or a manifest has it."""
        return str(self.value).lower() if isinstance(self.value, bool) else self.value

    def worded(self, setting: str, verb: str = "write") -> str:
        """Return what to do, with the setting as it is written where it belongs."""
        return f"{verb} {setting}{f' {self.note}' if self.note else ''}"


class OneOf(NamedTuple):
    """Words of which one would be right, and the word found instead. A caller that accepts more words adds its own."""

    words: tuple[str, ...]
    found: str

    def __str__(self) -> str:
        near = nearest(self.found, self.words, alike=0.7)
        return f"did you mean {near}?" if near else f"use one of {' '.join(self.words)}"


Remedy = str | Fix | OneOf  # a text is for what is said in the same words everywhere

# --- cron expressions -------------------------------------------------------------------------------------------------


class FieldParseError(KronError):
    """One field of a cron expression could not be read.

    `position` is the offset of the offending character inside the field, `fix` the way to write it, if there is one.
    """

    def __init__(self, reason: str, *, field_name: str, field_value: str, position: int = 0, fix: str = "") -> None:
        reason = display_text(reason)
        super().__init__(f"{field_name} field {reason}", fieldValue=truncate(field_value), fieldName=field_name)
        self.field = field_name
        self.reason = reason
        self.position = position
        self.fix = fix


class InvalidCronExpressionError(KronError):
    """A text is not a cron expression of its dialect.

    `pointer` gives the text with a caret under the offending character and the fix, for a terminal.
    """

    def __init__(self, *, expression: str, field: str, reason: str, position: int = 0, fix: Remedy = "") -> None:
        reason = display_text(reason)
        super().__init__(
            f'Invalid cron expression "{display_text(expression)}": {field} field {reason}',
            expression=truncate(expression),
            field=field,
            reason=reason,
        )
        self.expression = expression
        self.field = field
        self.reason = reason
        self.position = position
        self.remedy = fix
        self.problem = reason if field == "expression" else f"{field} field {reason}"  # for the author of a job

    @property
    def fix(self) -> str:
        """What would be right, in words; empty if that is not known."""
        return str(self.remedy)

    @property
    def pointer(self) -> str:
        """The text, a caret under the offending character, and what would be right."""
        fix = f"; {self.fix}" if self.fix else ""
        return f"{caret(self.expression, self.position)}\n{self.field} field {self.reason}{fix}"


class CronExpressionInvalidError(KronError):
    """A registration carries a cron expression that does not parse; the parser's error is its cause."""

    def __init__(self, *, expression: str, field: str, reason: str) -> None:
        super().__init__(
            f'Invalid cron expression "{display_text(expression)}": {field} field {reason}',
            expression=truncate(expression),
            field=field,
            reason=reason,
        )


class CronCalculationError(KronError):
    """A valid schedule has no occurrence on the asked side within the years 1 to 9999."""

    def __init__(self, *, expression: str, current_time: str, cause: Exception) -> None:
        super().__init__(
            f"Failed to calculate next occurrence: {cause}",
            expression=expression,
            currentTime=current_time,
            cause=cause,
        )


# --- time -------------------------------------------------------------------------------------------------------------


class NaiveDatetimeError(KronError):
    """A datetime without a time zone was given where an instant is needed."""

    def __init__(self, *, value: object) -> None:
        super().__init__(
            f"An instant needs an aware datetime, found {value!r}; give it a tzinfo, for example datetime.timezone.utc",
            value=repr(value),
        )


class UnknownTimezoneError(KronError):
    """A time zone's name is not in the IANA database in use."""

    def __init__(self, *, timezone: object, suggestions: tuple[str, ...] = ()) -> None:
        self.fix = (
            f"did you mean {' or '.join(suggestions)}?" if suggestions else "use an IANA name such as Europe/Paris"
        )
        super().__init__(
            f"Unknown time zone {display_text(repr(timezone))}; {self.fix}",
            timezone=truncate(str(timezone)),
            suggestions=suggestions,
        )


class TimezoneDataError(KronError):
    """The time zone database is missing, damaged or of an unknown form."""

    def __init__(self, *, timezone: str, reason: str) -> None:
        super().__init__(f"Time zone data of {timezone!r} cannot be used: {reason}", timezone=timezone, reason=reason)


class InvalidInstantError(KronError):
    """A text is not an RFC 3339 instant, nor, where a zone is known, a wall time, nor, where it may be, a duration."""

    def __init__(self, *, text: str, has_zone: bool = False, may_last: bool = False) -> None:
        local = ', or by the clock of the zone as "2026-03-01 01:00" or 01:00' if has_zone else ""
        local += ", or as a duration: 90m, 2h, 7d" if may_last else ""
        super().__init__(
            f'Invalid instant "{display_text(text)}"; '
            f"write it as 2026-03-01T00:00:00Z or 2026-03-01T01:00:00+01:00{local}",
            text=truncate(text),
        )


class InvalidDurationError(KronError):
    """A text is not a duration in Go's form."""

    def __init__(self, *, text: str, reason: str) -> None:
        super().__init__(
            f'Invalid duration "{display_text(text)}": {reason}; write it as 1h30m, 90s or 250ms',
            text=truncate(text),
            reason=reason,
        )


class OutOfRangeError(KronError):
    """A calculation leaves the years 1 to 9999."""

    def __init__(self, *, what: str) -> None:
        super().__init__(f"{what} leaves the years 1 to 9999", what=what)


# --- definitions of a timing ------------------------------------------------------------------------------------------


class InvalidDefinitionError(KronError):
    """A part of a job's definition is wrong; `field` names the part in the words of the text it came from.

    Where the definition came from a line, `position` is the offset of the offending character in it, and `where` names
    the part as the line does, such as `@win duration`.
    """

    def __init__(self, *, field: str, found: str, reason: str, fix: Remedy = "", position: int | None = None) -> None:
        what = f', found "{display_text(found)}"' if found else ""
        tail = f"; {fix}" if fix else ""
        super().__init__(f"{field}: {reason}{what}{tail}", field=field, found=truncate(found), reason=reason)
        self.field = self.where = field
        self.found = found
        self.reason = reason
        self.remedy = fix
        self.position = position

    @property
    def fix(self) -> str:
        """What would be right, in the words of a schedule line; empty if that is not known."""
        return str(self.remedy)


class InvalidDecisionError(KronError):
    """A recorded decision lacks something, contradicts itself or was made by an unknown algorithm."""

    def __init__(self, *, field: str, reason: str) -> None:
        super().__init__(f"Invalid decision: {field} {reason}", field=field, reason=reason)


# --- traces -----------------------------------------------------------------------------------------------------------


class InvalidTraceError(KronError):
    """A line of a trace is none, or cannot stand where it stands."""

    def __init__(self, *, line: int, field: str, found: object, reason: str) -> None:
        text = display_text(found if isinstance(found, str) else repr(found))
        super().__init__(
            f"Line {line}: {field} {reason}, not {text}", line=line, field=field, found=truncate(text), reason=reason
        )
        self.line = line
        self.field = field
        self.reason = reason

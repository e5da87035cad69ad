"""Every error of Kron: one tree, each with a stable name, a message for people and details for machines.

An error's `name` is its class name and its `details` are a plain mapping. Nothing else lives here: no parsing, no
formatting of time, no policy.
"""

from collections.abc import Mapping
from types import MappingProxyType

_SHOWN = 200  # characters of a user's text repeated inside a message: enough to recognise it, never a megabyte
_BEFORE_CARET = 60  # characters of context on each side of a caret: together they fit a terminal


def cut(text: str) -> str:
    """Return `text`, cut to a length that fits an error."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def shown(text: str) -> str:
    """Return `text` as a message may repeat it: cut, and without characters that a terminal would obey."""
    part = cut(text)
    return part if part.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in part)


class KronError(Exception):
    """The root of the tree: catch this to catch everything Kron raises on purpose."""

    def __init__(self, message: str, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.details: Mapping[str, object] = MappingProxyType(details)

    @property
    def name(self) -> str:
        """The stable name of this kind of error."""
        return type(self).__name__

    def __reduce__(self) -> tuple[object, ...]:
        # Errors take keywords only, so they are copied and pickled by their state, not by calling them again.
        return _restore, (type(self), self.message, {**vars(self), "details": dict(self.details)})


def _restore(kind: type[KronError], message: str, state: dict[str, object]) -> KronError:
    error = kind.__new__(kind, message)
    KronError.__init__(error, message)
    vars(error).update(state, details=MappingProxyType(state["details"]))  # type: ignore[arg-type] # a dict, see above
    return error


# --- cron expressions -------------------------------------------------------------------------------------------------


class FieldParseError(KronError):
    """One field of a cron expression could not be read.

    `position` is the offset of the offending character inside the field, `fix` the way to write it, if there is one.
    """

    def __init__(self, reason: str, *, field_name: str, field_value: str, position: int = 0, fix: str = "") -> None:
        super().__init__(f"{field_name} field {reason}", fieldValue=cut(field_value), fieldName=field_name)
        self.field = field_name
        self.reason = reason
        self.position = position
        self.fix = fix


class InvalidCronExpressionError(KronError):
    """A text is not a cron expression of its dialect.

    `pointer` gives the text with a caret under the offending character and the fix, for a terminal.
    """

    def __init__(self, *, expression: str, field: str, reason: str, position: int = 0, fix: str = "") -> None:
        super().__init__(
            f'Invalid cron expression "{shown(expression)}": {field} field {reason}',
            expression=cut(expression),
            field=field,
            reason=reason,
        )
        self.expression = expression
        self.field = field
        self.reason = reason
        self.position = position
        self.fix = fix

    @property
    def pointer(self) -> str:
        """The text, a caret under the offending character, and what would be right."""
        fix = f"; {self.fix}" if self.fix else ""
        return f"{caret(self.expression, self.position)}\n{self.field} field {self.reason}{fix}"


class CronExpressionInvalidError(KronError):
    """A registration carries a cron expression that does not parse; the parser's error is its cause."""

    def __init__(self, *, expression: str, field: str, reason: str) -> None:
        super().__init__(
            f'Invalid cron expression "{shown(expression)}": {field} field {reason}',
            expression=cut(expression),
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
            f"Unknown time zone {shown(repr(timezone))}; {self.fix}",
            timezone=cut(str(timezone)),
            suggestions=suggestions,
        )


class TimezoneDataError(KronError):
    """The time zone database is missing, damaged or of an unknown form."""

    def __init__(self, *, timezone: str, reason: str) -> None:
        super().__init__(f"Time zone data of {timezone!r} cannot be used: {reason}", timezone=timezone, reason=reason)


class InvalidInstantError(KronError):
    """A text is not an RFC 3339 instant."""

    def __init__(self, *, text: str) -> None:
        super().__init__(
            f'Invalid instant "{shown(text)}"; write it as 2026-03-01T00:00:00Z or 2026-03-01T01:00:00+01:00',
            text=cut(text),
        )


class InvalidDurationError(KronError):
    """A text is not a duration in Go's form."""

    def __init__(self, *, text: str, reason: str) -> None:
        super().__init__(
            f'Invalid duration "{shown(text)}": {reason}; write it as 1h30m, 90s or 250ms',
            text=cut(text),
            reason=reason,
        )


class OutOfRangeError(KronError):
    """A calculation leaves the years 1 to 9999."""

    def __init__(self, *, what: str) -> None:
        super().__init__(f"{what} leaves the years 1 to 9999", what=what)


# --- definitions of a timing ------------------------------------------------------------------------------------------


class InvalidDefinitionError(KronError):
    """A part of a job's definition is wrong; `field` names the part in the words of the text it came from.

    Where the definition came from a line, `position` is the offset of the offending character in it.
    """

    def __init__(self, *, field: str, found: str, reason: str, fix: str = "", position: int | None = None) -> None:
        what = f', found "{shown(found)}"' if found else ""
        tail = f"; {fix}" if fix else ""
        super().__init__(f"{field}: {reason}{what}{tail}", field=field, found=cut(found), reason=reason)
        self.field = field
        self.found = found
        self.reason = reason
        self.fix = fix
        self.position = position


class IllegalTransitionError(KronError):
    """A state was asked to change in a way that its table does not have: a bug in Kron, never a user's mistake."""

    def __init__(self, *, state: str, trigger: str) -> None:
        super().__init__(f"No transition from {state} by {trigger}", state=state, trigger=trigger)


class InvalidDecisionError(KronError):
    """A recorded decision lacks something, contradicts itself or was made by an unknown algorithm."""

    def __init__(self, *, field: str, reason: str) -> None:
        super().__init__(f"Invalid decision: {field} {reason}", field=field, reason=reason)


def caret(text: str, position: int) -> str:
    """Return two lines: the text around a position, and a caret under it."""
    start = max(0, position - _BEFORE_CARET)
    part = text[start : start + 2 * _BEFORE_CARET]
    line = "".join(character if character.isprintable() else "·" for character in part)
    lead, trail = ("…" if start else ""), ("…" if start + 2 * _BEFORE_CARET < len(text) else "")
    return f"{lead}{line}{trail}\n{' ' * (position - start + len(lead))}^"

"""KronError, and how text of users and of other programs appears in messages, on terminals and in logs."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

_SHOWN = 200  # characters of a user's text repeated inside a message: enough to recognise it, never a megabyte
_BEFORE_CARET = 60  # characters of context on each side of a caret: together they fit a terminal


def truncate(text: str) -> str:
    """Return `text`, cut to a length that fits an error."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def display_text(text: str) -> str:
    """Return `text` as a message may repeat it: cut, and without characters that a terminal would obey."""
    return escape_unprintable(truncate(text))


def escape_unprintable(text: str) -> str:
    """Return `text` without characters that a terminal would obey."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


class KronError(Exception):
    """The root of the tree: catch this to catch everything Kron raises on purpose.

    Where several parts of a text are wrong, the first is raised, and `others` has the errors about the rest.
    """

    others: tuple["KronError", ...] = ()

    def __init__(self, message: str, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.details: Mapping[str, object] = MappingProxyType(details)

    @property
    def name(self) -> str:
        """The stable name of this kind of error."""
        return type(self).__name__

    @property
    def all_errors(self) -> tuple["KronError", ...]:
        """This error and those beside it."""
        return (self, *self.others)

    def __reduce__(self) -> tuple[object, ...]:
        # Errors take keywords only, so they are copied and pickled by their state, not by calling them again.
        return _restore, (type(self), self.message, {**vars(self), "details": dict(self.details)})


def _restore(kind: type[KronError], message: str, state: dict[str, object]) -> KronError:
    error = kind.__new__(kind, message)
    KronError.__init__(error, message)
    vars(error).update(state, details=MappingProxyType(state["details"]))  # type: ignore[arg-type] # a dict, see above
    return error


def nearest(found: str, words: Iterable[str], *, alike: float = 0.6) -> str:
    """Return the word that `found` most resembles, or an empty text; `alike` is the least likeness, from 0 to 1."""
    from difflib import get_close_matches  # only a wrong word needs it

    by_folded = {word.casefold(): word for word in words}
    return next((by_folded[near] for near in get_close_matches(found[:40].casefold(), by_folded, 1, alike)), "")


def cause_text(cause: BaseException) -> str:
    """Return what a message may repeat of its cause; what a database says stays in `details.cause`."""
    return "the database failed" if is_of_database(cause) else str(cause)


def is_of_database(error: BaseException) -> bool:
    """Whether a database's driver raised it: PEP 249 names the roots of such errors, whichever the driver."""
    return any(kind.__name__ in ("DatabaseError", "InterfaceError") for kind in type(error).__mro__)


def caret(text: str, position: int) -> str:
    """Return two lines: the text around a position, and a caret under it."""
    start = max(0, position - _BEFORE_CARET)
    part = text[start : start + 2 * _BEFORE_CARET]
    line = "".join(character if character.isprintable() else "·" for character in part)
    lead, trail = ("…" if start else ""), ("…" if start + 2 * _BEFORE_CARET < len(text) else "")
    return f"{lead}{line}{trail}\n{' ' * (position - start + len(lead))}^"


# A terminal obeys C0 and C1 controls; line and paragraph separators end a line for many readers; bidi marks change the
# order in which the rest of a line is shown; half a surrogate pair cannot be encoded. Other invisible characters stay:
# scripts and emoji need them. `kron.errors.escape_unprintable` is stricter: it shows a user what they mistyped.
_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_OBEYED = f"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{_BIDI}]"  # compiled on first use: few texts need it
_OBEYED_IN_LINES = f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{_BIDI}]"


def safe_line(text: str) -> str:
    """Return `text` on one line, with each control character, line separator and bidi mark escaped as `\\x1b` is."""
    return text if text.isprintable() else re.sub(_OBEYED, _escape, text)


def safe_text(text: str) -> str:
    """Return `text` with newlines and tabs as they are, and all else escaped that `safe_line` escapes."""
    return text if text.isprintable() else re.sub(_OBEYED_IN_LINES, _escape, text)


def safe_json(text: str) -> str:
    """Return JSON text that means the same, with all escaped that `safe_text` escapes."""
    return text if text.isprintable() else re.sub(_OBEYED_IN_LINES, lambda found: f"\\u{ord(found[0]):04x}", text)


def _escape(found: re.Match[str]) -> str:
    return ascii(found.group())[1:-1]


def describe_exception(error: BaseException) -> str:
    """Return an exception in one line, whatever its author put into it."""
    name = display_text(type(error).__name__)
    try:
        message = display_text(str(error))
    except BaseException:  # an exception whose text cannot be made still ended the run
        message = ""
    return f"{name}: {message}" if message else name

"""parse_line(text) -> ScheduleLine: a cron expression and its modifiers, `0 0 * * * @tz(UTC) @win(after,2h)`."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from kron.cron.dialect import UNITS
from kron.decision.bounds import LONGEST_LINE
from kron.errors import InvalidDefinitionError
from kron.errors.diagnostics import unknown_value

MODIFIERS = ("tz", "win", "dist", "seed", "policy", "only", "avoid", "dst")
_BLANKS = " \t"
_SEPARATING = frozenset(',;=()"\\')


@dataclass(frozen=True, slots=True)
class Modifier:
    """One `@name(arguments)`; positions count from the start of the line."""

    name: str
    arguments: str
    position: int

    def words(self) -> list[str]:
        """Return the arguments between commas, blanks around them removed, quotes kept."""
        return [part.strip(_BLANKS) for part in split_outside_quotes(self.arguments, ",")]


class TrailingText(Enum):
    """What may follow the modifiers of a line."""

    NOTHING = "nothing"
    SETTINGS = "settings"  # KEY=VALUE words, as in a `.kron` file
    COMMAND = "command"  # anything, as in a crontab


@dataclass(frozen=True, slots=True)
class ScheduleLine:
    """The parts of a line: the expression, the modifiers by name, and the rest."""

    expression: str
    modifiers: dict[str, Modifier]
    trailing: str
    trailing_position: int


def parse_line(text: str, *, trailing: TrailingText = TrailingText.NOTHING) -> ScheduleLine:
    """Return the parts of a line, or raise InvalidDefinitionError with the place of the mistake."""
    if not isinstance(text, str):
        raise _wrong(str(text), "must be a text", 0, "write it in quotes")
    if len(text) > LONGEST_LINE:
        raise _wrong(text, f"must have at most {LONGEST_LINE} characters, found {len(text)}", 0)
    end = position = _end_of_expression(text, trailing)
    modifiers: dict[str, Modifier] = {}
    while text.startswith("@", position):
        modifier, position = _read_modifier(text, position)
        if modifier.name in modifiers:
            raise _wrong(f"@{modifier.name}", "is there twice", modifier.position, "keep one of them")
        modifiers[modifier.name] = modifier
        position = _skip(text, position)
    what_follows = text[position:]
    if what_follows and trailing is TrailingText.NOTHING:
        fix = "modifiers are written @name(…), after the five fields"
        found = what_follows[: _word_end(what_follows, 1)]
        raise _wrong(found, "does not belong in a schedule line", position, fix)
    return ScheduleLine(text[:end].strip(_BLANKS), modifiers, what_follows, position)


def _end_of_expression(text: str, rest: TrailingText) -> int:
    """Return where the expression ends: after a macro, before the first modifier, or after five fields."""
    position = _skip(text, 0)
    end = _word_end(text, position)
    if text.startswith("@", position):
        return position if "(" in text[position:end] else _skip(text, end)  # a macro is all there is
    words = 0
    while position < len(text) and not text.startswith("@", position):
        if rest is TrailingText.COMMAND and words == len(UNITS):
            break
        end = _word_end(text, position)
        # What follows five fields is a setting only if it looks like one; a sixth field stays in the expression, whose
        # own error names it.
        if rest is TrailingText.SETTINGS and words >= len(UNITS) and "=" in text[position:end]:
            break
        position = _skip(text, end)
        words += 1
    return position


def _read_modifier(text: str, start: int) -> tuple[Modifier, int]:
    position = start + 1
    while position < len(text) and (text[position].isalnum() or text[position] in "-_"):
        position += 1
    name = text[start + 1 : position]
    if name not in MODIFIERS:
        error = unknown_value("modifier", f"@{name[:40]}", [f"@{known}" for known in MODIFIERS])
        error.position = start
        raise error
    if not text.startswith("(", position):
        raise _wrong(f"@{name}", "needs its arguments in parentheses", position, f"write @{name}(…)")
    opening = position
    position += 1
    for at, character in _outside_quotes(text, position):
        if character == "(":
            raise _wrong(text[start : at + 1], "has a parenthesis inside parentheses", at, 'quote it: salt="("')
        if character == ")":
            if at + 1 < len(text) and text[at + 1] not in _BLANKS:
                raise _wrong(text[start : at + 2], "must be followed by a blank", at + 1, "add a blank")
            return Modifier(name, text[position:at], start), at + 1
    raise _wrong(text[start:], "has no closing parenthesis", opening, "add )")


# --- quotes -----------------------------------------------------------------------------------------------------------


def split_outside_quotes(text: str, separators: str) -> list[str]:
    """Return the parts between separators that stand outside double quotes."""
    parts, start = [], 0
    for at, character in _outside_quotes(text, 0):
        if character in separators:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]


def _outside_quotes(text: str, start: int) -> Iterator[tuple[int, str]]:
    quoted, at = False, start
    while at < len(text):
        character = text[at]
        if quoted and character == "\\":
            at += 1
        elif character == '"':
            quoted = not quoted
        elif not quoted:
            yield at, character
        at += 1
    if quoted:
        raise _wrong(text[start:], "has an opening quote without a closing one", text.index('"', start), 'add "')


def quote(text: str) -> str:
    """Return `text` as one word: itself, or in double quotes where it has characters that separate."""
    if text and not any(character in _SEPARATING or character.isspace() for character in text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def unquote(word: str) -> str:
    """Return the text of a word, without the quotes around all of it."""
    if '"' not in word:
        return word
    result, escaped = [], False
    for at, character in enumerate(word[1:], 1):
        if escaped or character not in '\\"':
            result.append(character)
            escaped = False
        elif character == "\\":
            escaped = True
        elif at == len(word) - 1 and word.startswith('"'):
            return "".join(result)
        else:
            break
    raise InvalidDefinitionError(
        field="line", found=word, reason="has a quote inside a value", fix='quote the whole value and write \\" inside'
    )


def _word_end(text: str, position: int) -> int:
    while position < len(text) and text[position] not in _BLANKS:
        position += 1
    return position


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _BLANKS:
        position += 1
    return position


def _wrong(found: str, reason: str, position: int, fix: str = "") -> InvalidDefinitionError:
    return InvalidDefinitionError(field="line", found=found, reason=reason, fix=fix, position=position)

"""choose(enum, field, value) -> member: a member from the word people write, or the error that lists the words."""

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import TypeVar

from kron.errors import InvalidDefinitionError

Choice = TypeVar("Choice", bound=Enum)

_ALIKE = 0.6  # of 1, by difflib: a slip of the finger, not another word


def choose(enum: type[Choice], field: str, value: object) -> Choice:
    """Return the member whose value is exactly `value`."""
    if isinstance(value, enum):
        return value
    for member in enum:
        if member.value == value:
            return member
    words = [str(member.value) for member in enum]
    raise unknown_word(field, value, words)


def unknown_word(field: str, found: object, known: Iterable[str]) -> InvalidDefinitionError:
    """Return the error for a word outside a closed list, with the nearest one as the fix."""
    words = list(known)
    near = _nearest(str(found), words, _ALIKE)
    return InvalidDefinitionError(
        field=field,
        found=str(found),
        reason=f"must be one of {', '.join(words)}",
        fix=f"did you mean {near}?" if near else "write one of them",
    )


def meant_key(key: str, known: Iterable[str], other_words: Mapping[str, str]) -> str:
    """Return the fix for an unknown key: what it is called here, or the nearest one; there are too many to list."""
    words, word = list(known), key.casefold()
    if word in other_words and word not in words:
        return f"did you mean {other_words[word]}?"
    if near := _nearest(key, words, _ALIKE):
        return f"did you mean {near}?"
    return f"the nearest one is {_nearest(key, words, 0.0)}"


def _nearest(found: str, words: list[str], cutoff: float) -> str:
    from difflib import get_close_matches  # only a wrong word needs it

    near = get_close_matches(found[:40].casefold(), [word.casefold() for word in words], n=1, cutoff=cutoff)
    return next((word for word in words if near and word.casefold() == near[0]), "")

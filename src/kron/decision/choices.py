"""choose(enum, field, value) -> member: a member from the word people write, or the error that lists the words."""

from collections.abc import Iterable
from enum import Enum
from typing import TypeVar

from kron.errors import InvalidDefinitionError

Choice = TypeVar("Choice", bound=Enum)


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
    from difflib import get_close_matches  # only a wrong word needs it

    words = list(known)
    near = get_close_matches(str(found)[:40].casefold(), {word.casefold(): word for word in words}, n=1, cutoff=0.6)
    match = next((word for word in words if near and word.casefold() == near[0]), "")
    return InvalidDefinitionError(
        field=field,
        found=str(found),
        reason=f"must be one of {', '.join(words)}",
        fix=f"did you mean {match}?" if match else "",
    )

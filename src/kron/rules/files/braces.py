"""expand(text, surroundings): `{host}` and `{machine}` in identities and salts, so that a fleet may share one file."""

import re

from kron.errors import InvalidDefinitionError
from kron.rules.files.source import Surroundings

_IN_BRACES = re.compile(r"\{([^{}]*)\}|[{}]")


def expand(key: str, text: str, surroundings: Surroundings) -> str:
    """Return the text with the host's own values; any other word in braces is refused."""
    if "{" not in text and "}" not in text:
        return text
    values = {"host": surroundings.host, "machine": surroundings.machine}

    def value_of(match: re.Match[str]) -> str:
        word = match[1]
        if word not in values:
            reason = "may have {host} and {machine} in braces, and no other word"
            raise InvalidDefinitionError(field=key, found=match[0], reason=reason, fix="leave the braces out")
        if not values[word]:
            reason = f"this host does not tell its {word}"
            raise InvalidDefinitionError(field=key, found=match[0], reason=reason, fix="leave it out")
        return values[word]

    return _IN_BRACES.sub(value_of, text)


def varies(text: str) -> bool:
    """Whether a text is another one on another host."""
    return "{" in text  # and nothing else is accepted in braces

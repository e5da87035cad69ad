"""expand(text, surroundings): `{host}` and `{machine}` in identities and salts, so that a fleet may share one file."""

import re

from kron.errors import InvalidDefinitionError
from kron.rules.files.source import Surroundings

_IN_BRACES = re.compile(r"\{([^{}]*)\}|[{}]")
_SETS: dict[tuple[bool, bool], frozenset[str]] = {  # shared, because a daemon keeps one for each job
    (False, False): frozenset(),
    (True, False): frozenset({"host"}),
    (False, True): frozenset({"machine"}),
    (True, True): frozenset({"host", "machine"}),
}
_FIXES = {"host": "leave it out", "machine": "use {host}, or leave it out"}


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
            reason = f"the {word} of {surroundings.host or 'this host'} is not known"
            raise InvalidDefinitionError(field=key, found=match[0], reason=reason, fix=_FIXES[word])
        return values[word]

    return _IN_BRACES.sub(value_of, text)


def words_of(*texts: str) -> frozenset[str]:
    """Return the words in braces of texts that were expanded: with any, they are others on another host."""
    return _SETS[any("{host}" in text for text in texts), any("{machine}" in text for text in texts)]

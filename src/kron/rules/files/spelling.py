"""spell(value): keys and values as TOML spells them; what `tomllib` reads back as the same."""

import re
from collections.abc import Mapping
from functools import lru_cache

_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


def spell_table(header: str, table: Mapping[str, object]) -> str:
    """Return a table with its header, a key a line."""
    return "".join([f"[{header}]\n", *(f"{spell_key(key)} = {spell(value)}\n" for key, value in table.items())])


def spell(value: object) -> str:
    """Return a value of any kind that TOML has."""
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case str():
            return spell_text(value)
        case list() | tuple():
            return f"[{', '.join(spell(item) for item in value)}]"
        case Mapping():
            pairs = ", ".join(f"{spell_key(key)} = {spell(item)}" for key, item in value.items())
            return f"{{{pairs}}}"
    return str(value)  # dates and times


@lru_cache(1000)
def spell_key(key: str) -> str:
    """Return a key as TOML spells it."""
    return key if _BARE.fullmatch(key) else spell_text(key)


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def spell_text(text: str) -> str:
    """Return a text as TOML spells it, on one line."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(_ESCAPES.get(c) or (c if c.isprintable() else _escape(c)) for c in text) + '"'


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

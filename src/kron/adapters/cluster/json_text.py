"""read_json(text) -> plain data: what lies deeper than anybody means is left out, and never ends whoever reads."""

import json
import re
from typing import Any

DEEPEST = 150  # levels that are kept: more than a field may have, so that whoever reads one sees that it is too deep
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[{\]}]')


def read_json(text: bytes) -> Any:
    """Return what a text says, or raise ValueError.

    A server keeps objects with ten thousand levels; the library that reads them gives up earlier.
    """
    try:
        return json.loads(text)
    except RecursionError:
        return json.loads(_flattened(text))


def _flattened(text: bytes) -> bytes:
    """Return the text with null for what lies too deep."""
    parts, level, start = [], 0, 0
    for token in _TOKEN.finditer(text):
        if token[0] in b"[{":
            level += 1
            if level == DEEPEST + 1:
                parts += [text[start : token.start()], b"null"]
                start = len(text)  # until it is closed
        elif token[0] in b"]}":
            if level == DEEPEST + 1:
                start = token.end()
            level -= 1
    return b"".join([*parts, text[start:]])

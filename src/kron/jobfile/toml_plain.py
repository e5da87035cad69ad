"""read_plain(text) -> what a TOML text says and on which lines, if each of its statements has a line of its own.

So are nearly all job files written, and most of their lines look alike: read this way, ten thousand jobs take a quarter
of the time. A text that it does not understand, be it right or wrong, is left to those who know all of TOML.
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from kron.jobfile.toml_syntax import DEEPEST, NestingError, Path, key_lines

_TEXT = r'"[^"\\\x00-\x08\x0a-\x1f\x7f]*+"'  # without escapes
_BARE = r"[A-Za-z0-9_-]++"
_PART = re.compile(rf"{_TEXT}|{_BARE}")
_LINE = re.compile(
    rf"[ \t]*+(?:\[[ \t]*+(?P<head>(?:{_TEXT}|{_BARE})(?:\.(?:{_TEXT}|{_BARE})){{0,{DEEPEST - 1}}}+)[ \t]*+\]"
    rf"|(?P<key>{_BARE})[ \t]*+=[ \t]*+"
    rf"(?:(?P<text>{_TEXT})|(?P<list>\[[ \t]*+{_TEXT}(?:[ \t]*+,[ \t]*+{_TEXT})*+[ \t]*+\])"
    r"|(?P<word>true|false)|(?P<number>0|[1-9][0-9]{0,14}))"
    r")?+[ \t]*+(?:#[^\x00-\x08\x0a-\x1f\x7f]*+)?+"
)
_READERS: Mapping[str, Callable[[str], object]] = {
    "text": lambda found: found[1:-1],
    "list": lambda found: [text[1:-1] for text in _PART.findall(found)],
    "word": "true".__eq__,
    "number": int,
}

Table = dict[str, Any]


def read_plain(text: str) -> tuple[Table, dict[Path, int]] | None:
    """Return the tables of a text and the line of every key in them; None if this reader does not understand it."""
    document = _Document()
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        match = _LINE.fullmatch(line)
        if match is None:
            understood = document.add_statement(line, number)
        elif (kind := match.lastgroup) == "head":
            understood = document.open(match["head"], number)
        elif kind is not None:
            understood = document.add(match["key"], _READERS[kind](match[kind]), number)
        else:
            continue  # nothing, or a comment
        if not understood:
            return None
    return document.root, document.index


class _Document:
    """What was read so far, and the table that is open."""

    def __init__(self) -> None:
        self.root: Table = {}
        self.index: dict[Path, int] = {}
        self._path: Path = ()
        self._table = self.root
        self._tables: dict[Path, Table] = {(): self.root}  # those of headers: only these may get more

    def open(self, head: str, number: int) -> bool:
        """Open a new table; False if there is something in its place."""
        path: Path = ()
        for part in _PART.findall(head):
            above = self._tables[path]
            key = part[1:-1] if part.startswith('"') else part
            path = (*path, key)
            is_new = path not in self._tables
            if is_new:
                if key in above:
                    return False
                self._tables[path] = above[key] = {}
                self.index[path] = number
        self._path, self._table = path, self._tables[path]
        return is_new

    def add(self, key: str, value: object, number: int) -> bool:
        """Add an entry to the open table; False if there is something in its place."""
        if key in self._table:
            return False
        self._table[key] = value
        self.index[*self._path, key] = number
        return True

    def add_statement(self, line: str, number: int) -> bool:
        """Add what a line says that looks unusual; False if it is no statement by itself."""
        try:
            keys = key_lines(line)  # first, because it refuses what tomllib would be lost in
            ((key, value),) = tomllib.loads(line).items()
        except (ValueError, RecursionError, NestingError):
            return False
        if line.lstrip().startswith("[") or not self.add(key, value, number):
            return False
        self.index.update(((*self._path, *path), number) for path in keys)
        return True

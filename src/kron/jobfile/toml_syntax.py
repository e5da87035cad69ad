"""The line of every key of a TOML document, which `tomllib` forgets, and values as TOML spells them."""

import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]

DEEPEST = 32  # levels; a job file needs four, and what is deeper costs readers of TOML quadratic time or their stack
_FILLING = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*+")
_BLANKS = re.compile(r"[ \t]*+")
_BARE = re.compile(r"[A-Za-z0-9_-]++")
_QUOTED = re.compile(r'"(?:[^"\\\n]++|\\.)*+"|\'[^\'\n]*+\'')
# Long strings first, because they begin like short ones; one or two more quotes may stand before the closing three.
_SIMPLE = re.compile(
    r'"""(?:[^"\\]++|\\.|"(?!""))*+"""(?:""?)?+'
    r"|'''(?:[^']++|'(?!''))*+'''(?:''?)?+"
    r'|"(?:[^"\\\n]++|\\.)*+"'
    r"|'[^'\n]*+'"
    r"|[^\s,\[\]{}#\"'][^,\]}#\n]*+",
    re.DOTALL,
)


class NestingError(Exception):
    """Keys or values are nested deeper than any job file needs; `line` is where."""

    def __init__(self, line: int) -> None:
        super().__init__(f"line {line}")
        self.line = line


class _Unreadable(Exception):  # noqa: N818 # never leaves this module: the rest of the text is no TOML
    pass


def key_lines(text: str) -> dict[Path, int]:
    """Return the line on which each key of a TOML text first stands, by its path; tables in arrays count from 0.

    Of a text that is no TOML, the keys before the mistake are returned: saying what is wrong is left to `tomllib`. Keys
    of inline tables in arrays are not listed. The time it takes grows with the length of the text.
    """
    scanner = _Scanner(text.replace("\r\n", "\n"))
    with suppress(_Unreadable):
        scanner.scan()
    return scanner.lines


class _Scanner:
    """A position in a text, the line it is on, and the keys met so far."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.lines: dict[Path, int] = {}
        self._line = 1
        self._counted = 0  # characters whose line breaks are in `_line`
        self._tables: dict[Path, int] = {}  # how many tables each array of tables has

    def scan(self) -> None:
        """Read statement by statement."""
        table: Path = ()
        while True:
            self._skip(_FILLING)
            if self.position >= len(self.text):
                return
            if self.text.startswith("[", self.position):
                table = self._header()
            else:
                path = self._key(table)
                self._take("=")
                self._value(path)

    def _header(self) -> Path:
        is_array = self.text.startswith("[[", self.position)
        self.position += 2 if is_array else 1
        self._skip(_BLANKS)
        path: Path = ()
        keys = self._dotted()
        for number, key in enumerate(keys, 1):
            path = (*path, key)
            self.lines.setdefault(path, self._here())
            if number == len(keys) and is_array:
                self._tables[path] = self._tables.get(path, 0) + 1
            if path in self._tables:  # what follows belongs to the last table of the array
                path = (*path, self._tables[path] - 1)
        self._take("]")
        return path

    def _key(self, table: Path | None) -> Path | None:
        """Read a dotted key; inside an array there is no path to note it under."""
        start = self._here()
        keys = self._dotted()
        if table is None:
            return None
        path = table
        for key in keys:
            path = (*path, key)
            self.lines.setdefault(path, start)
        return path

    def _dotted(self) -> list[str]:
        keys = [self._simple_key()]
        while self.text.startswith(".", self._skip(_BLANKS)):
            self.position += 1
            self._skip(_BLANKS)
            keys.append(self._simple_key())
            if len(keys) > DEEPEST:
                raise NestingError(self._here())
        return keys

    def _simple_key(self) -> str:
        if bare := _BARE.match(self.text, self.position):
            self.position = bare.end()
            return bare[0]
        quoted = _QUOTED.match(self.text, self.position)
        if quoted is None:
            raise _Unreadable
        self.position = quoted.end()
        word = quoted[0]
        if word.startswith("'") or "\\" not in word:
            return word[1:-1]
        try:
            return str(tomllib.loads(f"key = {word}")["key"])
        except tomllib.TOMLDecodeError as error:
            raise _Unreadable from error

    def _value(self, path: Path | None) -> None:
        """Read one value; `open_` holds what is still to be closed, an inline table by its path, an array by None."""
        open_: list[tuple[str, Path | None]] = []
        while True:
            self._skip(_FILLING)
            start = self.text[self.position : self.position + 1]
            if start in ("[", "{"):
                open_.append(("]", None) if start == "[" else ("}", path))
                if len(open_) > DEEPEST:
                    raise NestingError(self._here())
                self.position += 1
                ended = False
            else:
                simple = _SIMPLE.match(self.text, self.position)
                if simple is None:
                    raise _Unreadable
                self.position = simple.end()
                ended = True
            if not self._to_next_value(open_, ended=ended):
                return
            path = self._path_of_next(open_[-1])

    def _to_next_value(self, open_: list[tuple[str, Path | None]], *, ended: bool) -> bool:
        """Advance to the next value or key of an open array or table; False if none is open."""
        while open_:
            self._skip(_FILLING)
            closing = open_[-1][0]
            if self.text.startswith(closing, self.position):
                self.position += 1
                open_.pop()
                ended = True
            elif not ended:
                return True
            else:
                self._take(",")
                ended = False
        return False

    def _path_of_next(self, innermost: tuple[str, Path | None]) -> Path | None:
        closing, table = innermost
        if closing == "]":
            return None
        path = self._key(table)
        self._take("=")
        return path

    def _take(self, character: str) -> None:
        if not self.text.startswith(character, self._skip(_BLANKS)):
            raise _Unreadable
        self.position += 2 if self.text.startswith("]]", self.position) and character == "]" else 1

    def _skip(self, what: re.Pattern[str]) -> int:
        match = what.match(self.text, self.position)
        assert match is not None  # both patterns match nothing, too
        self.position = match.end()
        return self.position

    def _here(self) -> int:
        self._line += self.text.count("\n", self._counted, self.position)
        self._counted = self.position
        return self._line


_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


def format_table(header: str, table: Mapping[str, object]) -> str:
    """Return a table with its header, a key a line."""
    return "".join([f"[{header}]\n", *(f"{format_key(key)} = {format_value(value)}\n" for key, value in table.items())])


def format_value(value: object) -> str:
    """Return a value of any kind that TOML has."""
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case str():
            return format_string(value)
        case list() | tuple():
            return f"[{', '.join(format_value(item) for item in value)}]"
        case Mapping():
            pairs = ", ".join(f"{format_key(key)} = {format_value(item)}" for key, item in value.items())
            return f"{{{pairs}}}"
    return str(value)  # dates and times


@lru_cache(1000)
def format_key(key: str) -> str:
    """Return a key as TOML spells it."""
    return key if _BARE_KEY.fullmatch(key) else format_string(key)


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def format_string(text: str) -> str:
    """Return a text as TOML spells it, on one line."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(_ESCAPES.get(c) or (c if c.isprintable() else _escape(c)) for c in text) + '"'


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

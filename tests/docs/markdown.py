"""Pieces of Markdown: tables and escaped prose."""

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence

_CODE = re.compile(r"(`[^`]+`)")
_MEANS_SOMETHING = re.compile(r"([\\*_<>\[\]#])")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table, and an empty one behind it."""
    yield _row(head)
    yield "|" + "---|" * len(head)
    yield from map(_row, rows)
    yield ""


def paragraph(text: str) -> str:
    """Return the lines of a paragraph that is Markdown already."""
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def code(text: str) -> str:
    """Return text as code, nothing for nothing."""
    return f"`{text}`" if text else ""


def codes(texts: Iterable[str]) -> str:
    """Return texts as code, with commas in between."""
    return ", ".join(map(code, texts))


def prose(text: str) -> str:
    """Return plain text so that Markdown shows it as it is; what stands in backticks stays code."""
    parts = _CODE.split(" ".join(text.split()))
    return "".join(part if number % 2 else _MEANS_SOMETHING.sub(r"\\\1", part) for number, part in enumerate(parts))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

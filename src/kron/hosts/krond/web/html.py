"""tag(name, …) -> Markup: HTML out of plain values; whatever is not markup already is shown as text."""

import re
from collections.abc import Iterable
from html import escape
from itertools import islice
from typing import TypeAlias

# Controls, halves of characters, no characters, and letters that change the direction of others.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]")
_VOID = frozenset({"br", "input", "link", "meta", "rect"})  # nothing can be in them


class Markup(str):
    """Text that a browser may take as it is."""

    __slots__ = ()


Child: TypeAlias = "str | int | float | Iterable[Child] | None"


def text(child: Child) -> Markup:
    """Return a child as markup."""
    if isinstance(child, Markup):
        return child
    if child is None:
        return Markup()
    if isinstance(child, str | int | float):
        return Markup(escape(_visible(str(child))))
    return Markup("".join(map(text, child)))


def tag(name: str, /, *children: Child, **attributes: object) -> Markup:
    """Return an element. `class_` is class, other underscores are hyphens; None and False are left out."""
    parts = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")
        parts.append(key if value is True else f'{key}="{escape(_visible(str(value)))}"')
    head = " ".join(parts)
    return Markup(f"<{head}/>" if name in _VOID else f"<{head}>{text(children)}</{name}>")


def table(caption: str, heads: Iterable[Child], rows: Iterable[Iterable[Child]], *, empty: str) -> Markup:
    """Return a table with a head for each column; the first cell of a row is what it is about."""
    heads = list(heads)
    names = [head if isinstance(head, str) and not isinstance(head, Markup) else "" for head in heads]
    made = [tag("tr", _cells(names, row), role="row") for row in rows]
    if not made:
        return tag("p", empty, class_="empty")
    columns = [tag("th", head, scope="col", role="columnheader") for head in heads]
    head = tag("thead", tag("tr", columns, role="row"), role="rowgroup")
    body = tag("tbody", made, role="rowgroup")
    inner = tag("table", tag("caption", caption, class_="unseen"), head, body, role="table")
    return tag("div", inner, class_="wide", tabindex="0", role="group", aria_label=caption)


def facts(pairs: Iterable[tuple[str, Child]]) -> Markup:
    """Return names with what they are; those without anything are left out."""
    return tag("dl", [[tag("dt", name), tag("dd", value)] for name, value in pairs if value not in (None, "")])


def _cells(names: Iterable[str], row: Iterable[Child]) -> Iterable[Markup]:
    cells = zip(names, row, strict=True)
    for _, first in islice(cells, 1):
        yield tag("th", first, scope="row", role="rowheader")
    for name, cell in cells:
        yield _cell(name, cell)


def _cell(name: str, cell: Child) -> Markup:
    """Return a cell; where columns have no room, it stands under its name, and is still a cell to who hears it."""
    return tag("td", cell, data_name=name or None, role="cell", class_=None if text(cell) else "none")


def _visible(found: str) -> str:
    """Return a text without what no document may hold, and without what would turn around what follows it."""
    return found if found.isprintable() else _UNSEEN.sub("\ufffd", found)

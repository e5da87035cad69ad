"""Convert text and Markdown to the macros of man(7)."""

import re
from collections.abc import Iterator

_ESCAPES = str.maketrans({"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"})
_SPAN = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|\[([^]]+)\]\([^)]+\)")
_FENCE = "```"


def escape(text: str) -> str:
    """Return text that man(7) shows as it is."""
    shown = text.translate(_ESCAPES)
    return rf"\&{shown}" if shown.startswith((".", r"\(aq")) else shown


def bold(text: str) -> str:
    """Return a word to be typed as it is."""
    return rf"\fB{escape(text)}\fR"


def spans(text: str) -> str:
    """Return a line of Markdown: code and stress in bold, emphasis in italics, links by their words."""
    shown, place = "", 0
    for found in _SPAN.finditer(text):
        code, stressed, emphasis, link = found.groups()
        shown += escape(text[place : found.start()])
        shown += rf"\fI{escape(emphasis)}\fR" if emphasis else escape(link) if link else bold(code or stressed)
        place = found.end()
    return shown + escape(text[place:])


def example(lines: list[str]) -> Iterator[str]:
    """Yield lines as they are, indented."""
    yield from (".RS 4", ".EX", *(escape(line) for line in lines), ".EE", ".RE")


def item(tag: str, *body: str) -> Iterator[str]:
    """Yield a tag and what it means, both ready for man(7)."""
    yield from (".TP", tag, *body)


def markdown(text: str) -> Iterator[str]:
    """Yield a page of the manual from a page of the documentation: headings, paragraphs, lists, tables and examples."""
    for block in _blocks(text):
        first = block[0]
        if first.startswith("## "):
            yield f".SH {spans(first[3:]).upper() if '`' not in first else spans(first[3:])}"
        elif first.startswith(_FENCE):
            yield from example(block[1:-1])
        elif first.startswith("|"):
            yield from _table(block)
        elif first.startswith("* "):
            for entry in re.split(r"\n\* ", "\n".join(block)[2:]):
                yield from (r".IP \(bu 2", spans(" ".join(entry.split())))
        else:
            yield from (".PP", spans(" ".join(block)))


def _blocks(text: str) -> Iterator[list[str]]:
    block: list[str] = []
    for line in [*text.splitlines(), ""]:
        inside = bool(block) and block[0].startswith(_FENCE)
        if line or inside:
            block.append(line)
        if block and (line == _FENCE if inside else not line):
            yield block
            block = []


def _table(rows: list[str]) -> Iterator[str]:
    """Yield a row for each tag: first what it says, then the other columns by their heads."""
    heads, _, *others = ([cell.strip() for cell in row.strip("|").split(" | ")] for row in rows)
    for tag, *cells in others:
        columns = dict(zip(heads[1:], cells, strict=True))
        says = columns.pop("says", "")
        rest = "; ".join(f"{head}: {cell}" if len(columns) > 1 else cell for head, cell in columns.items())
        yield from item(spans(tag), *(spans(f"{part[0].upper()}{part[1:]}.") for part in (says, rest) if part))

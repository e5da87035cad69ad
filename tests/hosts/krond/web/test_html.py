"""Markup: whatever is not markup already is shown as text."""

from html.parser import HTMLParser
from unicodedata import category

from hypothesis import given
from hypothesis import strategies as st

from kron.hosts.krond.web.html import Markup, facts, table, tag, text

TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


class Reader(HTMLParser):
    """Reads what a browser would: elements with attributes, and texts."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(document)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@given(st.text(), st.text())
def test_no_text_and_no_attribute_can_become_an_element(inside: str, attribute: str) -> None:
    read = Reader(tag("p", inside, title=attribute))

    assert [name for name, _ in read.tags] == ["p"]
    assert "".join(read.texts) == _visible(inside)
    assert read.tags[0][1] == {"title": _visible(attribute)}


def _visible(found: str) -> str:
    kinds = {"Cc", "Cs"}
    return "".join(
        "\ufffd" if c not in "\n\t" and (category(c) in kinds or c in TURNING or c in "\ufffe\uffff") else c
        for c in found
    )


def test_markup_is_taken_as_it_is() -> None:
    assert tag("p", tag("b", "<"), ["a", None, 1]) == "<p><b>&lt;</b>a1</p>"


def test_an_attribute_that_is_false_or_none_is_left_out() -> None:
    assert tag("input", class_="x", required=True, title=None, hidden=False) == '<input class="x" required/>'


def test_a_control_character_is_shown_as_a_replacement() -> None:
    assert text("a\x00\x1b[31mb\nc") == "a\ufffd\ufffd[31mb\nc"


def test_blanks_and_joiners_of_other_scripts_stay() -> None:
    assert text("\u3000\u200d\u00a0\u2009") == "\u3000\u200d\u00a0\u2009"


def test_a_table_names_its_columns_and_its_rows() -> None:
    made = table("Runs", ("Job", "When"), [("a", "now")], empty="none")

    assert '<th scope="col" role="columnheader">When</th>' in made
    assert '<th scope="row" role="rowheader">a</th>' in made
    assert '<td data-name="When" role="cell">now</td>' in made
    assert "<caption" in made


def test_an_empty_table_is_a_sentence() -> None:
    assert table("Runs", ("Job",), [], empty="Nothing runs.") == '<p class="empty">Nothing runs.</p>'


def test_facts_without_anything_are_left_out() -> None:
    assert facts([("a", ""), ("b", None), ("c", Markup("<i></i>"))]) == "<dl><dt>c</dt><dd><i></i></dd></dl>"

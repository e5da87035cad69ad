"""Tests of templates: every value is escaped, and a missing name is an error."""

import re
from html.parser import HTMLParser
from pathlib import Path
from unicodedata import category

import pytest
from hypothesis import given, strategies as st
from jinja2 import UndefinedError

import kron
from kron.web.template import environment, visible

SOURCE = Path(kron.__file__).parent
TEMPLATES = sorted((SOURCE / "web" / "templates").glob("*.html"))
TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
MACROS = '{% from "macros.html" import table, head, cell, fact with context %}'


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


def rendered(source: str, **context: object) -> str:
    return environment().from_string(source).render(context)


@given(st.text(), st.text())
def test_no_text_and_no_attribute_can_become_an_element(inside: str, attribute: str) -> None:
    read = Reader(rendered('<p title="{{ attribute }}">{{ inside }}</p>', inside=inside, attribute=attribute))

    assert [name for name, _ in read.tags] == ["p"]
    assert "".join(read.texts) == _visible(inside)
    assert read.tags[0][1] == {"title": _visible(attribute)}


def _visible(found: str) -> str:
    kinds = {"Cc", "Cs"}
    return "".join(
        "\ufffd" if c not in "\n\t" and (category(c) in kinds or c in TURNING or c in "\ufffe\uffff") else c
        for c in found
    )


@given(st.text(alphabet="a<\x00\x1b\u202e\ud800"))
def test_a_value_that_is_joined_to_markup_is_escaped_and_made_visible(text: str) -> None:
    shown = rendered("{% set link %}<b>{% endset %}{{ link ~ text }}", text=text)

    assert Reader(shown).tags == [("b", {})]
    assert "".join(Reader(shown).texts) == _visible(text)


def test_a_control_character_is_shown_as_a_replacement() -> None:
    assert visible("a\x00\x1b[31mb\nc") == "a\ufffd\ufffd[31mb\nc"


def test_blanks_and_joiners_of_other_scripts_stay() -> None:
    assert visible("\u3000\u200d\u00a0\u2009") == "\u3000\u200d\u00a0\u2009"


def test_a_value_that_is_no_string_is_made_visible_too() -> None:
    assert rendered("{{ error }}", error=ValueError("\x1b<")) == "\ufffd&lt;"


def test_nothing_is_shown_of_none() -> None:
    assert rendered("<p>{{ value }}</p>", value=None) == "<p></p>"


def test_a_name_that_is_missing_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        rendered("{{ nothing }}")


def test_a_table_names_its_columns_and_its_rows() -> None:
    row = '<tr role="row">{{ head("a") }}{{ cell("When", "now") }}</tr>'
    made = rendered(MACROS + '{% call table("Runs", ["Job", "When"]) %}' + row + "{% endcall %}", root="")

    assert '<th scope="col" role="columnheader">When</th>' in made
    assert '<th scope="row" role="rowheader">a</th>' in made
    assert '<td data-name="When" role="cell">now</td>' in made
    assert "<caption" in made


def test_a_cell_without_anything_can_be_left_out_where_there_is_no_room() -> None:
    made = rendered(MACROS + '{{ cell("a", "") }}{{ cell("a", none) }}{{ cell("a", 0) }}', root="")

    assert [attributes.get("class") for _, attributes in Reader(made).tags] == ["none", "none", None]


def test_facts_without_anything_are_left_out() -> None:
    made = rendered(MACROS + '{{ fact("a", "") }}{{ fact("b", none) }}{{ fact("c", 0) }}', root="")

    assert made.strip() == "<dt>c</dt><dd>0</dd>"


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_no_template_takes_a_value_as_it_is_or_leaves_an_attribute_without_quotes(path: Path) -> None:
    text = path.read_text("utf-8")

    assert re.findall(r"\|\s*(?:safe|e|escape|forceescape|tojson|xmlattr)\b|autoescape|\s[\w-]+=\{\{", text) == []


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_no_template_has_a_style_or_a_handler_in_an_attribute(path: Path) -> None:
    assert re.findall(r"[\s\"'](?:style|on\w+)\s*=", path.read_text("utf-8")) == []


def test_one_module_says_that_a_text_is_markup() -> None:
    """And it says so of static files alone."""
    named = {path.name for path in SOURCE.rglob("*.py") if re.search(r"\bMarkup\b|__html__", path.read_text("utf-8"))}

    assert named == {"template.py"}

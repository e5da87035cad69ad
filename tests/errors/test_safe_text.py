"""Tests of safe text: terminal control characters are removed, and all others stay."""

import json
import unicodedata

import pytest
from hypothesis import given, settings, strategies as st

from kron.errors.base import safe_json, safe_line, safe_text

_BIDI = {"ALM", "LRM", "RLM"} | {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}
_MARKS = ["\u061c", "\u200e", "\u200f"]
_SURROGATES = st.characters(categories=["Cs"])
_TEXT = st.text(
    st.one_of(st.characters(), _SURROGATES, st.sampled_from("\n\t\r\x1b\x7f\x85\x9b\u2028\u2029\u202e\u2066"))
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("backup", "backup"),
        ("\x1b[2J\x1b]0;pwned\x07", "\\x1b[2J\\x1b]0;pwned\\x07"),
        ("a\r\nb\tc", "a\\r\\nb\\tc"),
        ("\x9b31m", "\\x9b31m"),
        ("one\u2028two\u2029three\x85four", "one\\u2028two\\u2029three\\x85four"),
        ("safe\u202egnp.exe", "safe\\u202egnp.exe"),
        ("\udc80", "\\udc80"),
        ("naïve 日本\u3000語 👩\u200d🚀", "naïve 日本\u3000語 👩\u200d🚀"),
        ("a\\x1bb", "a\\x1bb"),
    ],
)
def test_a_line_keeps_what_a_reader_sees_and_escapes_what_a_terminal_obeys(text: str, line: str) -> None:
    assert safe_line(text) == line


def test_text_keeps_its_newlines_and_tabs() -> None:
    assert safe_text("one\n\ttwo\r\x1b[0m\n") == "one\n\ttwo\\r\\x1b[0m\n"


def _is_obeyed(character: str) -> bool:
    """The rule in other words: by Unicode's own categories and directions."""
    direction = unicodedata.bidirectional(character)
    is_mark = unicodedata.category(character) == "Cf" and (direction in _BIDI or character in _MARKS)
    return unicodedata.category(character) in ("Cc", "Zl", "Zp", "Cs") or is_mark


@given(_TEXT)
def test_no_line_holds_a_character_that_a_terminal_obeys(text: str) -> None:
    line = safe_line(text)

    assert not any(map(_is_obeyed, line))
    assert line == "".join(ascii(c)[1:-1] if _is_obeyed(c) else c for c in text)
    assert safe_line(line) == line
    assert line.encode().decode() == line


@given(_TEXT)
def test_each_line_of_a_text_is_safe(text: str) -> None:
    assert safe_text(text).split("\n") == ["\t".join(map(safe_line, line.split("\t"))) for line in text.split("\n")]


@settings(max_examples=50)
@given(st.dictionaries(_TEXT, st.lists(_TEXT, max_size=3), max_size=3))
def test_safe_json_means_the_same_and_each_of_its_lines_is_safe(value: dict[str, list[str]]) -> None:
    text = safe_json(json.dumps(value, ensure_ascii=False, indent=1))

    assert json.loads(text) == json.loads(json.dumps(value))
    assert not any(map(_is_obeyed, text.replace("\n", "")))

"""What the quick reader of TOML understands is what tomllib reads, with the lines that the index has."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kron.jobfile.toml_plain import read_plain
from kron.jobfile.toml_syntax import key_lines
from tests.jobfile.toml_documents import TomlWriter, documents

USUAL = """\
# jobs of a host
[krond]
timezone = "Europe/Paris"  # as people have it
[jobs.backup]
schedule = "0 3 * * *"
command = ["/usr/bin/backup", "--all"]
shell = false
retries = 3

[jobs."with blanks"]
[jobs."with blanks".env]
A = "1"
"""
UNUSUAL = """\
[jobs.a]
env = {A = "b", "c d" = 'e'}
window.mode = "after"
command = 'C:\\x'
umask = 0o22
description = "a\\tb"
"""
WORDS = (
    "a",
    "b",
    '"a"',
    "[a]",
    "[a.b]",
    "[b.a]",
    "[[a]]",
    "a.b",
    " = ",
    '"x"',
    "1",
    "{b = 1}",
    '["x"]',
    "[",
    "]",
    "#",
    "\n",
    "\r\n",
)


def agrees(text: str) -> bool:
    """Whether the reader, if it understands a text, reads it as the others do."""
    found = read_plain(text)
    return found is None or repr(found) == repr((tomllib.loads(text), key_lines(text)))


@given(documents())
def test_a_document_is_read_as_tomllib_and_the_index_read_it(document: TomlWriter) -> None:
    assert agrees(document.text)


@given(st.lists(st.sampled_from(WORDS), max_size=12).map("".join))
def test_so_is_any_text_and_what_is_no_toml_is_left_to_others(text: str) -> None:
    assert agrees(text)


@given(st.lists(st.sampled_from(["a = 1", "b = {a = 1}", "a.b = 1", "[a]", "[a.b]", "[b]", "[a.b.c]", ""]), max_size=6))
def test_so_are_tables_in_any_order(lines: list[str]) -> None:
    assert agrees("\n".join(lines))


@pytest.mark.parametrize(
    "text", [USUAL, UNUSUAL, USUAL.replace("\n", "\r\n"), ""], ids=["usual", "unusual", "CRLF", "empty"]
)
def test_it_understands_files_as_people_write_them(text: str) -> None:
    assert read_plain(text) is not None
    assert agrees(text)


@pytest.mark.parametrize(
    "text",
    [
        'a = """\nb = 1\n"""', "a = [\n1]", "a = 1\na = 2", "[a]\n[a]", "a = {b = 1}\n[a.c]", "[[a]]", "a = 1 b",
        "a = \x00", 'a = "\x7f"', "[a.b]\n[a]",
    ],
    ids=[
        "long text", "long list", "key twice", "table twice", "closed", "list of tables", "no end", "NUL",
        "DEL", "table after its part",
    ],
)  # fmt: skip
def test_what_it_does_not_understand_is_left_to_others(text: str) -> None:
    assert read_plain(text) is None


def test_what_is_nested_too_deep_is_left_to_others() -> None:
    assert read_plain("a = " + "[" * 100 + "]" * 100) is None


@pytest.mark.parametrize("head", ["jobs.x.env." + "a." * 400 + "a", "a." * 20_000 + "a"])
def test_what_is_too_deep_is_left_to_those_who_say_so(head: str) -> None:
    assert read_plain(f"[{head}]\n") is None

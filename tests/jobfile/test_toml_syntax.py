"""The line of each key of a TOML text, against a writer that recorded them and against tomllib."""

import time
import tomllib
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given, strategies as st

from kron.jobfile.toml_syntax import DEEPEST, NestingError, Path, key_lines
from tests.jobfile.toml_documents import TomlWriter, documents


def paths(value: object, path: Path = ()) -> Iterator[Path]:
    """Yield the path of every key that tables lead to; arrays of tables count, arrays of other things end it."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield (*path, key)
            yield from paths(inner, (*path, key))


@given(documents())
def test_every_key_has_the_line_that_its_writer_noted(document: TomlWriter) -> None:
    tomllib.loads(document.text)  # what the writer writes is TOML

    assert key_lines(document.text) == document.lines


@given(documents())
def test_the_index_has_every_key_that_tomllib_finds(document: TomlWriter) -> None:
    found = set(paths(tomllib.loads(document.text)))

    assert found <= set(key_lines(document.text))


@given(st.text(alphabet="a.=[]{}\"'#,\n\r\\ 1"))
def test_any_text_is_answered(text: str) -> None:
    index = key_lines(text)

    assert all(1 <= line <= text.count("\n") + 1 for line in index.values())


@given(st.text(alphabet="a=[]{}\"'#,\n 1", max_size=12))
def test_a_text_that_is_toml_has_all_its_keys_in_the_index(text: str) -> None:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return

    assert set(paths(document)) <= set(key_lines(text))


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ('a = """\nb = 1\n"""\nb = 2', ("b",), 4),
        ("a = '''\nb = 1\n'''\nb = 2", ("b",), 4),
        ("a = [\n1,\n2]\nb = 2", ("b",), 4),
        ('w = {m = """\n\n""", d = 1}', ("w", "d"), 3),
        ("[a.b]\n[a]\nc.d = 1", ("a", "c", "d"), 3),
        ('["a.b"]\nc = 1', ("a.b", "c"), 2),
        ('"\\u0061" = 1', ("a",), 1),
        ("[[a]]\n[[a]]\nb = 1\n[a.c]\nd = 1", ("a", 1, "c", "d"), 5),
        ("a = 1 # b = 2\nb = 3", ("b",), 2),
        ("\r\n\r\na = 1\r\n", ("a",), 3),
    ],
)
def test_a_key_is_found_at_its_line(text: str, path: Path, line: int) -> None:
    assert key_lines(text)[path] == line


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\n" + ".".join("a" * 100) + " = 1",
        "x = 1\n[" + ".".join("a" * 100) + "]",
        "x = 1\ny = " + "[" * 100,
        "x = 1\ny = " + "{a = " * 100,
        "x = 1\ny = " + "[{a = " * 50,
    ],
    ids=["dotted key", "header", "arrays", "tables", "both"],
)
def test_a_value_nested_too_deeply_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(NestingError) as caught:
        key_lines(text)

    assert caught.value.line == 2


def test_a_value_nested_as_deeply_as_allowed_is_indexed() -> None:
    assert key_lines(".".join("a" * DEEPEST) + " = 1")


def test_a_megabyte_of_open_quotes_takes_no_longer_than_a_megabyte() -> None:
    start = time.process_time()

    for text in ('a = """' + '\\"' * 500_000, "a = '''" + "''x" * 300_000, '"' * 1_000_000, "a = [" + '"x",' * 250_000):
        key_lines(text)

    assert time.process_time() - start < 5  # a quadratic scan would take hours

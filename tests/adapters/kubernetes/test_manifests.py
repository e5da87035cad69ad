"""Tests of manifests: YAML as Kubernetes reads it, parsed and printed."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from kron.adapters.kubernetes.manifests import read_manifests, write_manifest
from kron.errors import InvalidDefinitionError

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"], include_characters="\n")) | st.from_regex(
    r"[-+]?[0-9]{1,3}(\.[0-9]{0,2})?([eE:][0-9]{1,2})?|0[xob][0-7]{1,3}|yes|on|null|~|<<|=|2026-01-01", fullmatch=True
)
DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=10,
)


@given(st.dictionaries(TEXT, DATA, max_size=4))
def test_a_written_manifest_is_read_back(data: dict[str, Any]) -> None:
    assert read_manifests(write_manifest(data)) == [data]


@pytest.mark.parametrize(
    ("text", "value"),
    [("12:30", "12:30"), ("2026-12-25", "2026-12-25"), ("1e3", 1000.0), ("0o17", 15), ("010", 8), ("yes", True)],
)
def test_a_word_means_what_kubectl_takes_it_for(text: str, value: object) -> None:
    assert read_manifests(f"a: {text}") == [{"a": value}]


def test_empty_documents_are_left_out() -> None:
    assert read_manifests("---\n---\na: 1\n---\n# nothing\n---\nb: 2\n") == [{"a": 1}, {"b": 2}]


def test_json_is_read_with_its_tabs() -> None:
    assert read_manifests('{\n\t"a": 1\n}') == [{"a": 1}]


def test_keys_are_texts() -> None:
    assert read_manifests("2: a\ntrue: b") == [{"2": "a", "true": "b"}]


BOMB = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 10)}]\n" for n in range(8)
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: [1", "line 1: "),
        ("a: 1\nb: 2\na: 3", "line 3: a is said twice"),
        ("{", "line 1: "),
        ("a: .nan", "nan is no number that JSON has"),
        ("a: !!binary aGk=", "bytes is no type that JSON has"),
        ("a: !!python/object:os.system x", "could not determine a constructor"),
        ("a: &a [*a]", "levels deep"),
        (BOMB, "has more than 1000000 values"),
        ("a: \x07", "special characters are not allowed"),
    ],
    ids=["broken", "twice", "json", "nan", "bytes", "object", "circle", "bomb", "control"],
)
def test_an_unreadable_manifest_is_one_clear_error(text: str, reason: str) -> None:
    with pytest.raises(InvalidDefinitionError) as caught:
        read_manifests(text)

    assert reason in caught.value.reason


def test_a_comment_follows_the_value_at_its_path_and_changes_nothing() -> None:
    data = {"a": {"deadline": "1h"}, "spec": {"text": "deadline: 1h\nend", "deadline": "1h", "more": [1]}}

    text = write_manifest(data, {("spec", "deadline"): "assumed"})

    assert [line for line in text.splitlines() if "#" in line] == ["  deadline: 1h  # assumed"]
    assert text.index("#") > text.index("end")
    assert read_manifests(text) == [data]


@pytest.mark.parametrize("end", ["\x85", "\u2028", "\u2029"])
def test_a_text_with_an_end_of_line_that_only_yaml_has_is_read_back_and_moves_no_comment(end: str) -> None:
    data = {"note": f"one\ntwo{end}three\n", "policy": {"deadline": "1h"}, "spec": {"last": 1}}

    text = write_manifest(data, {("policy", "deadline"): "why", ("spec", "last"): "so"})

    assert "\n  deadline: 1h  # why\n" in text
    assert text.endswith("\n  last: 1  # so\n")
    assert read_manifests(text) == [data]

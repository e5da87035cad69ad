"""What a server says is read however deep it is; what is too deep is left out, and the rest is not."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kron.adapters.cluster.json_text import DEEPEST, read_json
from kron.rules.kronjob.limits import is_too_deep

VALUES = st.recursive(
    st.none() | st.booleans() | st.text(), lambda deeper: st.lists(deeper) | st.dictionaries(st.text(), deeper)
)


def buried(levels: int, **beside: Any) -> bytes:
    """Return a text with an object that has so many levels, and with others beside it."""
    deep = '{"a":[' * (levels // 2) + '"}]\\\\"' + "]}" * (levels // 2)
    return f'{{"before": {json.dumps(beside)}, "deep": {deep}, "after": {json.dumps(beside)}}}'.encode()


@pytest.mark.parametrize("levels", [2_000, 9_998])
def test_what_is_deeper_than_the_library_reads_is_cut_and_still_too_deep(levels: int) -> None:
    found = read_json(buried(levels))

    assert is_too_deep(found["deep"])


@pytest.mark.slow
@settings(max_examples=15)
@given(VALUES)
def test_what_lies_beside_it_is_untouched(value: Any) -> None:
    found = read_json(buried(2 * DEEPEST + 10_000, value=value))

    assert found["before"] == found["after"] == {"value": value}


def test_what_is_no_json_is_told_however_deep_it_is() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        read_json(b"[" * 100_000)

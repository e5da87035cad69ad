"""split_words: a command without a shell, in the words that POSIX quoting gives."""

import shlex

import pytest
from hypothesis import given, strategies as st

from kron.jobfile.values import split_words


@given(st.text("ab '\"\\\t\n\v#é", max_size=12))
def test_a_text_is_split_as_by_the_standard_library(text: str) -> None:
    try:
        expected = shlex.split(text)
    except ValueError:
        with pytest.raises(ValueError, match=r"^no "):
            split_words(text)
    else:
        assert split_words(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [("a 'b", "no closing quotation"), ('"', "no closing quotation"), ("a\\", "no escaped character")],
)
def test_a_text_that_is_not_closed_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=f"^{reason}$"):
        split_words(text)

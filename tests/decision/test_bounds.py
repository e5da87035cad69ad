"""The limits of definitions are those in the table of the documentation."""

import re
from pathlib import Path

import pytest

from kron.decision import bounds
from kron.errors import InvalidDefinitionError

_PAGE = (Path(__file__).parents[2] / "docs" / "language.md").read_text("utf-8").partition("## Limits")[2]
_LISTED = {int(number.replace(",", "")) for number in re.findall(r"\| ([\d,]+)(?: characters)? \|", _PAGE)}


def test_the_page_of_the_language_lists_every_limit_and_no_other() -> None:
    names = [name for name in vars(bounds) if name.startswith(("LONGEST_", "MOST_"))]

    assert {getattr(bounds, name) for name in names} == _LISTED


@pytest.mark.parametrize("length", [3, 4])
def test_a_text_of_the_longest_length_is_accepted(length: int) -> None:
    assert bounds.check_length("salt", "x" * length, 4) == "x" * length


def test_an_error_names_field_length_and_limit_and_cuts_the_text() -> None:
    with pytest.raises(InvalidDefinitionError, match="must have at most 4 characters, found 5000") as caught:
        bounds.check_length("salt", "x" * 5_000, 4)

    assert len(caught.value.message) < 500

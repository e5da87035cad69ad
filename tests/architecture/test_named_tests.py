"""Pages that name a test behind each line name only tests that exist, and every test of their folder."""

import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
_GUARANTEES = (_ROOT / "docs" / "guarantees.md").read_text("utf-8")
_DEFINED = re.compile(r"^(?:async )?def (test_\w+)", re.MULTILINE)


def defined(path: Path) -> set[tuple[str, str]]:
    return {(str(path.relative_to(_ROOT)), name) for name in _DEFINED.findall(path.read_text("utf-8"))}


@pytest.mark.parametrize(
    ("page", "folder"), [("docs/faults.md", "tests/faults"), ("docs/threat-model.md", "tests/attacks")]
)
def test_a_page_names_every_test_of_its_folder_and_no_test_that_is_not_there(page: str, folder: str) -> None:
    named = set(_NAMED.findall((_ROOT / page).read_text("utf-8")))
    here = set[tuple[str, str]]().union(*map(defined, (_ROOT / folder).rglob("test_*.py")))
    elsewhere = {test for test in named if not test[0].startswith(folder)}

    assert {test for test in named if test[0].startswith(folder)} == here
    assert all(test in defined(_ROOT / test[0]) for test in elsewhere)


def test_every_test_that_the_guarantees_name_exists() -> None:
    named = _NAMED.findall(_GUARANTEES)

    assert [test for test in named if test not in defined(_ROOT / test[0])] == []


def test_every_guarantee_names_a_test() -> None:
    tables = _GUARANTEES.split("\n\n")
    promises = [
        row
        for lines in (table.splitlines() for table in tables)
        if lines[0].endswith("| shown by |")
        for row in lines[2:]
    ]

    assert len(promises) > 30
    assert [row for row in promises if not _NAMED.search(row.rpartition(" | ")[2])] == []

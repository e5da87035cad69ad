"""Every decision has a date and a status, a status names only later decisions, and the index repeats both."""

import re
from datetime import date
from pathlib import Path

import pytest

_FOLDER = Path(__file__).parents[2] / "docs" / "decisions"
_DECISIONS = sorted(_FOLDER.glob("0*.md"))
_INDEX = (_FOLDER / "README.md").read_text("utf-8")
_HEAD = re.compile(
    r"# (?P<number>\d{4}) .+\n\n"
    r"Date: (?P<date>\d{4}-\d\d-\d\d)\. Status: (?P<status>.+)\.\n\n"
    r"\*\*Context\.\*\*"
)
_SUPERSEDING = re.compile(r"\[(\d{4})\]\(([^)]+)\)")
_STATUS = re.compile(rf"accepted(; .+ superseded by {_SUPERSEDING.pattern}.*)?|superseded by {_SUPERSEDING.pattern}")


def head(page: Path) -> re.Match[str]:
    found = _HEAD.match(page.read_text("utf-8"))
    assert found, f"{page.name} does not begin with a title, `Date: YYYY-MM-DD. Status: ….` and a context"
    return found


@pytest.mark.parametrize("page", _DECISIONS, ids=lambda page: page.stem)
def test_a_decision_has_its_number_a_date_and_a_status(page: Path) -> None:
    found = head(page)

    assert found["number"] == page.name[:4]
    assert date.fromisoformat(found["date"])
    assert _STATUS.fullmatch(found["status"]), found["status"]


@pytest.mark.parametrize("page", _DECISIONS, ids=lambda page: page.stem)
def test_a_decision_is_superseded_by_a_later_one_that_exists(page: Path) -> None:
    superseding = _SUPERSEDING.findall(head(page)["status"])

    assert all((_FOLDER / name).is_file() and name.startswith(number) for number, name in superseding)
    assert all(number > page.name[:4] for number, _ in superseding)


@pytest.mark.parametrize("page", _DECISIONS, ids=lambda page: page.stem)
def test_the_index_has_the_date_and_the_status_of_a_decision(page: Path) -> None:
    found = head(page)
    link, last_columns = f"| [{found['number']}]({page.name}) | ", f" | {found['date']} | {found['status']} |"

    assert sum(row.startswith(link) and row.endswith(last_columns) for row in _INDEX.splitlines()) == 1


def test_the_index_has_no_decision_without_a_page() -> None:
    assert re.findall(r"^\| \[(\d{4})\]", _INDEX, re.MULTILINE) == [page.name[:4] for page in _DECISIONS]

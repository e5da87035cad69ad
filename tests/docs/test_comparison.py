"""docs/comparison.md: a source for every answer, and the table of the README says the same."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "comparison.md").read_text("utf-8")
PROGRAMS = ("Kron", "cron", "systemd timers", "APScheduler", "Celery beat", "CronJob")


def rows(text: str) -> list[list[str]]:
    """Return the cells of the rows of a table, below its head."""
    found = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in found[2:]]


QUESTIONS = {
    title: rows(section)
    for title, _, section in (part.partition("\n") for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:])
    if "| answer |" in section
}
SUMMARY = {
    question: answers
    for question, *answers in rows((ROOT / "README.md").read_text("utf-8").partition("## Beside other")[2])
}


def test_the_readme_asks_the_questions_of_the_comparison() -> None:
    assert list(SUMMARY) == list(QUESTIONS)
    assert len(SUMMARY) == 10


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_readme_answers_as_the_comparison_does(question: str) -> None:
    assert dict(zip(PROGRAMS, SUMMARY[question], strict=True)) == {row[0]: row[1] for row in QUESTIONS[question]}


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_answer_has_a_source(question: str) -> None:
    sources = {program: source for program, _, _, source in QUESTIONS[question]}

    assert tuple(sources) == PROGRAMS
    assert [program for program, source in sources.items() if not re.fullmatch(r"\[[^]]+\]\([^)]+\)", source)] == []


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_answers_to_a_question_differ(question: str) -> None:
    assert len(set(SUMMARY[question])) > 2

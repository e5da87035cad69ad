"""Each tutorial and each how-to guide works as it is written, from its first line to its last."""

from pathlib import Path

import pytest

from tests.docs.walkthrough import Command, File, Walkthrough, masked, steps

DOCS = Path(__file__).parents[2] / "docs"
WITHOUT_COMMANDS = {"container"}  # its commands need podman


def pages(*folders: str) -> list[Path]:
    return [page for folder in folders for page in sorted((DOCS / folder).glob("*.md"))]


def walk(page: Path, folder: Path) -> None:
    walkthrough = Walkthrough(folder)
    try:
        for step in steps(page.read_text("utf-8")):
            walkthrough.take(step)
    finally:
        walkthrough.close()


PAGES = [page for page in pages("tutorials", "how-to") if page.stem not in WITHOUT_COMMANDS]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_works_as_it_is_written(page: Path, tmp_path: Path) -> None:
    walk(page, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_files_and_commands_to_carry_out(page: Path) -> None:
    found = list(steps(page.read_text("utf-8")))

    assert {type(step) for step in found} == {File, Command}


@pytest.mark.parametrize(
    ("step", "right"),
    [
        (Command("echo a", "a\n"), True),
        (Command("echo a", "b\n"), False),
        (Command("false", ""), False),
        (Command("false  # exits with 1", ""), True),
        (Command("true  # exits with 1", ""), False),
        (Command("echo 2026-11-19T21:51:00Z", "2026-01-01T00:00:00Z\n"), True),
    ],
)
def test_a_step_that_goes_otherwise_than_it_is_shown_fails(step: Command, right: bool, tmp_path: Path) -> None:  # noqa: FBT001
    walkthrough = Walkthrough(tmp_path)

    if right:
        walkthrough.take(step)
    else:
        with pytest.raises(AssertionError, match="the page shows"):
            walkthrough.take(step)


def test_words_and_numbers_of_an_answer_are_not_masked() -> None:
    assert masked("2 jobs, exit 1") == "2 jobs, exit 1"

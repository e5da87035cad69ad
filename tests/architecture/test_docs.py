"""Every example in the README and in docs/ is run: Python blocks are executed, `$ kron …` must print what is shown."""

import re
import shlex
from pathlib import Path

import pytest

from kron.cron.zone import database_version
from tests.cli.runner import kron

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")

EXAMPLES = [(page, kind, text) for page in PAGES for kind, text in BLOCK.findall(page.read_text("utf-8"))]


def ids(example: tuple[Path, str, str]) -> str:
    page, kind, text = example
    return f"{page.name}-{kind}-{text.splitlines()[0][:40]}"


@pytest.mark.parametrize("example", EXAMPLES, ids=ids)
def test_an_example_does_what_it_shows(example: tuple[Path, str, str]) -> None:
    _, kind, text = example
    if kind == "python":
        exec(compile(text, "example", "exec"), {})
        return
    command, _, shown = text.partition("\n")
    arguments = shlex.split(command.removeprefix("$ kron "))

    answer = kron(*arguments)

    assert answer.code == 0
    assert answer.out == shown.replace("time zone data …", f"time zone data {database_version()}")


def test_there_are_examples_of_both_kinds() -> None:
    assert {kind for _, kind, _ in EXAMPLES} == {"python", "console"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    targets = [page.parent / target for target in LINK.findall(page.read_text("utf-8"))]

    assert all(target.exists() for target in targets), targets


def test_every_decision_is_in_the_index() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text("utf-8")

    assert all(f"({page.name})" in index for page in folder.glob("0*.md"))

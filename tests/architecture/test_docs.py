"""Every example in the README, beside it and in docs/ is run, and every link and module that they name exists.

Python blocks are executed; `$ kron …` must print what is shown.
"""

import re
import shlex
from pathlib import Path

import pytest

from kron.cron.zone import tzdata_release
from tests.cli.kron_runner import kron

ROOT = Path(__file__).parents[2]
PAGES = [
    *(page for page in sorted(ROOT.glob("*.md")) if page.name != "CHANGELOG.md"),  # which may name what was removed
    *sorted((ROOT / "docs").rglob("*.md")),
]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")

MODULE_PATH = re.compile(r"`(?:python )?([\w/]+\.py)(?:::?[\w.]+)?`")
MODULE_NAME = re.compile(r"`(?:python -m )?((?:kron|tests|bench)\.(?!io\b)[\w.]+)`")
PYTHON_FILES = [
    path.relative_to(ROOT).as_posix()
    for folder in ("src", "tests", "bench", "packaging")
    for path in (ROOT / folder).rglob("*.py")
]

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
    assert answer.out == shown.replace("time zone data …", f"time zone data {tzdata_release()}")


def test_there_are_examples_of_both_kinds() -> None:
    assert {kind for _, kind, _ in EXAMPLES} == {"python", "console"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    targets = [page.parent / target for target in LINK.findall(page.read_text("utf-8"))]

    assert all(target.exists() for target in targets), targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_python_file_that_a_page_names_exists(page: Path) -> None:
    named = set(MODULE_PATH.findall(page.read_text("utf-8")))

    assert [each for each in sorted(named) if not any(f"/{path}".endswith(f"/{each}") for path in PYTHON_FILES)] == []


def module_file(module: str) -> Path | None:
    path = (ROOT / "src" if module.startswith("kron") else ROOT) / module.replace(".", "/")
    found = (each for each in (path.with_suffix(".py"), path / "__init__.py") if each.is_file())
    return next(found, None)


def is_name_of_a_module(dotted: str) -> bool:
    module, _, name = dotted.rpartition(".")
    file = module_file(module)
    return file is not None and re.search(rf"\b{name}\b", file.read_text("utf-8")) is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_module_that_a_page_names_exists(page: Path) -> None:
    named = set(MODULE_NAME.findall(page.read_text("utf-8")))

    assert [each for each in sorted(named) if not (module_file(each) or is_name_of_a_module(each))] == []

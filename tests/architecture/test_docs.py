"""Every example in the README, beside it and in docs/ is run, and every link and module that they name exists.

Python blocks are executed; `$ kron …` must print what is shown, where a line `…` stands for any lines, and exit with 0
or as its comment `# exits with N` says.
"""

import re
import shlex
from pathlib import Path

import pytest

from kron.cron.zone import tzdata_release
from tests.cli.kron_runner import kron
from tests.docs.walkthrough import File, steps

ROOT = Path(__file__).parents[2]
PAGES = [
    *(page for page in sorted(ROOT.glob("*.md")) if page.name != "CHANGELOG.md"),  # which may name what was removed
    *sorted((ROOT / "docs").rglob("*.md")),
]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
ANCHORED = re.compile(r"\]\(([^)#:]*)#([^)]+)\)")
FENCED = re.compile(r"^(```+).*?^\1`*$", re.MULTILINE | re.DOTALL)
EXIT = re.compile(r"# exits with (\d+)$")
ANY_LINES = r"(?:.*\n)+"
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)

MODULE_PATH = re.compile(r"`(?:python )?([\w/]+\.py)(?:::?[\w.]+)?`")
MODULE_NAME = re.compile(r"`(?:python -m )?((?:kron|tests|bench)\.(?!io\b)[\w.]+)`")
PYTHON_FILES = [
    path.relative_to(ROOT).as_posix()
    for folder in ("src", "tests", "bench", "packaging")
    for path in (ROOT / folder).rglob("*.py")
]

CARRIED_OUT = [ROOT / "docs" / folder for folder in ("tutorials", "how-to")]  # by tests/docs/test_tutorials.py


def examples(page: Path) -> list[tuple[Path, str, str]]:
    """Return what is run by itself: of pages that are carried out as a whole, Python that is no file of theirs."""
    text = page.read_text("utf-8")
    found = [(page, kind, block) for kind, block in BLOCK.findall(text)]
    if page.parent not in CARRIED_OUT:
        return found
    files = {step.text for step in steps(text) if isinstance(step, File)}
    return [each for each in found if each[1] == "python" and each[2] not in files]


EXAMPLES = [example for page in PAGES for example in examples(page)]


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
    arguments = shlex.split(command.removeprefix("$ kron "), comments=True)
    code = EXIT.search(command)

    answer = kron(*arguments)

    assert answer.code == (int(code[1]) if code else 0)
    assert is_shown(answer.out, shown.replace("time zone data …", f"time zone data {tzdata_release()}"))


def is_shown(printed: str, shown: str) -> bool:
    """Whether this is printed; a line of an ellipsis alone is any lines."""
    expected = [ANY_LINES if line == "…" else re.escape(f"{line}\n") for line in shown.splitlines()]
    return re.fullmatch("".join(expected), printed) is not None


@pytest.mark.parametrize(
    ("shown", "right"),
    [("a\nb\n", True), ("a\n", False), ("…\nb\n", True), ("a\n…\n", True), ("b\n…\n", False), ("a\n…\nb\n", False)],
)
def test_an_ellipsis_stands_for_one_line_or_more(shown: str, right: bool) -> None:  # noqa: FBT001
    assert is_shown("a\nb\n", shown) is right


def test_there_are_examples_of_both_kinds() -> None:
    assert {kind for _, kind, _ in EXAMPLES} == {"python", "console"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    targets = [page.parent / target for target in LINK.findall(page.read_text("utf-8"))]

    assert all(target.exists() for target in targets), targets


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub, and the site, give to the headings of a page."""
    titles = [
        re.sub(r"`|\[([^]]*)\]\([^)]*\)", r"\1", title)
        for title in HEADING.findall(FENCED.sub("", page.read_text("utf-8")))
    ]
    slugs = [re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles]
    return {f"{slug}-{before}" if (before := slugs[:number].count(slug)) else slug for number, slug in enumerate(slugs)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_anchor_of_a_link_is_a_heading(page: Path) -> None:
    links = ANCHORED.findall(page.read_text("utf-8"))

    targets = [(page.parent / file if file else page, anchor) for file, anchor in links]
    assert [(file, anchor) for file, anchor in targets if anchor not in anchors(file)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_python_file_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text("utf-8")
    named = set(MODULE_PATH.findall(text)) - {step.name for step in steps(text) if isinstance(step, File)}

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

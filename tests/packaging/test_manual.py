"""The manual agrees with the commands' help, and man renders it without warnings."""

import shutil
import subprocess

import pytest

from tests.packaging.manual import FOLDER, pages
from tests.packaging.roff import escape, markdown

PAGES = pages()
READERS = {
    "groff": ["groff", "-man", "-Tutf8", "-K", "utf8", "-ww", "-z"],
    "mandoc": ["mandoc", "-T", "lint", "-W", "error"],  # it would warn of a page without a date
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_the_one_written_down(name: str) -> None:
    assert (FOLDER / name).read_text("utf-8") == PAGES[name], "if this is meant, write it down: make man"


def test_nothing_else_is_in_the_manual() -> None:
    assert sorted(page.name for page in FOLDER.iterdir()) == sorted(PAGES)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_shown_without_a_warning(name: str, reader: str) -> None:
    if shutil.which(reader) is None:
        pytest.skip(f"{reader} is not installed: {name} was NOT shown by it")

    done = subprocess.run([*READERS[reader], str(FOLDER / name)], capture_output=True, text=True, check=False)

    assert done.stdout + done.stderr == ""


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
@pytest.mark.parametrize("text", [".kron", "'quoted' -- \\b \\", "a `tick` ^ ~ é … %", "--option"])
def test_a_reader_sees_what_was_written(text: str) -> None:
    page = f".TH X 1\n.SH X\n{escape(text)}\n"

    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-K", "utf8", "-ww", "-P-cbou"],
        input=page,
        capture_output=True,
        text=True,
        check=True,
    )

    assert text in [line.strip() for line in done.stdout.splitlines()]
    assert done.stderr == ""


def test_a_page_of_the_documentation_becomes_macros() -> None:
    table = "| key | takes | says |\n|---|---|---|\n| `a` | text | why |\n"

    found = list(markdown(f"Some `code` and\n*more* of it.\n\n## Head\n\n{table}\n* one\n  line\n"))

    assert found == [
        ".PP", r"Some \fBcode\fR and \fImore\fR of it.",
        ".SH HEAD",
        ".TP", r"\fBa\fR", "Why.", "Text.",
        r".IP \(bu 2", "one line",
    ]  # fmt: skip

"""The generated pages of the reference; `make reference` writes them."""

from collections.abc import Callable, Iterator
from pathlib import Path

from tests.docs.commands_page import commands_page
from tests.docs.python_page import errors_page, python_page
from tests.docs.tables_pages import contracts_page, events_page, http_page, kronjob_page, metrics_page

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
WRITERS: dict[str, Callable[[], Iterator[str]]] = {
    "commands.md": commands_page,
    "contracts.md": contracts_page,
    "errors.md": errors_page,
    "events.md": events_page,
    "http.md": http_page,
    "kronjob.md": kronjob_page,
    "metrics.md": metrics_page,
    "python.md": python_page,
}
_NOTE = "<!-- Written by `make reference` from the code. -->"


def page(name: str) -> str:
    """Return a page as it should be."""
    lines = [_NOTE, *WRITERS[name]()]
    while not lines[-1]:
        del lines[-1]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for name in WRITERS:
        (FOLDER / name).write_text(page(name), "utf-8")

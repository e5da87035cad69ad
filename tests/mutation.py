"""A copy of the package with one bug in it, for tests that show that a bug is found."""

import os
from pathlib import Path
from shutil import copytree
from typing import Protocol

import kron

PACKAGE = Path(kron.__file__).parent


class Bug(Protocol):
    """In a module of the package, a text that occurs once and its replacement."""

    @property
    def module(self) -> str: ...
    @property
    def before(self) -> str: ...
    @property
    def after(self) -> str: ...


def changed(bug: Bug, text: str) -> str:
    """Return the text of a module with the bug."""
    assert text.count(bug.before) == 1, f"in {bug.module}: {text.count(bug.before)} times {bug.before!r}"
    return text.replace(bug.before, bug.after)


def copy_package(place: Path) -> None:
    """Link every file of the package, bytecode included, below the place, so that Python imports it from there."""
    copytree(PACKAGE, place / "kron", copy_function=os.symlink)


def mutate(bug: Bug, place: Path) -> None:
    """Put a copy of the package with the bug there."""
    copy_package(place)
    module = place / "kron" / bug.module
    text = changed(bug, module.read_text("utf-8"))
    for stale in (module, *(module.parent / "__pycache__").glob(f"{module.stem}.*")):
        stale.unlink()
    module.write_text(text, "utf-8")

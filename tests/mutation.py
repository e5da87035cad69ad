"""A copy of the package with one bug, and pytest in a process that finds the bug."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, Protocol

import kron
from tests import forked

PACKAGE = Path(kron.__file__).parent
PROJECT = Path(__file__).parents[1]
_FAILED = 1  # pytest's exit code if a test failed or a fixture raised; others mean that pytest itself was stopped
QUICK = ("-o", "addopts=", "-p", "no:xdist", "-p", "no:cacheprovider", "--assert=plain", "-x", "-q")


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
    """Link every file and folder of the package below the place, so that Python imports it from there."""
    _link(PACKAGE, place / "kron")


def mutate(bug: Bug, place: Path) -> None:
    """Put a copy of the package with the bug there."""
    replace_module(bug.module, changed(bug, (PACKAGE / bug.module).read_text("utf-8")), place)


def replace_module(path: str, text: str, place: Path) -> None:
    """Put a copy of the package there: links, but for the module with the new text and the folders on the way to it."""
    copy_package(place)
    *folders, name = Path(path).parts
    source, copy = PACKAGE, place / "kron"
    for folder in folders:
        source, copy = source / folder, copy / folder
        copy.unlink()
        _link(source, copy)
    module = copy / name
    module.unlink()
    module.write_text(text, "utf-8")
    _leave_out_bytecode(source / "__pycache__", copy / "__pycache__", module.stem)


def _link(source: Path, copy: Path) -> None:
    copy.mkdir()
    for each in source.iterdir():
        (copy / each.name).symlink_to(each)


def _leave_out_bytecode(source: Path, copy: Path, stem: str) -> None:
    """Keep the bytecode of the other modules of a folder."""
    if source.exists():
        copy.unlink()
        _link(source, copy)
        for stale in copy.glob(f"{stem}.*"):
            stale.unlink()


class NestedRun(NamedTuple):
    """How a run of pytest in a process of its own ended."""

    code: int
    output: str

    @property
    def is_green(self) -> bool:
        """Whether its tests passed."""
        return self.code == 0

    @property
    def is_red(self) -> bool:
        """Whether a test failed. If pytest crashed, or a fixture raised before the test began, none has."""
        return self.code == _FAILED and any(line.startswith("FAILED ") for line in self.output.splitlines())


def run_pytest(test: str, package: Path, options: Iterable[str] = ()) -> NestedRun:
    """Run tests against the package there. They get a temporary folder of their own: an outer run cleans up its own."""
    done = forked.run(forked.PYTEST, str(package), *QUICK, f"--basetemp={package / 'temporary'}", *options, test)
    return NestedRun(done.returncode, done.stdout + done.stderr)

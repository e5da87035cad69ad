"""The workflows of .github/workflows as data, and actionlint over them; `make workflows` calls it."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.packaging.go_tools import ACTIONLINT, ToolMissingError

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github" / "workflows"
FILES = sorted(FOLDER.glob("*.yml"))


def workflow(path: Path) -> dict[Any, Any]:
    """Return a workflow as data."""
    found = yaml.safe_load(path.read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each job of each workflow, with its name for messages."""
    for path in FILES:
        for name, job in workflow(path)["jobs"].items():
            yield f"{path.name}:{name}", job


def commands() -> list[str]:
    """Return what each step runs."""
    return [step["run"] for _, job in jobs() for step in job["steps"] if "run" in step]


def targets() -> set[str]:
    """Return the targets of the Makefile that have a line of help."""
    return set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def pythons() -> list[str]:
    """Return the versions of Python that the tests run on, the oldest first."""
    (matrix,) = (job["strategy"]["matrix"] for name, job in jobs() if name == "ci.yml:test")
    return [str(version) for version in matrix["python"]]


def systems() -> list[str]:
    """Return the runners of the library's tests."""
    (matrix,) = (job["strategy"]["matrix"] for name, job in jobs() if name == "ci.yml:library")
    return [str(system) for system in matrix["system"]]


def actionlint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the workflows of a folder. ToolMissingError: actionlint cannot be built here."""
    files = sorted(map(str, folder.glob("*.yml")))
    # Other checkers that a machine may have would make the answer depend on the machine.
    command = [ACTIONLINT.path(), "-no-color", "-shellcheck=", "-pyflakes=", *files]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


if __name__ == "__main__":
    try:
        done = actionlint(FOLDER)
    except ToolMissingError as error:
        sys.exit(f"the workflows were NOT checked: {error}")
    sys.exit(done.stdout or done.returncode)

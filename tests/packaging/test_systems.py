"""Schedules and decisions need no POSIX system."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.workflows import ROOT

PURE = ("cron", "decision", "errors", "forecast", "jobfile", "kronjob", "rules", "theory", "why")
IMPORTS = """
import importlib, pkgutil
import tests.packaging.no_posix
package = importlib.import_module("kron.{name}")
for module in pkgutil.walk_packages(package.__path__, "kron.{name}."):
    importlib.import_module(module.name)
"""
DECIDES = """
import tests.packaging.no_posix
from datetime import datetime, timezone
import kron
timing = kron.Timing.parse("0 0 * * * @win(after,3h) @seed(stable,salt=backup)", identity="prod/db-backup")
print(kron.decide(timing, datetime(2026, 3, 1, tzinfo=timezone.utc)).chosen_time)
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a Python of its own, which this one has not imported anything for."""
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", PURE)
def test_a_pure_package_is_imported_without_posix_modules(name: str) -> None:
    done = run(IMPORTS.format(name=name))

    assert (done.returncode, done.stderr) == (0, "")


def test_a_second_is_chosen_without_posix_modules() -> None:
    assert run(DECIDES).stdout == "2026-03-01 02:32:20+00:00\n"


def test_a_posix_module_is_not_found_in_that_python() -> None:
    done = run("import tests.packaging.no_posix, fcntl")

    assert done.stderr.endswith("ModuleNotFoundError: No module named 'fcntl'\n")


def test_make_test_library_runs_folders_that_exist() -> None:
    (folders,) = re.findall(r"^LIBRARY_TESTS := (.+)$", Path(ROOT, "Makefile").read_text("utf-8"), re.MULTILINE)

    assert all((ROOT / folder).is_dir() for folder in folders.split())

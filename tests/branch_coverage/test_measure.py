"""What `make coverage` counts, and how it judges."""

from pathlib import Path

import pytest

from tests.branch_coverage.measure import (
    LEFT_OUT,
    LIST,
    PROJECT,
    Branches,
    below,
    covered,
    listed,
    objections,
    run_tests,
)

WHOLE, HALF, NONE = Branches(100, 100), Branches(100, 50), Branches(0, 0)
STARTS_PROCESSES = """
import signal
import subprocess
import sys

from tests import forked
from tests.hosts.krond.krond_process import Krond


def test_a_forked_command():
    assert forked.run("kron", "next", "0 0 * * *", "--count", "1").returncode == 0


def test_a_fresh_python():
    subprocess.run([sys.executable, "-m", "kron", "explain", "0 0 * * *", "--identity", "a"], check=True)


def test_a_krond(tmp_path):
    krond = Krond(tmp_path, "").start()
    krond.signal(signal.SIGTERM)
    assert krond.end() == 0
"""


def test_a_module_is_below_the_figure_by_its_branches_and_one_without_branches_is_not() -> None:
    modules = {"whole": WHOLE, "half": HALF, "none": NONE, "least": Branches(100, 92), "less": Branches(100, 91)}

    assert list(below(modules)) == ["half", "less"]


def test_a_package_at_the_figure_whose_modules_below_it_have_reasons_is_accepted() -> None:
    modules = {"whole": Branches(1_000, 1_000), "half": HALF}

    assert list(objections(modules, {"half": "it runs in another process"})) == []


@pytest.mark.parametrize("reasons", [{}, {"half": ""}])
def test_a_module_below_the_figure_needs_a_reason(reasons: dict[str, str]) -> None:
    (objection,) = objections({"whole": Branches(1_000, 1_000), "half": HALF}, reasons)

    assert objection.startswith("half is below 92 % and has no reason")


def test_a_listed_module_that_is_not_below_the_figure_is_objected_to() -> None:
    (objection,) = objections({"whole": WHOLE}, {"whole": "it was once"})

    assert objection == "whole is not below 92 %: remove it from below.txt"


def test_a_package_below_the_figure_is_objected_to() -> None:
    objection, *_ = objections({"whole": WHOLE, "half": HALF}, {"half": "it runs in another process"})

    assert objection == "75.0 % of the branches are covered, less than 92 %"


def test_a_list_has_names_and_reasons_below_its_heading() -> None:
    assert listed("# heading\na.py  # why # not\n\nb.py\n") == {"a.py": "why # not", "b.py": ""}


def test_every_listed_module_exists_and_has_a_reason() -> None:
    entries = listed(LIST.read_text("utf-8"))

    assert [name for name, reason in entries.items() if not reason or not (PROJECT / "src" / name).is_file()] == []


def test_every_test_that_is_left_out_exists() -> None:
    assert [path for path in LEFT_OUT if not (PROJECT / path).exists()] == []


@pytest.mark.slow
def test_what_processes_of_a_test_run_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "test_processes.py"
    file.write_text(STARTS_PROCESSES)

    code = run_tests([str(file), f"--rootdir={PROJECT}", "-o", "addopts=-q"], tmp_path / "results")
    modules = covered(tmp_path / "results")

    assert code == 0
    started = ("kron/cli/next.py", "kron/cli/explain.py", "kron/hosts/krond/daemon.py")
    assert [name for name in started if not modules[name].covered] == []

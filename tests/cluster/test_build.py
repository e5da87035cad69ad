"""The programs of the control plane are built once, completely or not at all; a fake Go builds them here."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.build import PACKAGES, missing, version

ROOT = Path(__file__).parents[2]
ANSWER = "Kubernetes v{version}, etcd Version: 3.7.0"
GO = """#!/bin/sh
echo called >> {calls}
while [ "$1" != -o ]; do shift; done
for name in server kube-apiserver kube-controller-manager; do
  printf '#!/bin/sh\\necho "{answer}"\\n' > "$2$name"; chmod +x "$2$name"
done
{end}
"""


class BuildMachine:
    """A machine with a cache, and perhaps with a Go."""

    def __init__(self, folder: Path) -> None:
        self.cache, self._bin, self._calls = folder / "cache", folder / "bin", folder / "calls"
        self._bin.mkdir()
        (self._bin / "nice").symlink_to("/usr/bin/nice")
        self.place = self.cache / "kron" / f"kubernetes-{version()}"

    def get_go(self, answer: str = ANSWER, end: str = "") -> None:
        """Install a Go that makes programs which answer so."""
        text = GO.format(calls=self._calls, answer=answer.format(version=version()), end=end)
        (self._bin / "go").write_text(text, "utf-8")
        (self._bin / "go").chmod(0o755)
        for tool in ("sh", "chmod"):
            (self._bin / tool).symlink_to(f"/bin/{tool}")

    def build(self) -> subprocess.CompletedProcess[str]:
        """Build what is missing."""
        environment = {**os.environ, "PATH": str(self._bin), "XDG_CACHE_HOME": str(self.cache)}
        command = [sys.executable, "-m", "tests.cluster.build"]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    @property
    def calls(self) -> int:
        """How often Go was called."""
        return len(self._calls.read_text("utf-8").splitlines())

    def left(self) -> list[str]:
        """What is in the cache, but for the lock."""
        return sorted(each.name for each in (self.cache / "kron").iterdir() if each.suffix != ".lock")


@pytest.fixture
def machine(tmp_path: Path) -> BuildMachine:
    return BuildMachine(tmp_path)


def test_what_is_built_is_kept_and_not_built_again(machine: BuildMachine) -> None:
    machine.get_go()

    first, second = machine.build(), machine.build()

    assert (first.returncode, second.returncode, machine.calls) == (0, 0, 1)
    assert missing(machine.place) == []
    assert machine.left() == [machine.place.name]


def test_a_program_that_does_not_answer_is_built_again(machine: BuildMachine) -> None:
    machine.get_go()
    machine.build()
    (machine.place / "etcd").write_text("", "utf-8")
    assert missing(machine.place) == ["etcd"]

    machine.build()

    assert (missing(machine.place), machine.calls) == ([], 2)
    assert machine.left() == [machine.place.name]


def test_without_go_it_is_said_that_every_test_is_skipped(machine: BuildMachine) -> None:
    done = machine.build()

    assert done.returncode == 1
    assert "NO CONTROL PLANE, every cluster test is skipped: there is no `go` in PATH" in done.stderr


def test_a_build_that_fails_says_why_and_leaves_nothing(machine: BuildMachine) -> None:
    machine.get_go(end="echo 'no such module' >&2; exit 1")

    done = machine.build()

    assert done.returncode == 1
    assert "no such module" in done.stderr
    assert machine.left() == []


def test_programs_of_another_version_are_not_kept(machine: BuildMachine) -> None:
    machine.get_go(answer="Kubernetes v1.0.0, etcd Version: 3.7.0")

    done = machine.build()

    assert done.returncode == 1
    assert "kube-apiserver, kube-controller-manager" in done.stderr
    assert machine.left() == []


def test_every_program_is_named_by_its_package() -> None:
    module = (ROOT / "tests" / "cluster" / "kubernetes" / "go.mod").read_text("utf-8")

    assert all(f"\t{package}\n" in module for package in PACKAGES.values())


def test_the_page_names_the_versions_that_are_built() -> None:
    page = (ROOT / "docs" / "cluster-tests.md").read_text("utf-8")
    module = (ROOT / "tests" / "cluster" / "kubernetes" / "go.mod").read_text("utf-8")
    found = re.search(r"etcd/server/v3 v(\S+)", module)

    assert found is not None
    assert f"| kube-apiserver, kube-controller-manager | {version()} |" in page
    assert f"| etcd | {found[1]} |" in page

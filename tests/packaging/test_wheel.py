"""Installation with pip: the library alone, then the daemon with its dependencies."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "src", "packaging", "examples")

pytestmark = pytest.mark.slow


class Installation:
    """An environment of its own, with Kron in it."""

    def __init__(self, folder: Path, wheel: Path, extra: str = "") -> None:
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        constraints = str(ROOT / "constraints.txt")
        pip = self.run("python", "-m", "pip", "install", "--quiet", "--constraint", constraints, f"{wheel}{extra}")
        assert pip.returncode == 0, pip.stderr

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, with nothing of the environment of these tests."""
        command = [str(self.folder / "bin" / program), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in SOURCES:  # a copy, so that the build leaves nothing here
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
        else:
            shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(made), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    (path,) = made.iterdir()
    return path


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return Installation(tmp_path_factory.mktemp("bare"), wheel)


@pytest.fixture(scope="module")
def full(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return Installation(tmp_path_factory.mktemp("full"), wheel, "[krond]")


@pytest.fixture(scope="module")
def operator(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return Installation(tmp_path_factory.mktemp("operator"), wheel, "[operator]")


def test_the_library_needs_nothing_else(bare: Installation) -> None:
    done = bare.run("python", "-c", "import kron; print(kron.Schedule('@daily'))")

    assert (done.stdout, done.stderr) == ("Schedule('@daily', timezone='UTC', dialect='extended')\n", "")


@pytest.mark.parametrize(("program", "extra"), [("kron", "cli"), ("krond", "krond"), ("kron-operator", "operator")])
def test_a_command_that_lacks_its_packages_says_how_to_get_them(bare: Installation, program: str, extra: str) -> None:
    done = bare.run(program, "--version")

    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"pip install 'kron-scheduler[{extra}]'" in done.stderr


@pytest.mark.parametrize("program", ["kron", "krond"])
def test_with_its_packages_it_works(full: Installation, program: str) -> None:
    done = full.run(program, "--version")

    assert (done.returncode, done.stderr) == (0, "")


def test_the_installed_example_can_be_run(full: Installation) -> None:
    done = full.run("krond", "check", "--strict", "--config", str(full.folder / "share" / "kron" / "krond.toml"))

    assert (done.returncode, done.stderr) == (0, "")


def test_the_manual_and_the_unit_come_along(full: Installation) -> None:
    found = {str(path.relative_to(full.folder)) for path in (full.folder / "share").rglob("*") if path.is_file()}

    assert found == {
        "share/man/man1/kron.1", "share/man/man5/krond.toml.5",
        "share/man/man8/krond.8", "share/man/man8/kron-operator.8",
        "share/kron/krond.service", "share/kron/user.conf", "share/kron/krond.toml",
    }  # fmt: skip


def test_the_operator_as_its_image_installs_it_prints_what_is_shipped(operator: Installation) -> None:
    done = operator.run("kron-operator", "manifests")

    assert (done.returncode, done.stderr) == (0, "")
    shipped = [(ROOT / "deploy" / name).read_text("utf-8") for name in ("crd.yaml", "operator.yaml")]
    assert done.stdout == "---\n".join(shipped)


def test_a_cluster_can_be_asked_with_the_packages_of_the_operator(operator: Installation) -> None:
    done = operator.run("kron", "k8s", "next", "prod/x", "--kubeconfig", "/nowhere")

    assert done.returncode == 2
    assert done.stderr.startswith("kron: error: /nowhere: ")

"""Installation with pip from what `make dist` builds: the library alone, then the daemon with its dependencies."""

import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from kron._version import __version__
from tests.hosts.krond.krond_process import NEVER, Krond
from tests.packaging.dist import ROOT, build, sources

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


class InstalledKrond(Krond):
    """The krond of an environment, with a job that runs when it is triggered."""

    def __init__(self, installation: Installation, folder: Path) -> None:
        super().__init__(folder, f'[jobs.a]\n{NEVER}\ncommand = "true"\n')
        self.program = str(installation.folder / "bin" / "krond")

    def begin(self) -> subprocess.Popen[str]:
        where = ["--config", str(self.file), "--state", str(self.state), "--listen", "127.0.0.1:0"]
        self.process = subprocess.Popen(
            [self.program, "run", *where, "--log", "json"], stderr=subprocess.PIPE, text=True, cwd="/"
        )
        return self.process


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def wheel(built: list[Path]) -> Path:
    (path,) = (each for each in built if each.suffix == ".whl")
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


def test_two_builds_are_equal_and_give_a_wheel_and_a_source_distribution(built: list[Path]) -> None:
    """`build` compares them byte by byte, and raises if they differ."""
    names = [path.name for path in built]

    assert names == [f"kron_scheduler-{__version__}-py3-none-any.whl", f"kron_scheduler-{__version__}.tar.gz"]


def test_the_source_distribution_has_every_file_of_the_project(built: list[Path]) -> None:
    left_out = {".ci/run", ".git-blame-ignore-revs"}
    (path,) = (each for each in built if each.suffix == ".gz")
    with tarfile.open(path) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}

    assert {str(source) for source in sources()} - names == left_out


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


def test_the_installed_kron_answers(full: Installation) -> None:
    done = full.run("kron", "next", "0 0 29 2 *", "--from", "2026-01-01T00:00:00Z", "--count", "1")

    assert (done.returncode, done.stderr) == (0, "")
    assert "2028-02-29T00:00:00Z" in done.stdout


def test_the_installed_krond_runs_a_job_and_serves_its_page(full: Installation, tmp_path: Path) -> None:
    krond = InstalledKrond(full, tmp_path).start()
    triggered = full.run("krond", "trigger", "a", "--wait", "--state", str(krond.state))
    page = krond.json("status")["listen"]

    krond.signal(signal.SIGTERM)

    assert triggered.returncode == 0
    assert page.startswith("127.0.0.1:")
    assert krond.end() == 0


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

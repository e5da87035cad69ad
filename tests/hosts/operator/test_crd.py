"""deploy/crd.yaml is what `kron-operator crd` prints; `make deploy` writes it."""

import subprocess
import sys
from pathlib import Path

from kron.adapters.kubernetes.manifests import read_manifests
from kron.kronjob.crd import crd
from tests import forked

FILE = Path(__file__).parents[3] / "deploy" / "crd.yaml"


def test_the_command_prints_the_file_that_is_shipped() -> None:
    done = forked.run("kron-operator", "crd")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == FILE.read_bytes().decode()


def test_the_file_says_what_the_rules_say() -> None:
    assert read_manifests(FILE.read_text("utf-8")) == [crd()]


def test_without_its_libraries_the_command_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['yaml'] = None; from kron.entry_points import kron_operator_main; kron_operator_main()"
    )

    done = subprocess.run([sys.executable, "-c", code, "crd"], capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert done.stderr.endswith("pip install 'kron-scheduler[operator]'\n")

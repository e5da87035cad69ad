"""The Helm chart renders to the objects of the plain manifests."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kron._version import __version__
from kron.adapters.kubernetes.manifests import read_manifests
from kron.hosts.operator.commands import operator
from kron.hosts.operator.deployment import REPLICAS, REPOSITORY, RESOURCES, Objects
from tests.packaging.chart import CHART, FOLDER, files
from tests.packaging.go_tools import HELM, ToolMissingError

FILES = files()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_a_file_is_the_one_that_the_code_makes(path: Path) -> None:
    assert path.read_text("utf-8") == FILES[path], "if this is meant, write it down: make deploy"


def test_there_is_no_other_template() -> None:
    there = {path for folder in ("crds", "templates") for path in (CHART / folder).iterdir()}

    assert there == {path for path in FILES if CHART in path.parents}


def test_the_chart_has_the_version_of_the_program() -> None:
    (chart,) = read_manifests((CHART / "Chart.yaml").read_text("utf-8"))

    assert chart["version"] == chart["appVersion"] == __version__


def test_the_values_are_those_of_the_plain_manifests() -> None:
    (values,) = read_manifests((CHART / "values.yaml").read_text("utf-8"))

    assert values == {
        "image": {"repository": REPOSITORY, "tag": "", "pullPolicy": "IfNotPresent"},
        "imagePullSecrets": [],
        "replicas": REPLICAS,
        "namespaced": False,
        "resources": RESOURCES,
        "flags": {},
    }
    schema = json.loads((CHART / "values.schema.json").read_text("utf-8"))
    assert schema["properties"].keys() == {*values, "global"}


def test_the_flags_of_the_values_are_flags_of_the_program() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text("utf-8"))
    options = {name for parameter in operator.commands["run"].params for name in parameter.opts}
    fixed = {"--kubeconfig", "--namespace", "--lease-namespace", "--lease-name", "--listen"}  # the chart says them

    assert {f"--{flag}" for flag in schema["properties"]["flags"]["properties"]} == options - fixed


# --- by Helm itself ---------------------------------------------------------------------------------------------------


def helm() -> str:
    try:
        return HELM.path()
    except ToolMissingError as error:
        pytest.skip(f"the chart was NOT rendered: {error}")


def template(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Render the chart as an installation does."""
    where = ["--namespace", "kron-system", "--kube-version", "1.21.0"]  # Helm takes an older one for granted
    command = [helm(), "template", "any", str(CHART), *where, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def rendered(*arguments: str) -> dict[tuple[str, str], Any]:
    """Return the rendered objects by kind and name."""
    done = template(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return by_name(read_manifests(done.stdout))


def by_name(objects: Objects) -> dict[tuple[str, str], Any]:
    """Return objects by kind and name; Helm has an order of its own."""
    found = {(each["kind"], each["metadata"]["name"]): each for each in objects}
    assert len(found) == len(objects)
    return found


def plain(*names: str) -> dict[tuple[str, str], Any]:
    """Return the objects of plain manifests."""
    return by_name([each for name in names for each in read_manifests((FOLDER / name).read_text("utf-8"))])


@pytest.mark.slow
def test_the_chart_renders_to_the_plain_manifests_without_the_namespace() -> None:
    wanted = plain("crd.yaml", "operator.yaml")
    del wanted["Namespace", "kron-system"]

    assert rendered("--include-crds") == wanted


@pytest.mark.slow
def test_for_one_namespace_it_renders_to_the_plain_manifests_of_that() -> None:
    assert rendered("--set", "namespaced=true") == plain("namespaced.yaml")


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["true", "false"])
def test_the_values_arrive_where_they_belong(mode: str) -> None:
    given = {
        "namespaced": mode == "true",
        "image": {"repository": "registry.example/kron", "tag": "7", "pullPolicy": "Always"},
        "imagePullSecrets": [{"name": "key"}],
        "replicas": 3,
        "resources": {"limits": {"memory": "1Gi"}},
        "flags": {"slack": "45s", "workers": 32, "leader-elect": True},
    }

    found = rendered(*(f"--set-json={key}={json.dumps(value)}" for key, value in given.items()))

    spec = found["Deployment", "kron-operator"]["spec"]
    pod = spec["template"]["spec"]
    (container,) = pod["containers"]
    assert (spec["replicas"], pod["imagePullSecrets"]) == (3, [{"name": "key"}])
    assert (container["image"], container["imagePullPolicy"]) == ("registry.example/kron:7", "Always")
    assert container["resources"] == {**RESOURCES, "limits": {"memory": "1Gi"}}
    flags = ["--listen=0.0.0.0:8080", "--leader-elect=true", "--slack=45s", "--workers=32"]
    assert container["args"] == ["run", *flags]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "field"),
    [
        ("replicas=two", "replicas"),
        ("flags.slack=soon", "slack"),
        ("flags.namespace=prod", "namespace"),
        ("imag.repository=x", "imag"),
        ("image.pullPolicy=Sometimes", "pullPolicy"),
    ],
)
def test_a_wrong_value_is_refused_by_its_name(value: str, field: str) -> None:
    done = template("--set", value)

    assert done.returncode != 0
    assert done.stdout == ""
    assert field in done.stderr


@pytest.mark.slow
def test_helm_finds_nothing_to_say_about_it() -> None:
    done = subprocess.run([helm(), "lint", "--strict", str(CHART)], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout

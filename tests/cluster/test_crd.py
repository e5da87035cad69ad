"""The shipped CRD on a real server: its defaults, its validation and its columns."""

import re
from pathlib import Path
from typing import Any

import pytest

from kron.adapters.kubernetes.manifests import read_manifests
from kron.kronjob.spec_fields import definition_hash
from tests.cluster.client import Document, Refused, path
from tests.cluster.plane import ControlPlane, is_established
from tests.kronjob.kronjob_documents import TEMPLATE, document
from tests.kronjob.test_definition_hash import MATERIALISED

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).parents[2]
NAME = "kronjobs.kron.io"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)


def examples() -> list[Any]:
    """Return every KronJob of the documentation and of the examples, each with where it is from."""
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    texts = [(page, text) for page in pages for text in BLOCK.findall(page.read_text("utf-8"))]
    texts += [(file, file.read_text("utf-8")) for file in ROOT.glob("examples/**/*.yaml")]
    return [
        pytest.param(found, id=f"{source.name}-{found['metadata']['name']}")
        for source, text in texts
        for found in read_manifests(text)
        if isinstance(found, dict) and found.get("kind") == "KronJob"
    ]


def made(plane: ControlPlane, namespace: str, name: str = "db-backup", **spec: Any) -> Document:
    """Create a KronJob, and return what the server keeps."""
    return plane.admin.create(document(name, namespace, **spec))


def refusal(plane: ControlPlane, namespace: str, given: Document, **query: str) -> Refused:
    with pytest.raises(Refused) as found:
        plane.admin.create(given, namespace, **query)
    return found.value


def test_the_shipped_file_is_accepted_and_served(plane: ControlPlane) -> None:
    (shipped,) = read_manifests((ROOT / "deploy" / "crd.yaml").read_text("utf-8"))
    kept = plane.admin.get("CustomResourceDefinition", "", NAME)

    answer = plane.admin.ask(
        "PATCH", path("CustomResourceDefinition", "", NAME), shipped, content="application/merge-patch+json"
    )

    assert is_established(answer)
    assert answer["spec"] == kept["spec"]
    assert not [each for each in answer["status"]["conditions"] if each["type"] == "NonStructuralSchema"]


def test_the_server_keeps_every_rule_of_the_file(plane: ControlPlane) -> None:
    (shipped,) = read_manifests((ROOT / "deploy" / "crd.yaml").read_text("utf-8"))

    kept = plane.admin.get("CustomResourceDefinition", "", NAME)

    assert kept["spec"]["versions"] == shipped["spec"]["versions"]


def test_every_default_is_materialised(plane: ControlPlane, namespace: str) -> None:
    kept = made(plane, namespace)

    limits = {"successfulJobsHistoryLimit": 3, "failedJobsHistoryLimit": 1}
    policy = {**MATERIALISED["policy"], "suspend": False}  # type: ignore[dict-item] # the table is of mixed types
    assert kept["spec"] == {**MATERIALISED, **limits, "policy": policy, "jobTemplate": TEMPLATE}


@pytest.mark.parametrize("given", examples())
def test_every_example_is_accepted_where_unknown_fields_are_errors(
    plane: ControlPlane, namespace: str, given: Document
) -> None:
    metadata = {**given["metadata"], "namespace": namespace}

    kept = plane.admin.create({**given, "metadata": metadata}, fieldValidation="Strict")

    assert definition_hash(kept["spec"]) == definition_hash(given["spec"])


@pytest.mark.parametrize(
    ("field", "spec"),
    [
        ("spec.schedule", {"schedule": None}),
        ("spec.schedule", {"schedule": ""}),
        ("spec.schedule", {"schedule": "TZ=UTC 0 0 * * *"}),
        ("spec.schedule", {"schedule": "0 0 * * * @win(after,1h)"}),
        ("spec.timeZone", {"timeZone": ""}),
        ("spec.gap", {"gap": "jump"}),
        ("spec.repeated", {"repeated": "second"}),
        ("spec.window.mode", {"window": {"mode": "before"}}),
        ("spec.window.duration", {"window": {"duration": "soon"}}),
        ("spec.window.duration", {"window": {"duration": 60}}),
        ("spec.distribution.name", {"distribution": {"name": "pareto"}}),
        ("spec.distribution.params.shape", {"distribution": {"name": "skewEarly", "params": {"shape": "2"}}}),
        ("spec.seed.strategy", {"seed": {"strategy": "hourly"}}),
        ("spec.constraints.only[0]", {"constraints": {"only": [""]}}),
        ("spec.policy.concurrency", {"policy": {"concurrency": "Forbid"}}),
        ("spec.policy.deadline", {"policy": {"deadline": "-1h"}}),
        ("spec.policy.suspend", {"policy": {"suspend": "no"}}),
        ("spec.successfulJobsHistoryLimit", {"successfulJobsHistoryLimit": -1}),
        ("spec.failedJobsHistoryLimit", {"failedJobsHistoryLimit": 2**31}),
        ("spec.jobTemplate", {"jobTemplate": None}),
        ("spec.jobTemplate.spec", {"jobTemplate": {}}),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_wrong_value_is_refused_by_the_name_of_its_field(
    plane: ControlPlane, namespace: str, field: str, spec: dict[str, Any]
) -> None:
    found = refusal(plane, namespace, document(namespace=namespace, **spec))

    assert (found.code, found.reason) == (422, "Invalid")
    assert field in found.message
    assert field in found.fields


@pytest.mark.parametrize(
    ("name", "params", "owners"),
    [
        ("uniform", {"shape": 2}, "skewEarly and skewLate"),
        ("normal", {"lambda": 1}, "exponential"),
        ("uniform", {"dir": "late"}, "exponential"),
        ("skewEarly", {"mu": "mid"}, "normal"),
        ("exponential", {"sigma": "1m"}, "normal"),
    ],
)
def test_a_parameter_of_another_distribution_is_refused(
    plane: ControlPlane, namespace: str, name: str, params: dict[str, Any], owners: str
) -> None:
    given = document(namespace=namespace, distribution={"name": name, "params": params})

    found = refusal(plane, namespace, given)

    assert (found.code, found.fields) == (422, ["spec.distribution"])
    assert f"{next(iter(params))} is a parameter of {owners}" in found.message


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("uniform", {}),
        ("skewEarly", {"shape": 2.5}),
        ("skewLate", {"shape": 1}),
        ("exponential", {"lambda": 3, "dir": "late"}),
        ("normal", {"mu": "mid", "sigma": "1m"}),
    ],
)
def test_its_own_parameters_are_accepted(
    plane: ControlPlane, namespace: str, name: str, params: dict[str, Any]
) -> None:
    kept = made(plane, namespace, distribution={"name": name, "params": params})

    assert kept["spec"]["distribution"] == {"name": name, "params": params}


def test_the_template_and_the_parameters_keep_what_the_schema_does_not_know(
    plane: ControlPlane, namespace: str
) -> None:
    template = {**TEMPLATE, "metadata": {"labels": {"a": "b"}, "new": {"x": [1]}}, "new": {"y": True}}

    kept = made(plane, namespace, jobTemplate=template, distribution={"params": {"new": 1}})

    assert kept["spec"]["jobTemplate"] == template
    assert kept["spec"]["distribution"]["params"] == {"new": 1}


def test_elsewhere_an_unknown_field_is_dropped(plane: ControlPlane, namespace: str) -> None:
    kept = made(plane, namespace, retries=3, window={"duration": "1h", "length": "2h"})

    assert "retries" not in kept["spec"]
    assert kept["spec"]["window"] == {"mode": "after", "duration": "1h"}


def test_strict_validation_refuses_an_unknown_field_by_its_name(plane: ControlPlane, namespace: str) -> None:
    given = document(namespace=namespace, window={"length": "2h"})

    found = refusal(plane, namespace, given, fieldValidation="Strict")

    assert found.code == 400
    assert 'unknown field "spec.window.length"' in found.message


def test_the_columns_are_shown(plane: ControlPlane, namespace: str) -> None:
    made(plane, namespace, timeZone="Europe/Paris")
    status = {"lastOutcome": "executed", "nextChosenTime": "2026-03-01T02:32:20Z", "activeJobs": 1}
    plane.admin.patch("KronJob", namespace, "db-backup", {"status": status}, part="status")

    table = plane.admin.get("KronJob", namespace, "db-backup", accept=TABLE)

    shown = [(each["name"], each["type"], each["priority"]) for each in table["columnDefinitions"]]
    assert shown == [
        ("Name", "string", 0),
        ("Schedule", "string", 0),
        ("Time Zone", "string", 1),
        ("Suspend", "boolean", 0),
        ("Active", "integer", 1),
        ("Last Outcome", "string", 0),
        ("Last", "date", 0),
        ("Next", "string", 0),
        ("Age", "date", 0),
    ]
    cells = table["rows"][0]["cells"]
    assert cells[:6] == ["db-backup", "0 0 * * *", "Europe/Paris", False, 1, "executed"]
    assert cells[7] == "2026-03-01T02:32:20Z"


def test_the_status_is_written_apart_from_the_spec(plane: ControlPlane, namespace: str) -> None:
    first = made(plane, namespace)
    change = {"spec": {"schedule": "1 1 * * *"}, "status": {"definitionHash": "0a"}}

    by_status = plane.admin.patch("KronJob", namespace, "db-backup", change, part="status")
    by_spec = plane.admin.patch("KronJob", namespace, "db-backup", {**change, "status": {"definitionHash": "0b"}})

    assert (by_status["spec"]["schedule"], by_status["status"]) == ("0 0 * * *", {"definitionHash": "0a"})
    assert (by_spec["spec"]["schedule"], by_spec["status"]) == ("1 1 * * *", {"definitionHash": "0a"})
    generations = [each["metadata"]["generation"] for each in (first, by_status, by_spec)]
    assert generations == [1, 1, 2]


def test_a_wrong_outcome_in_the_status_is_refused(plane: ControlPlane, namespace: str) -> None:
    made(plane, namespace)

    with pytest.raises(Refused) as found:
        plane.admin.patch("KronJob", namespace, "db-backup", {"status": {"lastOutcome": "done"}}, part="status")

    assert "status.lastOutcome" in found.value.fields


def test_kubectl_finds_it_by_its_short_name_and_among_all(plane: ControlPlane) -> None:
    (found,) = [
        each for each in plane.admin.ask("GET", "/apis/kron.io/v1alpha1")["resources"] if "/" not in each["name"]
    ]

    assert (found["shortNames"], found["categories"], found["namespaced"]) == (["kj"], ["all"], True)

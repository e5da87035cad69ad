"""The deployment on a real server: every object is accepted unchanged, and its Pods meet the restricted policy."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from kron.adapters.kubernetes.manifests import read_manifests
from kron.decision.decide import decide
from kron.instant import parse_instant
from kron.kronjob.kronjob import KronJob, build_job
from kron.kronjob.parser import parse_kronjob
from tests.cluster.client import MERGE, ClusterClient, Document, Refused, path
from tests.cluster.operator import install, shipped
from tests.cluster.plane import ControlPlane
from tests.cluster.wait import wait_until

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).parents[2]
FILES = ("operator.yaml", "namespaced.yaml")
RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}
STRICT = {"fieldValidation": "Strict"}


def one(objects: list[Document], kind: str) -> Document:
    (found,) = [each for each in objects if each["kind"] == kind]
    return found


@pytest.fixture
def restricted(plane: ControlPlane, namespace: str) -> str:
    """A namespace that enforces the restricted profile, as that of the operator does."""
    plane.admin.patch("Namespace", "", namespace, {"metadata": {"labels": RESTRICTED}})
    return namespace


@pytest.fixture
def in_one_namespace(plane: ControlPlane, namespace: str) -> ClusterClient:
    """The operator's own client, deployed for one namespace."""
    for each in shipped("namespaced.yaml", namespace):
        plane.admin.create(each, **STRICT)
    return plane.client(plane.token(namespace, "kron-operator"))


@pytest.mark.parametrize("name", FILES)
def test_every_object_is_taken_as_it_is(plane: ControlPlane, namespace: str, name: str) -> None:
    for each in shipped(name, namespace):
        kept = _tried(plane.admin, each)

        assert contains(kept, each), f"{each['kind']} is not kept as it was written"


def _tried(admin: ClusterClient, given: Document) -> Document:
    """Return what would be kept; what belongs to the whole cluster may be there from another test."""
    query = {**STRICT, "dryRun": "All"}
    try:
        return admin.create(given, **query)
    except Refused as error:
        if error.reason != "AlreadyExists":
            raise
    metadata = given["metadata"]
    where = path(given["kind"], metadata.get("namespace", ""), metadata["name"])
    return admin.ask("PATCH", where, given, query=query, content=MERGE)


def test_the_namespace_is_taken_as_it_is(plane: ControlPlane) -> None:
    found, *_ = read_manifests((ROOT / "deploy" / "operator.yaml").read_text("utf-8"))

    assert plane.admin.create(found, **STRICT, dryRun="All")["metadata"]["labels"].items() >= RESTRICTED.items()


def contains(kept: Any, given: Any) -> bool:
    """Tell whether what was given is in what was kept, to which the server adds."""
    if isinstance(given, dict):
        return isinstance(kept, dict) and all(key in kept and contains(kept[key], given[key]) for key in given)
    if isinstance(given, list):
        return len(kept) == len(given) and all(map(contains, kept, given))
    return bool(kept == given)


@pytest.mark.parametrize("name", FILES)
def test_the_pods_satisfy_the_restricted_profile(plane: ControlPlane, restricted: str, name: str) -> None:
    objects = shipped(name, restricted)
    install(plane, [each for each in objects if each["kind"] != "Deployment"])
    template = one(objects, "Deployment")["spec"]["template"]
    pod = {"apiVersion": "v1", "kind": "Pod", **template, "metadata": {**template["metadata"], "name": "operator"}}

    plane.admin.create(pod, restricted, **STRICT)

    loose = deepcopy(pod)
    loose["metadata"]["name"] = "loose"
    del loose["spec"]["securityContext"]["runAsNonRoot"]
    with pytest.raises(Refused) as found:
        plane.admin.create(loose, restricted)
    assert "restricted" in found.value.message


def test_for_one_namespace_the_rights_end_at_its_border(namespace: str, in_one_namespace: ClusterClient) -> None:
    assert wait_until(lambda: in_one_namespace.list("KronJob", namespace) == [], what="rights")
    for elsewhere in ("", "default"):
        with pytest.raises(Refused) as found:
            in_one_namespace.list("KronJob", elsewhere)
        assert found.value.code == 403


def test_nothing_but_the_status_of_a_kronjob_can_be_written(
    plane: ControlPlane, namespace: str, in_one_namespace: ClusterClient
) -> None:
    (example,) = read_manifests((ROOT / "examples" / "kronjobs" / "heartbeat.yaml").read_text("utf-8"))
    plane.admin.create(example, namespace)

    kept = in_one_namespace.patch("KronJob", namespace, "heartbeat", {"status": {"activeJobs": 1}}, part="status")

    assert kept["status"] == {"activeJobs": 1}
    for method, where in (("PATCH", "KronJob"), ("DELETE", "KronJob"), ("GET", "Pod")):
        with pytest.raises(Refused) as found:
            in_one_namespace.ask(method, path(where, namespace, "heartbeat"), {} if method != "GET" else None)
        assert found.value.code == 403


@pytest.mark.parametrize("file", sorted((ROOT / "examples" / "kronjobs").iterdir()), ids=lambda file: file.stem)
def test_an_example_is_taken_as_it_is_and_so_is_its_job(plane: ControlPlane, namespace: str, file: Path) -> None:
    (example,) = read_manifests(file.read_text("utf-8"))

    kept = plane.admin.create(example, namespace, **STRICT)

    assert contains(kept, example)
    found = parse_kronjob(kept)
    assert isinstance(found, KronJob)
    decision = decide(found.timing, found.timing.schedule.next(parse_instant("2026-03-01T00:00:00Z")))
    plane.admin.create(build_job(found, decision), **STRICT)

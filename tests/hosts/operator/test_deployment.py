"""The deployment: `kron-operator manifests`, the files of deploy/, and their rights in a cluster."""

import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kron.adapters.kubernetes.manifests import read_manifests
from kron.hosts.operator.commands import operator
from kron.hosts.operator.deployment import Objects, cluster_objects, namespaced_objects
from tests.commands import command_of

FOLDER = Path(__file__).parents[3] / "deploy"
BOTH = pytest.mark.parametrize(
    "objects", [cluster_objects("ns"), namespaced_objects("ns")], ids=["cluster", "namespace"]
)


def printed(*arguments: str) -> Result:
    """Run `kron-operator manifests`."""
    return CliRunner().invoke(operator, ["manifests", *arguments], prog_name="kron-operator", catch_exceptions=False)


def shipped(*names: str) -> bytes:
    """Return files of deploy/ as one stream."""
    return b"---\n".join((FOLDER / name).read_bytes() for name in names)


def one(objects: Objects, kind: str) -> Any:
    """Return the only object of a kind."""
    (found,) = [each for each in objects if each["kind"] == kind]
    return found


def pod(objects: Objects) -> Any:
    """Return the specification of the operator's Pods."""
    return one(objects, "Deployment")["spec"]["template"]["spec"]


# --- what is printed --------------------------------------------------------------------------------------------------


def test_the_command_prints_the_files_that_are_shipped() -> None:
    assert printed().stdout_bytes == shipped("crd.yaml", "operator.yaml")


def test_for_a_namespace_it_prints_the_other_one() -> None:
    assert printed("--namespace", "kron-system").stdout_bytes == shipped("crd.yaml", "namespaced.yaml")


def test_another_namespace_is_the_shipped_text_with_its_name_replaced() -> None:
    found = printed("--namespace", "team-a").stdout_bytes

    assert found == shipped("crd.yaml", "namespaced.yaml").replace(b"kron-system", b"team-a")


def test_another_image_can_be_named() -> None:
    (image,) = re.findall(r"image: (.*)", printed("--image", "registry.example/kron:7").stdout)

    assert image == "registry.example/kron:7"


@pytest.mark.parametrize("namespace", ["", "Prod", "a.b", "-a", "a" * 64, "a\nb"])
def test_a_namespace_that_cannot_be_is_wrong_usage(namespace: str) -> None:
    found = printed("--namespace", namespace)

    assert (found.exit_code, found.stdout) == (2, "")
    assert "--namespace" in found.stderr


# --- what is in it ----------------------------------------------------------------------------------------------------


def test_the_objects_are_those_that_the_page_names() -> None:
    kinds = ["Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"]

    guards = ["PodDisruptionBudget", "NetworkPolicy"]

    assert [each["kind"] for each in cluster_objects()] == [*kinds, "PriorityClass", "Deployment", *guards, "Service"]
    alone = ["ServiceAccount", "Role", "RoleBinding", "Deployment", *guards]
    assert [each["kind"] for each in namespaced_objects()] == alone


@BOTH
def test_everything_has_one_name(objects: Objects) -> None:
    assert {each["metadata"]["name"] for each in objects if each["kind"] != "Namespace"} == {"kron-operator"}


def test_for_one_namespace_every_object_is_in_it() -> None:
    assert {each["metadata"].get("namespace") for each in namespaced_objects("ns")} == {"ns"}


@BOTH
def test_a_namespace_is_written_in_metadata_and_subjects_only(objects: Objects) -> None:
    rest = [{**each, "metadata": None, "subjects": None} for each in objects]

    assert "'ns'" not in str(rest)


def test_the_rights_are_these_and_no_others() -> None:
    objects = cluster_objects()

    assert rights(one(objects, "ClusterRole")) == {
        "kron.io kronjobs": "list watch",
        "kron.io kronjobs/status": "patch",
        "batch jobs": "create delete get list watch",
        " events": "create patch",
    }
    assert rights(one(objects, "Role")) == {
        "coordination.k8s.io leases": "create",
        "coordination.k8s.io leases kron-operator": "get update",
    }


def test_for_one_namespace_the_rights_are_the_same() -> None:
    everywhere = cluster_objects()

    both = rights(one(everywhere, "ClusterRole")) | rights(one(everywhere, "Role"))
    assert rights(one(namespaced_objects(), "Role")) == both


def rights(role: Any) -> dict[str, str]:
    """Return the verbs of a role by what they are about."""
    found = {}
    for rule in role["rules"]:
        assert rule.keys() <= {"apiGroups", "resources", "resourceNames", "verbs"}
        (group,), (resource,) = rule["apiGroups"], rule["resources"]
        found[" ".join([group, resource, *rule.get("resourceNames", [])])] = " ".join(rule["verbs"])
    return found


@BOTH
def test_each_role_is_bound_to_the_account_of_the_pods(objects: Objects) -> None:
    roles = {each["kind"] for each in objects if each["kind"].endswith("Role")}
    bindings = [each for each in objects if each["kind"].endswith("Binding")]

    assert {each["roleRef"]["kind"] for each in bindings} == roles
    account = {"kind": "ServiceAccount", "name": "kron-operator", "namespace": "ns"}
    assert all(each["subjects"] == [account] for each in bindings)
    assert pod(objects)["serviceAccountName"] == one(objects, "ServiceAccount")["metadata"]["name"]


@BOTH
def test_the_pods_satisfy_the_restricted_profile_with_a_read_only_root(objects: Objects) -> None:
    (container,) = pod(objects)["containers"]

    assert pod(objects)["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 10001,
        "runAsGroup": 10001,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
    assert "volumes" not in pod(objects)


@BOTH
def test_two_replicas_are_probed_where_they_listen(objects: Objects) -> None:
    (container,) = pod(objects)["containers"]
    (port,) = container["ports"]

    assert one(objects, "Deployment")["spec"]["replicas"] == 2
    assert container["args"] == ["run", f"--listen=0.0.0.0:{port['containerPort']}"]
    probes = [container[f"{kind}Probe"]["httpGet"] for kind in ("liveness", "readiness")]
    assert probes == [{"path": "/healthz", "port": port["name"]}, {"path": "/readyz", "port": port["name"]}]


def test_the_service_finds_the_pods() -> None:
    objects = cluster_objects()
    labels = one(objects, "Deployment")["spec"]["template"]["metadata"]["labels"]

    assert one(objects, "Service")["spec"]["selector"] == labels
    assert one(objects, "Deployment")["spec"]["selector"]["matchLabels"] == labels


def test_for_one_namespace_the_pods_get_its_name() -> None:
    (container,) = pod(namespaced_objects())["containers"]
    (cluster,) = pod(cluster_objects())["containers"]

    (variable,) = container["env"]
    assert variable["name"] == "KRON_OPERATOR_NAMESPACE"
    assert variable["valueFrom"] == {"fieldRef": {"fieldPath": "metadata.namespace"}}
    assert "env" not in cluster


def test_the_variable_of_the_pods_is_one_that_the_operator_reads() -> None:
    (container,) = pod(namespaced_objects())["containers"]
    subcommand, *rest = container["args"]
    runner = CliRunner(env={container["env"][0]["name"]: "team-a"})

    with runner.isolation():
        context = command_of(operator, subcommand).make_context(subcommand, rest)

    assert context.params["namespaces"] == ("team-a",)


def test_the_files_say_what_the_code_says() -> None:
    assert read_manifests((FOLDER / "operator.yaml").read_text("utf-8")) == cluster_objects()
    assert read_manifests((FOLDER / "namespaced.yaml").read_text("utf-8")) == namespaced_objects()

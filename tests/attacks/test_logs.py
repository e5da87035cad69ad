"""Text of a tenant or a program neither forges nor fills a log, and the deployment needs no external files."""

import asyncio
import io
import json
import sys
from typing import Any

import pytest

from kron.adapters.kubernetes.credentials import CredentialError, ExecConfig, ExecCredential
from kron.hosts.operator.deployment import METRICS, RESTRICTED, cluster_objects, namespaced_objects
from kron.hosts.operator.log import INFO, OperatorLog
from tests.hosts.operator.replica import NOON
from tests.packaging.chart import CHART
from tests.packaging.containerfile import Containerfile

BOTH = pytest.mark.parametrize("objects", [cluster_objects(), namespaced_objects()], ids=["cluster", "namespace"])


def written(**fields: object) -> str:
    stream = io.StringIO()
    OperatorLog(stream, lambda: NOON).write(INFO, "outcome", **fields)
    return stream.getvalue()


# --- logs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", ["\x9b31m", "\x7f", "\u2028{}", "\u2029", "\u202egnp", "\u2066", "\ud800"], ids=ascii)
def test_a_text_that_a_terminal_obeys_is_escaped_and_can_be_read_back(mark: str) -> None:
    line = written(message=f"a{mark}b")

    assert line.rstrip("\n").isascii()
    assert line.rstrip("\n").isprintable()
    assert json.loads(line)["message"] == f"a{mark}b"


def test_other_letters_stay_as_they_are() -> None:
    assert "Zürich 東京" in written(message="Zürich 東京")


def test_a_long_salt_is_cut_in_every_line() -> None:
    line = written(decision={"salt": 1_400_000 * "s", "clauses": [3_000 * "c"]}, name="a")

    found = json.loads(line)
    assert found["decision"] == {
        "salt": f"{2_000 * 's'}… (1,400,000 characters)",
        "clauses": [f"{2_000 * 'c'}… (3,000 characters)"],
    }
    assert found["name"] == "a"


# --- the program that proves who the operator is ----------------------------------------------------------------------

TOKEN = "eyJhbGciOi.secret-of-the-cloud.sig"


def complaint(code: str) -> str:
    command = ExecConfig((sys.executable, "-c", code), (), "client.authentication.k8s.io/v1")
    with pytest.raises(CredentialError) as caught:
        asyncio.run(ExecCredential(command, lambda _certificate, _key: None).authenticate())
    assert caught.value.__cause__ is None
    return str(caught.value).removeprefix(f"credential plugin {sys.executable}: ")


def test_the_error_of_a_credential_plugin_is_one_line_of_200_characters() -> None:
    found = complaint(f"import sys; sys.exit('Traceback\\n  File x\\n\\x1b[31m' + 'no login: ' + {10_000 * 'x'!r})")

    assert found.startswith("exit code 1: \\x1b[31mno login: xxx")
    assert len(found) == len("exit code 1: ") + 200


@pytest.mark.parametrize(
    "code",
    [
        f"import sys; print({TOKEN!r}); sys.exit('cannot use {TOKEN}')",
        f"print({TOKEN!r})",
        f"import json; print(json.dumps({{'status': {{'token': 'a', 'expirationTimestamp': {TOKEN!r}}}}}))",
        f"import json; print(json.dumps({{'status': {{{TOKEN!r}: 'a'}}}}))",
    ],
    ids=["on standard error", "no JSON", "as a time", "as a field"],
)
def test_the_output_of_a_credential_plugin_is_in_no_message(code: str) -> None:
    assert "secret" not in complaint(code)


# --- deployment -------------------------------------------------------------------------------------------------------


def one(objects: list[dict[str, Any]], kind: str) -> Any:
    (found,) = [each for each in objects if each["kind"] == kind]
    return found


@BOTH
def test_only_labelled_namespaces_may_ask_the_listener(objects: list[dict[str, Any]]) -> None:
    spec = one(objects, "NetworkPolicy")["spec"]

    assert spec["podSelector"] == one(objects, "Deployment")["spec"]["selector"]
    assert spec["policyTypes"] == ["Ingress"]
    (rule,) = spec["ingress"]
    assert rule["from"] == [{"namespaceSelector": {"matchLabels": METRICS}}]


@BOTH
def test_the_pods_run_as_a_user_and_start_in_their_own_time(objects: list[dict[str, Any]]) -> None:
    pod = one(objects, "Deployment")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    user = f"USER {pod['securityContext']['runAsUser']}:{pod['securityContext']['runAsGroup']}"

    assert user in Containerfile("deploy/Containerfile").last.splitlines()
    assert container["startupProbe"]["httpGet"] == container["livenessProbe"]["httpGet"]
    assert container["startupProbe"]["periodSeconds"] * container["startupProbe"]["failureThreshold"] == 120


@BOTH
def test_a_drain_evicts_one_replica_at_a_time(objects: list[dict[str, Any]]) -> None:
    spec = one(objects, "PodDisruptionBudget")["spec"]

    assert spec == {"maxUnavailable": 1, "selector": one(objects, "Deployment")["spec"]["selector"]}


def test_pods_without_a_priority_give_way_to_the_operator() -> None:
    objects = cluster_objects()

    found = one(objects, "PriorityClass")
    assert found["value"] > 0
    assert "globalDefault" not in found
    assert one(objects, "Deployment")["spec"]["template"]["spec"]["priorityClassName"] == found["metadata"]["name"]


def test_helm_says_how_its_namespace_gets_the_restricted_profile() -> None:
    (label,) = RESTRICTED.items()

    text = (CHART / "templates" / "NOTES.txt").read_text("utf-8")

    assert f"kubectl label namespace {{{{ .Release.Namespace }}}} {'='.join(label)}" in text


@pytest.mark.parametrize("file", ["deploy/Containerfile", "packaging/Containerfile"])
def test_an_image_is_built_from_a_base_image_by_its_digest(file: str) -> None:
    text = Containerfile(file).text
    stages = [line for line in text.splitlines() if line.startswith("FROM ")]

    assert len(stages) == 2
    assert all("@${DIGEST}" in stage for stage in stages)
    assert "\nARG DIGEST\n" in text  # without a default: no digest, no image
    assert "--build-arg DIGEST=$DIGEST" in text

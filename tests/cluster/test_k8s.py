"""kron k8s on a real server, by a user with few rights."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kron.adapters.kubernetes.manifests import read_manifests
from kron.adapters.system_clock import SystemClock
from kron.decision.decide import decide
from kron.instant import format_instant, parse_instant
from kron.kronjob.kronjob import KronJob, build_job
from kron.kronjob.parser import parse_kronjob
from kron.rules.periods import effective_time
from tests.cli.kron_runner import CommandResult, kron
from tests.cluster.client import Refused
from tests.cluster.conftest import Replicas
from tests.cluster.plane import ControlPlane
from tests.cluster.soon import due_soon
from tests.cluster.wait import wait_until
from tests.kronjob.kronjob_documents import document

pytestmark = pytest.mark.cluster

Ask = Callable[..., CommandResult]
LOOKING = [
    {"apiGroups": ["kron.io"], "resources": ["kronjobs"], "verbs": ["get", "list"]},
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["list"]},
]
EXAMPLES = Path(__file__).parents[2] / "examples" / "kronjobs"
FIRST = "2026-03-01T00:00:00Z"


def account(plane: ControlPlane, namespace: str, name: str, rules: list[dict[str, Any]]) -> Path:
    """Make an account with these rights in a namespace, and return its kubeconfig."""
    rbac = "rbac.authorization.k8s.io"
    plane.admin.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}, namespace)
    role = {"apiVersion": f"{rbac}/v1", "kind": "Role", "metadata": {"name": name}, "rules": rules}
    plane.admin.create(role, namespace)
    binding = {
        "apiVersion": f"{rbac}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": rbac, "kind": "Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
    }
    plane.admin.create(binding, namespace)
    return plane.kubeconfig(plane.token(namespace, name), namespace)


@pytest.fixture
def ask(plane: ControlPlane, namespace: str) -> Ask:
    """`kron k8s` with read access to KronJobs and Jobs of a namespace that has one KronJob."""
    plane.admin.create(document(namespace=namespace, window={"duration": "3h"}))
    config = account(plane, namespace, "looker", LOOKING)

    def asked(*arguments: str) -> CommandResult:
        return kron("k8s", *arguments, "--kubeconfig", str(config))

    wait_until(lambda: asked("next", "db-backup").code == 0, what="rights")
    return asked


def test_a_kronjob_is_foreseen_as_the_library_decides(namespace: str, ask: Ask) -> None:
    answer = ask("explain", f"{namespace}/db-backup", "--at", FIRST, "--json")

    own = parse_kronjob(document(namespace=namespace, window={"duration": "3h"}))
    assert isinstance(own, KronJob)
    assert [answer.json] == ask("next", "db-backup", "--from", "2026-02-28T12:00:00Z", "--count", "1", "--json").json
    assert answer.json["chosen_time"] == decide(own.timing, parse_instant(FIRST)).to_dict()["chosen_time"]


def test_why_believes_neither_a_status_nor_a_job_of_a_time_before_the_creation(
    plane: ControlPlane, namespace: str, ask: Ask
) -> None:
    kept = plane.admin.get("KronJob", namespace, "db-backup")
    owner = parse_kronjob(kept)
    assert isinstance(owner, KronJob)
    plane.admin.create(build_job(owner, decide(owner.timing, parse_instant("2026-03-02T00:00:00Z"))))
    entry = {"periodID": FIRST, "outcome": "skipped", "reason": "ConcurrencyForbid"}
    plane.admin.patch("KronJob", namespace, "db-backup", {"status": {"handledPeriods": [entry]}}, part="status")

    found = [ask("why", "db-backup", "--at", f"2026-03-0{day}T00:00:00Z", "--json") for day in (1, 2, 3)]

    answers = [(answer.code, answer.json["source"], answer.json["outcome"], answer.json["reason"]) for answer in found]
    assert answers == [(1, "computed", None, "BeforeCreation")] * 3


def test_why_knows_what_the_operator_did(plane: ControlPlane, namespace: str, replica: Replicas, ask: Ask) -> None:
    replica().start()
    due = due_soon(SystemClock().now(), namespace)
    asked = ("why", "soon", "--at", format_instant(effective_time(due.first)))
    plane.admin.create(due.document)

    planned = ask(*asked, "--json")
    wait_until(lambda: "lastSuccessfulTime" in plane.admin.get("KronJob", namespace, "soon").get("status", {}))
    done = ask(*asked, "--json")

    assert (planned.code, planned.json["reason"]) == (1, "Planned")
    assert (done.code, done.json["source"], done.json["outcome"]) == (0, "status", "executed")
    assert done.json["job"] in {each["metadata"]["name"] for each in plane.admin.list("Job", namespace)}
    assert ask(*asked).out.splitlines()[0].endswith(", which has succeeded.")


def test_every_example_is_scheduled_for_the_second_that_is_foretold(
    plane: ControlPlane, namespace: str, replica: Replicas, ask: Ask
) -> None:
    replica().start()
    for file in EXAMPLES.iterdir():
        plane.admin.create(read_manifests(file.read_text("utf-8"))[0], namespace)

    wait_until(
        lambda: all("nextChosenTime" in each.get("status", {}) for each in plane.admin.list("KronJob", namespace))
    )

    for each in plane.admin.list("KronJob", namespace):
        foretold = ask("explain", each["metadata"]["name"], "--at", each["status"]["nextNominalTime"], "--json").json
        assert foretold["chosen_time"] == each["status"]["nextChosenTime"]


def test_the_forecast_of_many_comes_page_by_page(plane: ControlPlane, namespace: str, ask: Ask) -> None:
    for number in range(600):
        plane.admin.create(document(f"job-{number}", namespace, schedule="0 * * * *"))

    answer = ask("forecast", "--namespace", namespace, "--span", "1h", "--json")

    assert (answer.code, answer.json["jobs"]) == (0, 601)
    assert answer.json["runs"] >= 600


def test_what_is_in_the_way_is_one_line(namespace: str, ask: Ask) -> None:
    missing = ask("next", "nothing")
    elsewhere = ask("next", "default/db-backup")
    everywhere = ask("forecast")

    assert missing.err == f"kron: error: there is no KronJob {namespace}/nothing\n"
    for refused in (elsewhere, everywhere):
        assert refused.err.startswith("kron: error: the API server says no: kronjobs.kron.io ")
        assert refused.err.count("\n") == 1
    assert {answer.code for answer in (missing, elsewhere, everywhere)} == {2}


@pytest.mark.usefixtures("ask")
def test_without_the_right_to_see_jobs_the_status_answers(plane: ControlPlane, namespace: str) -> None:
    config = account(plane, namespace, "reader", LOOKING[:1])
    wait_until(lambda: kron("k8s", "next", "db-backup", "--kubeconfig", str(config)).code == 0, what="rights")

    answer = kron("k8s", "why", "db-backup", "--at", FIRST, "--json", "--kubeconfig", str(config))

    assert (answer.code, answer.json["reason"]) == (1, "BeforeCreation")


def test_an_unknown_token_is_refused(plane: ControlPlane, namespace: str) -> None:
    config = plane.kubeconfig("unprivileged", namespace)

    answer = kron("k8s", "next", "db-backup", "--kubeconfig", str(config))

    assert answer.code == 2
    assert answer.err.startswith("kron: error: the API server says no: Unauthorized: the token or certificate")


def test_what_is_not_defined_is_answered_without_a_name(plane: ControlPlane, namespace: str) -> None:
    with pytest.raises(Refused) as unknown:
        plane.admin.ask("GET", f"/apis/unknown.example/v1/namespaces/{namespace}/kronjobs/db-backup")
    with pytest.raises(Refused) as missing:
        plane.admin.get("KronJob", namespace, "db-backup")

    assert unknown.value.code == missing.value.code == 404
    assert '"db-backup"' in missing.value.message
    assert '"db-backup"' not in unknown.value.message

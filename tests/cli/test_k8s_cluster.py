"""kron k8s next, explain, why, validate and forecast of a cluster: what is asked of it, and what is said."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kron.decision.decide import decide
from kron.instant import parse_instant
from kron.rules.kronjob.child import job_of
from tests.cli.api_server import JOBS, KRONJOBS, ApiServer, listed, status
from tests.cli.manifests import GOOD, written
from tests.cli.runner import kron
from tests.rules.kronjob.world import document, kronjob

FIRST, CHOSEN = "2026-03-01T00:00:00Z", "2026-03-01T02:32:20Z"
FORBIDDEN = 'kronjobs.kron.io is forbidden: User "me" cannot get resource "kronjobs"'


def resource(name: str = "db-backup", namespace: str = "prod", **spec: Any) -> dict[str, Any]:
    """Return a KronJob as a server has it, with an execution in its status."""
    found = document(name, namespace, **(GOOD | spec))
    found["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    entry = {"periodID": FIRST, "chosenTime": CHOSEN, "outcome": "executed", "reason": ""}
    found["status"] = {"definitionHash": "x", "handledPeriods": [entry]}
    return found


@pytest.fixture
def api(tmp_path: Path) -> Iterator[ApiServer]:
    """A server with one KronJob."""
    server = ApiServer(tmp_path).holds(resource())
    with server.serving():
        yield server


# --- what is said -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [("next", "--from", FIRST, "--count", "3"), ("explain", "--at", FIRST)])
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_a_kronjob_of_a_cluster_is_foreseen_like_one_of_a_file(
    api: ApiServer, tmp_path: Path, command: tuple[str, ...], form: tuple[str, ...]
) -> None:
    asked = (command[0], "prod/db-backup", *command[1:], *form)

    answer = api.kron(*asked)

    assert (answer.code, answer.err) == (0, "")
    assert answer.out == kron("k8s", *asked, "-f", written(tmp_path, resource())).out
    assert "2026-03-0" in answer.out


def test_a_name_alone_is_looked_for_in_the_namespace_of_the_context(api: ApiServer) -> None:
    assert api.kron("explain", "db-backup", "--json").json["identity"] == "prod/db-backup"


def test_another_context_has_another_namespace(api: ApiServer) -> None:
    answer = api.kron("next", "db-backup", "--context", "there")

    assert answer.err == "kron: error: there is no KronJob other/db-backup\n"


def test_of_a_suspended_one_it_is_said_that_nothing_starts(api: ApiServer) -> None:
    api.holds(resource(policy={"suspend": True}))

    answer = api.kron("next", "prod/db-backup", "--json")

    assert (answer.code, len(answer.json)) == (0, 10)
    assert answer.err == "kron: prod/db-backup is suspended: nothing is started until that ends\n"


def test_why_is_one_object_for_scripts(api: ApiServer) -> None:
    answer = api.kron("why", "prod/db-backup", "--at", CHOSEN, "--json")

    assert (answer.code, answer.err) == (0, "")
    assert answer.json == {
        "identity": "prod/db-backup",
        "period_id": FIRST,
        "nominal_time": FIRST,
        "chosen_time": CHOSEN,
        "outcome": "executed",
        "reason": "",
        "source": "status",
        "job": answer.json["job"],
    }


def test_why_is_a_sentence_and_the_steps_for_people(api: ApiServer) -> None:
    answer = api.kron("why", "prod/db-backup", "--at", "2026-03-01 00:00")

    first, blank, *rest = answer.out.splitlines()
    assert first.startswith(f"Yes: the period {FIRST}, due at {CHOSEN}, was executed by the Job db-backup-")
    assert (blank, rest[0]) == ("", f"Period {FIRST}")
    assert [line.split()[0] for line in rest[1:] if not line.startswith(" " * 6)] == [
        "cron", "nominal", "window", "chosen", "policy", "outcome", "job", "told",
    ]  # fmt: skip


def test_a_job_that_is_there_tells_of_its_period(api: ApiServer) -> None:
    owner = kronjob(**GOOD)
    second = decide(owner.timing, parse_instant("2026-03-02T00:00:00Z"))
    api.holds(resource(), jobs=(job_of(owner, second),))

    answer = api.kron("why", "prod/db-backup", "--at", "2026-03-02T00:00:00Z", "--json")

    assert (answer.code, answer.json["source"], answer.json["outcome"]) == (0, "job", "executed")
    assert answer.json["job"] == job_of(owner, second)["metadata"]["name"]


def test_what_did_not_run_is_a_no(api: ApiServer) -> None:
    answer = api.kron("why", "prod/db-backup", "--at", "2026-03-03T00:00:00Z", "--json")

    assert (answer.code, answer.json["outcome"], answer.json["source"]) == (1, None, "computed")


def test_who_may_not_see_jobs_is_told_what_the_status_says(api: ApiServer) -> None:
    api.says(f"{JOBS}/namespaces/prod/jobs", status(403, "jobs.batch is forbidden"), code=403)

    answer = api.kron("why", "prod/db-backup", "--at", CHOSEN)

    assert answer.code == 0
    assert "gone" not in answer.out


def test_the_forecast_is_that_of_all_kronjobs_that_run(api: ApiServer) -> None:
    every: dict[str, Any] = {"schedule": "* * * * *", "window": {}}
    asleep = resource("asleep", **every, policy={"suspend": True})
    api.holds(*(resource(name, namespace, **every) for name in "ab" for namespace in ("x", "y")), asleep)

    answer = api.kron("forecast", "--span", "10m", "--json")

    assert (answer.code, answer.err) == (0, "")
    assert (answer.json["jobs"], answer.json["runs"]) == (5, 40)
    assert answer.json["collisions"][0]["identities"] == ["x/a", "x/b", "y/a", "y/b"]
    assert api.kron("forecast", "--span", "10m").out.endswith("not counted, because suspended or invalid: 1\n")


def test_the_forecast_of_a_namespace_asks_for_no_other(api: ApiServer) -> None:
    answer = api.kron("forecast", "--namespace", "prod", "--json")

    assert (answer.code, answer.json["runs"]) == (0, 1)
    assert [path for _, path, _ in api.asked] == [f"{KRONJOBS}/namespaces/prod/kronjobs"]


def test_what_is_invalid_is_told_and_not_counted(api: ApiServer) -> None:
    api.holds(resource(), resource("bad", timeZone="Mars", gap="x"))

    answer = api.kron("forecast", "--json")

    assert (answer.code, answer.json["jobs"], answer.json["runs"]) == (0, 2, 1)
    assert answer.err.startswith("cluster: prod/bad: error: spec.timeZone: ")
    assert api.kron("validate").code == 1
    assert api.kron("validate").err == answer.err
    assert api.kron("validate", "prod/db-backup").code == 0
    assert api.kron("next", "prod/bad").err == answer.err
    assert api.kron("next", "prod/bad").code == 2


# --- what is asked ----------------------------------------------------------------------------------------------------


def test_only_what_is_needed_is_asked_for_and_nothing_is_written(api: ApiServer) -> None:
    for command in (("next",), ("explain",), ("why", "--at", CHOSEN), ("validate",)):
        api.kron(command[0], "prod/db-backup", *command[1:])

    own: tuple[str, str, dict[str, str]] = ("GET", f"{KRONJOBS}/namespaces/prod/kronjobs/db-backup", {})
    selector = {"labelSelector": "app.kubernetes.io/managed-by=kron-operator,kron.io/kronjob=db-backup"}
    assert api.asked == [own, own, own, ("GET", f"{JOBS}/namespaces/prod/jobs", selector), own]


def test_many_are_asked_for_page_by_page(api: ApiServer) -> None:
    path = f"{KRONJOBS}/kronjobs"
    api.says(path, listed(resource("a"), more="on"), listed(resource("b")))

    answer = api.kron("forecast", "--json")

    assert answer.json["jobs"] == 2
    assert [query for _, _, query in api.asked] == [{"limit": "500"}, {"limit": "500", "continue": "on"}]


# --- what is in the way -----------------------------------------------------------------------------------------------

COMMANDS = [("next", "prod/x"), ("explain", "prod/x"), ("why", "prod/x", "--at", CHOSEN), ("validate", "prod/x")]
ALL = [*COMMANDS, ("forecast",), ("validate",)]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_kronjob_that_is_not_there_is_named(api: ApiServer, command: tuple[str, ...]) -> None:
    answer = api.kron(*command)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err == "kron: error: there is no KronJob prod/x\n"


@pytest.mark.parametrize("command", ALL, ids=" ".join)
def test_a_cluster_without_the_definition_is_told_apart(api: ApiServer, command: tuple[str, ...]) -> None:
    api.answers.clear()

    answer = api.kron(*command)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("kron: error: the cluster knows no KronJobs: ")
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize("command", ALL, ids=" ".join)
def test_missing_rights_are_said_in_the_words_of_the_server(api: ApiServer, command: tuple[str, ...]) -> None:
    for path in (f"{KRONJOBS}/kronjobs", f"{KRONJOBS}/namespaces/prod/kronjobs/x"):
        api.says(path, status(403, FORBIDDEN), code=403)

    answer = api.kron(*command)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err == f"kron: error: the API server says no: {FORBIDDEN}\n"


@pytest.mark.parametrize("command", ALL, ids=" ".join)
def test_a_server_that_is_not_there_is_named(tmp_path: Path, command: tuple[str, ...]) -> None:
    server = ApiServer(tmp_path)
    server.reached_at("http://127.0.0.1:1")

    answer = server.kron(*command)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("kron: error: API server http://127.0.0.1:1: ")
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize("command", ALL, ids=" ".join)
def test_a_kubeconfig_that_cannot_be_read_is_named(tmp_path: Path, command: tuple[str, ...]) -> None:
    answer = kron("k8s", *command, "--kubeconfig", str(tmp_path / "none"))

    assert (answer.code, answer.out) == (2, "")
    assert str(tmp_path / "none") in answer.err
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize("name", ["", "/", "prod/", "/x", "a/b/c", "Prod/x", "prod/X", "prod/x y", "..", "a" * 254])
def test_a_name_that_cannot_be_is_wrong_usage(api: ApiServer, name: str) -> None:
    answer = api.kron("why", name, "--at", CHOSEN)

    assert answer.code == 2
    assert "must be a namespace and a name, such as prod/db-backup" in answer.err
    assert api.asked == []


@pytest.mark.parametrize("command", [("next",), ("explain",)], ids=lambda command: command[0])
def test_without_a_name_and_without_a_file_it_is_said_what_is_missing(api: ApiServer, command: tuple[str]) -> None:
    answer = api.kron(*command)

    assert answer.code == 2
    assert "name a KronJob of the cluster, such as prod/db-backup, or give -f FILE" in answer.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("why", "prod/x"), "--at"),
        (("why", "prod/db-backup", "--at", "soon"), "soon"),
        (("forecast", "--span", "soon"), "soon"),
        (("forecast", "--namespace", "A/B"), "A/B"),
        (("validate", "prod/x", "-f", "x.yaml"), "either"),
    ],
)
def test_what_cannot_be_asked_is_wrong_usage(api: ApiServer, arguments: tuple[str, ...], words: str) -> None:
    answer = api.kron(*arguments)

    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err


def test_without_its_library_the_command_says_what_to_install() -> None:
    code = "import sys; sys.modules['aiohttp'] = None; from kron.hosts.cli.main import main; main()"

    done = subprocess.run(
        [sys.executable, "-c", code, "k8s", "next", "prod/x"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 2
    assert done.stderr.endswith("pip install 'kron-scheduler[operator]'\n")


def test_a_second_of_the_cluster_is_that_of_the_library(api: ApiServer) -> None:
    answer = api.kron("explain", "prod/db-backup", "--at", CHOSEN, "--json")

    decided = decide(kronjob(**GOOD).timing, parse_instant(FIRST))
    assert answer.json == json.loads(decided.to_json())

"""kron k8s next, explain, why, validate and forecast of a cluster: the requests and the output."""

import json
from pathlib import Path
from typing import Any

import pytest

from kron.decision.decide import decide
from kron.instant import parse_instant
from kron.kronjob.kronjob import build_job
from tests.cli.api_server import JOBS, KRONJOBS, ApiServer, listed, status
from tests.cli.kron_runner import kron
from tests.cli.manifests import CHOSEN, FIRST, GOOD, resource, written
from tests.kronjob.kronjob_documents import kronjob

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


def test_a_suspended_kronjob_is_said_to_start_nothing(api: ApiServer) -> None:
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
        "cron", "nominal", "window", "chosen", "policy", "outcome", "job", "source",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"lastPeriodID": "2026-03-04T00:00:00Z", "count": 4}, f"one of an outage, from {FIRST} until 2026-03-04T00:0"),
        ({"chosenTime": "2026-03-01T01:00:00Z"}, "recorded, by an earlier definition: 2026-03-01T01:00:00Z"),
        ({"periodID": "2026-03-01T00:07:00Z"}, "by an earlier definition; the present one has no such period"),
    ],
    ids=["outage", "another second", "another schedule"],
)
def test_all_known_facts_of_a_period_are_shown(api: ApiServer, entry: dict[str, Any], words: str) -> None:
    found = resource()
    found["status"]["handledPeriods"] = [{"periodID": FIRST, "outcome": "missed", **entry}]
    api.holds(found)

    answer = api.kron("why", "prod/db-backup", "--at", found["status"]["handledPeriods"][0]["periodID"])

    assert answer.code == 1
    assert words in answer.out


def test_an_existing_job_gives_the_outcome_of_its_period(api: ApiServer) -> None:
    owner = kronjob(**GOOD)
    second = decide(owner.timing, parse_instant("2026-03-02T00:00:00Z"))
    api.holds(resource(), jobs=(build_job(owner, second),))

    answer = api.kron("why", "prod/db-backup", "--at", "2026-03-02T00:00:00Z", "--json")

    assert (answer.code, answer.json["source"], answer.json["outcome"]) == (0, "job", "executed")
    assert answer.json["job"] == build_job(owner, second)["metadata"]["name"]


def test_a_period_that_did_not_run_exits_with_1(api: ApiServer) -> None:
    answer = api.kron("why", "prod/db-backup", "--at", "2026-03-03T00:00:00Z", "--json")

    assert (answer.code, answer.json["outcome"], answer.json["source"]) == (1, None, "computed")


def test_a_user_without_access_to_jobs_gets_what_the_status_says(api: ApiServer) -> None:
    api.says(f"{JOBS}/namespaces/prod/jobs", status(403, "jobs.batch is forbidden"), code=403)

    answer = api.kron("why", "prod/db-backup", "--at", CHOSEN)

    assert answer.code == 0
    assert "gone" not in answer.out


EVERY: dict[str, Any] = {"schedule": "* * * * *", "window": {}}  # as many at any time of the day


def test_the_forecast_is_that_of_all_kronjobs_that_run(api: ApiServer) -> None:
    asleep = resource("asleep", **EVERY, policy={"suspend": True})
    api.holds(*(resource(name, namespace, **EVERY) for name in "ab" for namespace in ("x", "y")), asleep)

    answer = api.kron("forecast", "--span", "10m", "--json")

    assert (answer.code, answer.err) == (0, "")
    assert (answer.json["jobs"], answer.json["runs"]) == (5, 40)
    assert answer.json["collisions"][0]["identities"] == ["x/a", "x/b", "y/a", "y/b"]
    assert api.kron("forecast", "--span", "10m").out.endswith("not counted, because suspended or invalid: 1\n")


def test_the_forecast_of_a_namespace_asks_for_no_other(api: ApiServer) -> None:
    api.holds(resource(**EVERY))

    answer = api.kron("forecast", "--namespace", "prod", "--span", "10m", "--json")

    assert (answer.code, answer.json["runs"]) == (0, 10)
    assert [path for _, path, _ in api.asked] == [f"{KRONJOBS}/namespaces/prod/kronjobs"]


def test_an_invalid_kronjob_is_reported_and_not_counted(api: ApiServer) -> None:
    api.holds(resource(**EVERY), resource("bad", timeZone="Mars", gap="x"))

    answer = api.kron("forecast", "--span", "10m", "--json")

    assert (answer.code, answer.json["jobs"], answer.json["runs"]) == (0, 2, 10)
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


def test_a_second_of_the_cluster_is_that_of_the_library(api: ApiServer) -> None:
    answer = api.kron("explain", "prod/db-backup", "--at", CHOSEN, "--json")

    decided = decide(kronjob(**GOOD).timing, parse_instant(FIRST))
    assert answer.json == json.loads(decided.to_json())

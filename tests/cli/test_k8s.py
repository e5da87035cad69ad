"""kron k8s validate, next and explain: KronJobs from their manifests, without a cluster."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.kron_runner import kron
from tests.cli.manifests import GOOD, good, written
from tests.kronjob.kronjob_documents import document


def test_a_good_manifest_is_silent(tmp_path: Path) -> None:
    answer = kron("k8s", "validate", "-f", good(tmp_path, "db-backup"))

    assert (answer.code, answer.out, answer.err) == (0, "", "")


def test_every_error_of_every_document_is_reported(tmp_path: Path) -> None:
    file = written(tmp_path, document(timeZone="Mars", gap="x"), document(name="other", schedule="x"))

    answer = kron("k8s", "validate", "-f", file)

    assert answer.code == 1
    lines = answer.err.splitlines()
    assert lines[0].startswith(f"{file}: document 1: prod/db-backup: error: spec.timeZone: must be an IANA time zone")
    assert lines[1].startswith(f"{file}: document 1: prod/db-backup: error: spec.gap: must be one of skip, shift")
    assert lines[2].startswith(f"{file}: document 2: prod/other: error: spec.schedule: ")
    assert len(lines) == 3


def test_findings_are_an_array_for_scripts(tmp_path: Path) -> None:
    file = written(tmp_path, document(timeZone="Europe/Pari"))

    answer = kron("k8s", "validate", "--json", "-f", file)

    assert answer.code == 1
    assert answer.json == [
        {
            "file": file,
            "document": 1,
            "name": "prod/db-backup",
            "field": "spec.timeZone",
            "message": answer.json[0]["message"],
            "severity": "error",
        }
    ]


TTL: dict[str, Any] = {"jobTemplate": {"spec": {"ttlSecondsAfterFinished": 59}}}
NAMED: dict[str, Any] = {"jobTemplate": {"metadata": {"labels": {}, "name": "mine", "uid": None}, "spec": {}}}
CLOCKS = {"schedule": "30 2 * * *", "timeZone": "Europe/Paris"}


@pytest.mark.parametrize(
    ("spec", "warning"),
    [
        ({"policy": {}}, "warning: spec.policy.deadline: is 0s"),
        (GOOD | TTL, "warning: spec.jobTemplate.spec.ttlSecondsAfterFinished: 59 is below 60"),
        (GOOD | NAMED, "warning: spec.jobTemplate.metadata.name: is ignored"),
        (GOOD | {"schedule": "0 * * * *"}, "warning: spec.window.duration: 3h is longer than"),
        (GOOD | CLOCKS, "it runs both times; write repeated: first to run once"),
        (GOOD | {"windw": {}}, "warning: spec.windw: is unknown"),
        (GOOD | {"policy": {"deadlin": "1h", "deadline": "1h"}}, "warning: spec.policy.deadlin: is unknown"),
    ],
)
def test_a_definition_that_is_unlikely_to_be_intended_is_a_warning(
    tmp_path: Path, spec: dict[str, Any], warning: str
) -> None:
    answer = kron("k8s", "validate", "-f", written(tmp_path, document(**spec)))

    assert answer.code == 0
    assert warning in answer.err
    assert "TOML" not in answer.err


def test_a_template_may_say_the_name_of_its_kronjob_as_kubectl_writes_it(tmp_path: Path) -> None:
    given = document(jobTemplate={"metadata": {"name": "db-backup", "creationTimestamp": None}, "spec": {}})

    answer = kron("k8s", "validate", "-f", written(tmp_path, given))

    assert "is ignored" not in answer.err


def test_a_short_ttl_without_a_deadline_is_harmless(tmp_path: Path) -> None:
    answer = kron("k8s", "validate", "-f", written(tmp_path, document(**TTL)))

    assert "ttlSecondsAfterFinished" not in answer.err


def test_documents_of_other_kinds_are_passed_over(tmp_path: Path) -> None:
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}

    answer = kron("k8s", "validate", "-f", written(tmp_path, other, document(**GOOD)))

    assert (answer.code, answer.err) == (0, "")


def test_a_file_without_a_kronjob_is_worth_a_word(tmp_path: Path) -> None:
    file = written(tmp_path, {"apiVersion": "v1", "kind": "ConfigMap"})

    answer = kron("k8s", "validate", "-f", file)

    assert (answer.code, answer.err) == (0, f"{file}: warning: file: has no KronJob\n")


def test_a_kind_that_is_misspelled_is_an_error(tmp_path: Path) -> None:
    answer = kron("k8s", "validate", "-f", written(tmp_path, {**document(**GOOD), "kind": "Kronjob"}))

    assert answer.code == 1
    assert 'error: kind: must be KronJob, found "Kronjob"' in answer.err


def test_the_items_of_a_list_are_documents(tmp_path: Path) -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": [document(**GOOD), document(gap="x")]}

    answer = kron("k8s", "validate", "-f", written(tmp_path, listed))

    assert answer.code == 1
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"a: [1", "line 1: "),
        (b"\xff", "is not UTF-8 at byte 0"),
        (b"- 1", "a document must be an object"),
        (None, "cannot be read: No such file or directory"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, data: bytes | None, reason: str) -> None:
    file = tmp_path / "x.yaml"
    if data is not None:
        file.write_bytes(data)

    answer = kron("k8s", "validate", "-f", str(file))

    assert answer.code == 2
    assert answer.err.startswith(f"{file}: error: file: {reason}")


def test_standard_input_is_a_file() -> None:
    answer = kron("k8s", "validate", "-f", "-", stdin=json.dumps(document(gap="x")))

    assert answer.code == 1


def test_next_prints_what_next_of_the_same_line_prints(tmp_path: Path) -> None:
    asked = ("--from", "2026-02-28T12:00:00Z", "--count", "3", "--json")
    line = "0 0 * * * @win(after,3h) @seed(stable,salt=backup)"

    answer = kron("k8s", "next", "-f", good(tmp_path, "db-backup"), *asked)

    assert answer.code == 0
    assert answer.out == kron("next", line, "--identity", "prod/db-backup", *asked).out
    assert answer.json[0]["chosen_time"] == "2026-03-01T02:32:20Z"


def test_next_of_several_is_one_list_by_chosen_time(tmp_path: Path) -> None:
    answer = kron("k8s", "next", "-f", good(tmp_path, "a", "b"), "--count", "2", "--json")

    chosen = [row["chosen_time"] for row in answer.json]
    assert len(chosen) == 4
    assert chosen == sorted(chosen)


def test_next_can_be_asked_for_one_of_several(tmp_path: Path) -> None:
    answer = kron("k8s", "next", "prod/b", "-f", good(tmp_path, "a", "b"), "--count", "1", "--json")

    assert [row["identity"] for row in answer.json] == ["prod/b"]


def test_explain_gives_one_object_of_next(tmp_path: Path) -> None:
    file = good(tmp_path, "db-backup")

    answer = kron("k8s", "explain", "-f", file, "--at", "2026-03-01T12:00:00Z", "--json")

    asked = ("--from", "2026-02-28T12:00:00Z", "--count", "1", "--json")
    assert [answer.json] == kron("k8s", "next", "-f", file, *asked).json


def test_explain_shows_the_steps(tmp_path: Path) -> None:
    answer = kron("k8s", "explain", "-f", good(tmp_path, "db-backup"), "--at", "2026-03-01T12:00:00Z")

    assert answer.code == 0
    assert 'SHA-256 of  "prod/db-backup\\n2026-03-01T00:00:00Z\\nbackup"' in answer.out
    assert "2026-03-01T02:32:20Z" in answer.out


def test_a_window_around_a_period_begins_before_it(tmp_path: Path) -> None:
    file = written(tmp_path, document(window={"mode": "around", "duration": "2h"}))

    answer = kron("k8s", "explain", "-f", file, "--at", "2026-02-28T23:30:00Z", "--json")

    assert answer.json["period_id"] == "2026-03-01T00:00:00Z"


@pytest.mark.parametrize("command", ["next", "explain"])
def test_wrong_kronjobs_and_wrong_names_are_wrong_usage(tmp_path: Path, command: str) -> None:
    wrong = kron("k8s", command, "-f", written(tmp_path, document(gap="x")))
    unknown = kron("k8s", command, "prod/c", "-f", good(tmp_path, "a", "b"))
    twice = kron("k8s", command, "-f", good(tmp_path, "a", "a"))

    assert [answer.code for answer in (wrong, unknown, twice)] == [2, 2, 2]
    assert "spec.gap: must be one of skip, shift" in wrong.err
    assert "there is prod/a, prod/b" in unknown.err


def test_explain_asks_which_one_is_meant(tmp_path: Path) -> None:
    answer = kron("k8s", "explain", "-f", good(tmp_path, "a", "b"))

    assert answer.code == 2
    assert "name one of prod/a, prod/b" in answer.err


def test_without_its_library_the_command_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['yaml'] = None; from kron.entry_points import kron_main; kron_main()"
    command = [sys.executable, "-c", code, "k8s", "validate", "-f", good(tmp_path, "a")]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert "pip install 'kron-scheduler[operator]'" in done.stderr

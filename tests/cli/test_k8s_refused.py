"""kron k8s of a cluster: each failure is one clear line."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.api_server import KRONJOBS, ApiServer, status
from tests.cli.kron_runner import kron
from tests.cli.manifests import CHOSEN

FORBIDDEN = 'kronjobs.kron.io is forbidden: User "me" cannot get resource "kronjobs"'
COMMANDS = [("next", "prod/x"), ("explain", "prod/x"), ("why", "prod/x", "--at", CHOSEN), ("validate", "prod/x")]
ALL = [*COMMANDS, ("forecast",), ("validate",)]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_kronjob_that_is_not_there_is_named(api: ApiServer, command: tuple[str, ...]) -> None:
    answer = api.kron(*command)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err == "kron: error: there is no KronJob prod/x\n"


@pytest.mark.parametrize("command", ALL, ids=" ".join)
def test_a_cluster_without_the_definition_has_an_error_of_its_own(api: ApiServer, command: tuple[str, ...]) -> None:
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
def test_an_invalid_question_is_wrong_usage(api: ApiServer, arguments: tuple[str, ...], words: str) -> None:
    answer = api.kron(*arguments)

    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err


def test_without_its_library_the_command_says_what_to_install() -> None:
    code = "import sys; sys.modules['aiohttp'] = None; from kron.entry_points import kron_main; kron_main()"

    done = subprocess.run(
        [sys.executable, "-c", code, "k8s", "next", "prod/x"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 2
    assert done.stderr.endswith("pip install 'kron-scheduler[operator]'\n")


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00Z", "9999-12-31T00:00:00Z", "9999-12-31T23:59:59Z"])
@pytest.mark.parametrize("command", ["why", "explain"])
def test_the_ends_of_the_calendar_are_no_failure(api: ApiServer, command: str, at: str) -> None:
    answer = api.kron(command, "prod/db-backup", "--at", at)

    assert answer.code in (0, 1, 2)
    assert "Traceback" not in answer.err
    assert answer.out or answer.err.startswith("kron: error: ")

"""--host and --machine: the meaning of {host} and {machine} in files of another host."""

import os
from pathlib import Path

import pytest

from tests.cli.fleet_files import COMMANDS, DAY, MACHINE, NEXT, SALTED, ask, seconds
from tests.cli.kron_runner import CommandResult, kron


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "jobs.kron"
    path.write_text(SALTED)
    return str(path)


def salts(answer: CommandResult) -> list[str]:
    assert answer.code == 0, answer.err
    return [row["salt"] for row in answer.json]


def test_host_says_what_the_word_in_braces_is(file: str) -> None:
    assert salts(kron("feed", file, *DAY, "--host", "web7")) == ["web7"]
    assert salts(kron("next", "--file", file, *NEXT, "--json", "--host", "web7")) == ["web7"]


def test_machine_says_what_the_word_in_braces_is(tmp_path: Path) -> None:
    path = tmp_path / "jobs.kron"
    path.write_text(MACHINE)

    answer = kron("feed", str(path), *DAY, "--host", "web7", "--machine", "abc")

    assert (salts(answer), answer.err) == (["abc"], "")


def test_a_forecast_of_another_host_is_another_one(file: str) -> None:
    one, other = (kron("forecast", file, *DAY, "--json", "--host", name) for name in ("web1", "web2"))

    assert (one.code, other.code) == (0, 0)
    assert one.json["chosen"]["second"] != other.json["chosen"]["second"]


def test_a_plan_of_another_host_moves_its_runs(file: str, tmp_path: Path) -> None:
    new = tmp_path / "new.kron"
    new.write_text(SALTED.replace("2h", "1h"))
    before = seconds(kron("feed", file, *DAY, "--host", "web7"))

    answer = kron("plan", file, str(new), *DAY, "--json", "--host", "web7")

    assert (answer.code, answer.err) == (0, "")
    assert [move["from"] for move in answer.json["move"]] == before


def test_tune_leaves_the_jobs_of_another_host_alone_as_those_of_this_one(file: str) -> None:
    answer = kron("tune", file, "--budget", "1", "--from", DAY[1], "--to", "1d", "--json", "--host", "web7")

    assert (answer.code, answer.err, answer.json["changes"]) == (0, "", [])


@pytest.mark.parametrize("command", COMMANDS)
def test_without_a_host_one_warning_names_this_machine_and_the_option(command: str, file: str) -> None:
    answer = ask(command, file)

    (line,) = answer.err.splitlines()
    assert answer.code == 0
    assert line.startswith(f"kron: warning: {{host}} is {os.uname().nodename}, ")
    assert "--host" in line


@pytest.mark.parametrize("command", COMMANDS)
def test_files_that_are_the_same_everywhere_get_no_warning(command: str, file: str) -> None:
    Path(file).write_text(SALTED.replace("{host}", "x"))

    assert ask(command, file).err == ""


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("option", ["--host", "--machine"])
def test_an_empty_name_is_wrong_usage(command: str, option: str, file: str) -> None:
    answer = ask(command, file, option, " ")

    assert answer.code == 2
    assert f"{option}: ' ' must be one printable line" in answer.err


def test_a_line_is_the_same_on_all_hosts() -> None:
    answer = kron("next", "0 3 * * *", "--host", "web7")

    assert answer.code == 2
    assert "--host, --machine and --inventory are for files" in answer.err


def test_live_is_about_this_host(file: str) -> None:
    answer = kron("plan", "--live", file, "--host", "web7")

    assert answer.code == 2
    assert "--live is about this host" in answer.err


def test_help_names_the_options() -> None:
    for command in COMMANDS:
        text = kron(command, "--help").out
        assert all(option in text for option in ("--host", "--machine", "--inventory"))

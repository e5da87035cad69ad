"""The help of every command of every program: complete at 80 columns, with a default and an example."""

import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from kron.cli.commands import kron
from kron.hosts.krond.commands.group import krond
from kron.hosts.operator.commands import operator
from tests.commands import command_of
from tests.forked import Forked

PROGRAMS = {"kron": kron, "krond": krond, "kron-operator": operator}
NEEDS_MORE = {"kron run", "kron k8s why", "kron k8s forecast", "kron-operator run"}  # a signal, or a cluster
JOBS = '[jobs.backup]\nschedule = "0 3 * * * @win(after,2h)"\ncommand = "true"\n'
FILES = {
    "jobs.toml": JOBS,
    "new.toml": JOBS.replace("2h", "3h"),
    "kronjob.yaml": (Path(__file__).parents[2] / "examples" / "kronjobs" / "heartbeat.yaml").read_text("utf-8"),
    "cronjob.yaml": (
        "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: report}\n"
        "spec: {schedule: 0 3 * * *, jobTemplate: {spec: {template: {spec: {containers: [{name: a, image: b}]}}}}}\n"
    ),
    "jobs.crontab": "CRON_TZ=UTC\n17 * * * * true\n",
}


def commands(group: click.Group, path: str) -> dict[str, click.Command]:
    found: dict[str, click.Command] = {path: group}
    for name in group.list_commands(click.Context(group)):
        command = command_of(group, name)
        found |= (
            commands(command, f"{path} {name}") if isinstance(command, click.Group) else {f"{path} {name}": command}
        )
    return found


EVERY = {path: command for name, group in PROGRAMS.items() for path, command in commands(group, name).items()}
GROUPS = {path: command for path, command in EVERY.items() if isinstance(command, click.Group)}
LEAVES = {path: command for path, command in EVERY.items() if path not in GROUPS}


def help_of(path: str) -> str:
    program, *words = path.split()
    width = 78  # of a real terminal with 80 columns click leaves two free
    result = CliRunner().invoke(PROGRAMS[program], [*words, "--help"], prog_name=program, terminal_width=width)
    assert result.exit_code == 0
    return result.stdout


@pytest.mark.parametrize("path", EVERY)
def test_a_help_text_fits_80_columns(path: str) -> None:
    assert max(map(len, help_of(path).splitlines())) <= 80


@pytest.mark.parametrize("path", GROUPS)
def test_a_listing_shows_the_whole_first_sentence_of_each_command(path: str) -> None:
    listing = help_of(path)

    for name in GROUPS[path].list_commands(click.Context(GROUPS[path])):
        sentence = str(EVERY[f"{path} {name}"].help).split("\n\n")[0]
        assert re.search(rf"^  {name} +{re.escape(sentence)}$", listing, re.MULTILINE), sentence


@pytest.mark.parametrize("path", EVERY)
def test_a_summary_is_one_sentence_in_the_imperative(path: str) -> None:
    summary = str(EVERY[path].help).split("\n\n")[0]

    assert summary.endswith(".")
    assert not summary.split()[0].endswith("s"), summary


@pytest.mark.parametrize("path", LEAVES)
def test_every_option_says_its_effect(path: str) -> None:
    for option in LEAVES[path].params:
        if isinstance(option, click.Option) and not option.hidden:
            assert option.help, option.name


@pytest.mark.parametrize("path", LEAVES)
def test_every_command_has_an_example_of_itself(path: str) -> None:
    assert f"  {path}" in str(LEAVES[path].epilog).replace('eval "$(', "  ")


def example_of(path: str) -> str:
    return str(LEAVES[path].epilog).splitlines()[-1].strip()


CHEAP = [path for path in LEAVES if path not in NEEDS_MORE and not path.startswith("krond ")]


@pytest.mark.parametrize("path", [*CHEAP, "krond check"])
def test_an_example_works(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path, monkeypatch)
    if path == "kron verify":
        run_example("kron simulate")

    result = run_example(path)

    assert result.exit_code == 0, result.stderr


DAEMON = ["status", "jobs", "next", "suspend", "resume", "trigger", "history", "logs", "why", "explain", "reload"]


@pytest.mark.parametrize("shell", ["kron", "krond"])
def test_an_example_of_completion_prints_a_script_for_its_program(shell: str) -> None:
    assert f"_{shell.upper()}_COMPLETE=bash_complete" in run_example(f"{shell} completion").stdout


def test_the_examples_of_krond_work_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path, monkeypatch)
    monkeypatch.setenv("KROND_STATE", str(tmp_path / "state"))
    process = Forked(*shlex.split(example_of("krond run")), "--log", "json")
    assert process.stderr is not None
    any('"KrondReady"' in line for line in process.stderr)

    codes = {
        word: run_example(f"krond {word}").exit_code for word in [*DAEMON, "ledger check", "ledger backup", "stop"]
    }

    assert codes == dict.fromkeys(codes, 0) | {"why": 1}  # no period of the past was the job's
    assert process.wait(60) == 0
    process.stderr.close()
    assert {f"krond {word}" for word in [*codes, "run", "check", "completion"]} == {
        path for path in LEAVES if path.startswith("krond ")
    }


def write_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for name, text in FILES.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o600)


def run_example(path: str) -> Result:
    example = example_of(path).removeprefix('eval "$(').removesuffix(')"').partition(" | ")[0]
    program, *words = shlex.split(example)
    return CliRunner().invoke(PROGRAMS[program], words, prog_name=program, catch_exceptions=False)

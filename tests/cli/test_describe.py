"""kron describe, completion and the command itself."""

import subprocess
from collections.abc import Callable

import pytest

import kron as package
from tests.cli.kron_runner import CommandResult, kron
from tests.hosts.krond.command_runner import krond


def test_a_line_is_described_in_plain_english() -> None:
    answer = kron("describe", "15 9 * * 1-5 @tz(Europe/Paris)")

    assert answer.out == "At 09:15 on weekdays, Europe/Paris\n"


def test_every_part_of_a_line_is_described() -> None:
    line = (
        "0 0 * * * @win(around,2h) @dist(skewLate,shape=2.5) @seed(daily,salt=prod) "
        "@policy(concurrency=replace,deadline=10m,suspend=true) @only(dow=MON-FRI) @avoid(date=2026-12-25)"
    )

    answer = kron("describe", line)

    assert answer.out.splitlines() == [
        "At 00:00 every day, UTC",
        "Runs at one second within 2h around each nominal time, chosen by skewLate, shape 2.5",
        "The second is new every day, salted with 'prod'",
        "Only when dow=MON-FRI",
        "Never when date=2026-12-25",
        "Starts at most 10m late; a run that overlaps is handled by replace",
        "Suspended",
    ]


def test_json_has_the_canonical_text() -> None:
    answer = kron("describe", "0,15,30,45 9-17 * JAN-MAR mon", "--json")

    assert answer.json["canonical"] == "*/15 9-17 * 1-3 1"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("command", [kron, krond])
def test_completion_is_a_script_that_names_the_command(shell: str, command: Callable[..., CommandResult]) -> None:
    answer = command("completion", shell)

    assert answer.code == 0
    assert f"_{command.__name__.upper()}_COMPLETE" in answer.out


def test_the_script_for_bash_is_valid() -> None:
    script = kron("completion", "bash").out

    subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_the_version_is_the_one_of_the_package() -> None:
    answer = kron("--version")

    assert answer.out == f"kron, version {package.__version__}\n"


def test_an_unknown_command_is_wrong_usage() -> None:
    answer = kron("schedule")

    assert answer.code == 2
    assert answer.out == ""

"""docs/krond.md, the README and guides show only krond commands that exist, and name every field of a record."""

import re
import shlex
from pathlib import Path

import click
import pytest

from kron.hosts.krond.commands.group import krond
from kron.rules.job_record import ResultCode
from kron.rules.verdict import Outcome
from tests.commands import command_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "krond.md").read_text("utf-8")
OTHERS = ("README.md", "docs/how-to/move-a-crontab.md", "docs/how-to/upgrade.md")
TEXT = PAGE + "".join((ROOT / page).read_text("utf-8") for page in OTHERS)
PLACES = (
    r"^(?:\$ )?krond ([a-z][^`\n#&]+)",
    r"`krond ([^`]+)`",
    r"\$\(krond ([^)]+)\)",
)  # a block, a sentence, a shell's line
SHOWN = sorted({" ".join(text.split()) for place in PLACES for text in re.findall(place, TEXT, re.MULTILINE)})
COMMANDS = [text for text in SHOWN if " " in text or text not in ("run", "check")]  # and not just their names


@pytest.mark.parametrize("text", COMMANDS)
def test_a_command_that_is_shown_is_understood(text: str) -> None:
    group: click.Command = krond
    words = shlex.split(text)
    while isinstance(group, click.Group):
        group = command_of(group, words.pop(0))

    group.make_context(text, words)


def test_every_command_is_shown() -> None:
    shown = {text.split()[0] for text in COMMANDS}

    assert set(krond.list_commands(click.Context(krond))) - shown == set()


def test_the_outcomes_are_those_of_the_code() -> None:
    section = PAGE.partition("| outcome | reason |")[2].partition("\n\n")[0]

    assert set(re.findall(r"^\| (\w+) \|", section, re.MULTILINE)) == {outcome.value for outcome in Outcome}


def test_the_results_are_those_of_the_code() -> None:
    sentence = PAGE.partition("Results of a run:")[2].partition("\n\n")[0]

    assert set(re.findall(r"`([^`]+)`", sentence)) == {result.value for result in ResultCode}

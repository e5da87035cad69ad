"""Run the `krond` command and return its output and exit code, or the findings of `krond check`."""

import json
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from kron.hosts.krond.commands.group import krond as group
from tests.cli.kron_runner import CommandResult

GOOD = 'deadline = "10m"\ncommand = "/bin/true"\nschedule = "0 9 * * *"\n'


def krond(*arguments: str) -> CommandResult:
    """Run the command in this process; an exception that is no exit is a failure of the test."""
    result = CliRunner().invoke(group, arguments, prog_name="krond", catch_exceptions=False)
    return CommandResult(result.exit_code, result.stdout, result.stderr)


def write(folder: Path, keys: str, name: str = "jobs.toml") -> str:
    file = folder / name
    file.write_text(f"[jobs.x]\n{keys}", "utf-8")
    return str(file)


def check(folder: Path, keys: str, *options: str) -> list[str]:
    """Return what is said, without the name of the file."""
    file = write(folder, keys)
    return [line.removeprefix(f"{file}:") for line in krond("check", "--config", file, *options).err.splitlines()]


def check_as_nobody(*arguments: str) -> tuple[int, list[dict[str, object]]]:
    """Return what krond says that may read less; asked once before, it has imported all that it needs."""
    program = (
        "import os, sys; from tests.hosts.krond.command_runner import GOOD, check, krond, write;"
        "arguments = ['check', '--json', *sys.argv[1:]]; krond(*arguments);"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534);"
        "answer = krond(*arguments); print(answer.out); sys.exit(answer.code)"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout)

"""Run the `kron` command and return its output and exit code."""

import json
import os
import pty
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from click.testing import CliRunner

from kron.cli.commands import kron as group
from tests import forked


@dataclass(frozen=True, slots=True)
class CommandResult:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as data."""
        return json.loads(self.out)


def kron(*arguments: str, stdin: str | None = None) -> CommandResult:
    """Run the command in this process; an exception that is no exit is a failure of the test."""
    result = CliRunner().invoke(group, arguments, input=stdin, prog_name="kron", catch_exceptions=False)
    return CommandResult(result.exit_code, result.stdout, result.stderr)


def kron_process(*arguments: str, stdin: str = "") -> CommandResult:
    """Run the installed command as a process of its own."""
    done = forked.run("kron", *arguments, stdin=stdin)
    return CommandResult(done.returncode, done.stdout, done.stderr)


def kron_on_a_terminal(*arguments: str) -> str:
    """Run the command with a terminal on standard output and standard error; return what the terminal shows."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-c", "from kron.entry_points import kron_main; kron_main()", *arguments]
    environment = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower, env=environment) as process:
        os.close(follower)
        shown = b""
        while True:
            try:
                part = os.read(leader, 65536)
            except OSError:  # Linux says so when the last writer has gone
                break
            if not part:
                break
            shown += part
        process.wait()
    os.close(leader)
    return shown.decode()

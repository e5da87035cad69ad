"""Walkthrough: a tutorial, carried out in a scratch directory step by step as its reader would.

A `console` block is commands, each after `$ `, with what they print. A command must exit with 0, or as its comment
`# exits with N` says. Any other block below a line that ends with a file's name in backticks and a colon is that file.
What a command prints is compared as it is; where that differs, with times, runs, processes and durations masked, again
and again until it is the same: a reader waits, too.
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import TypeAlias

_BLOCK = re.compile(r"^```(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"`([\w./-]+)`:$")
_EXIT = re.compile(r"# exits with (\d+)$")
_LONGEST = 150.0  # seconds until a step is given up: a job of every minute may need one of them
_PAUSE = 0.2  # seconds
_MASKS = (
    (re.compile(r"[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d"), "<wall time>"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "<time>"),
    (re.compile(r"\b[0-9a-f]{8}-\d+-[0-9a-f]{16}\b"), "<run>"),
    (re.compile(r"\b[0-9a-f]{16}\b"), "<id>"),
    (re.compile(r"\bprocess \d+"), "process <number>"),
    (re.compile(r"\b\d+(\.\d+)? s\b"), "<seconds>"),
    (re.compile(r" {2,}"), "  "),
)


@dataclass(frozen=True, slots=True)
class File:
    """A file that the reader writes."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A line that the reader types, and what it prints."""

    text: str
    shown: str

    @property
    def code(self) -> int:
        """How it exits."""
        found = _EXIT.search(self.text)
        return int(found[1]) if found else 0

    @property
    def stays(self) -> bool:
        """Whether it runs beside the commands below it."""
        return self.text.endswith("&")


Step: TypeAlias = File | Command


def steps(page: str) -> Iterator[Step]:
    """Yield what a page asks its reader to do."""
    for block in _BLOCK.finditer(page):
        kind, text = block.groups()
        before = page[: block.start()].rstrip().rpartition("\n")[2]
        if kind == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, shown = part.partition("\n")
                yield Command(command, shown)
        elif named := _FILE.search(before):
            yield File(named[1], text)


class Walkthrough:
    """A shell in a scratch directory; variables and the directory stay from one command to the next."""

    def __init__(self, folder: Path) -> None:
        programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._folder, self._home = folder, folder / "home" / "you"
        self._home.mkdir(parents=True)
        self._cwd = self._home
        self._environment = {"PATH": programs, "HOME": str(self._home), "NO_COLOR": "1", "LANG": "C.UTF-8"}
        self._groups: list[int] = []

    def take(self, step: Step) -> None:
        """Do what a step says, and fail if it goes otherwise than the page shows."""
        match step:
            case File(name, text):
                (self._cwd / name).write_text(text, "utf-8")
            case Command():
                self._run_until_right(step)

    def close(self) -> None:
        """End what was left running."""
        for group in self._groups:
            try:
                os.killpg(group, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def _run_until_right(self, command: Command) -> None:
        until = monotonic() + _LONGEST
        while True:
            code, printed = self._run(command)
            if code == command.code and (printed == command.shown or masked(printed) == masked(command.shown)):
                return
            if command.stays or monotonic() > until or not is_of_a_host(command):
                shown = f"$ {command.text}\n{command.shown}"
                raise AssertionError(f"the page shows\n\n{shown}\n\nand it exits with {code} and prints\n\n{printed}")
            sleep(_PAUSE)

    def _run(self, command: Command) -> tuple[int, str]:
        """Return the exit code and what is printed, with the scratch directory as `/`."""
        output, after = self._folder / "output", self._folder / "after"
        script = f'{command.text}\ncode=$?\npwd > "{after}"\nenv -0 >> "{after}"\nexit $code'
        with output.open("wb") as target:
            shell = subprocess.Popen(
                ["bash", "-c", script],
                cwd=self._cwd,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=target,
                stderr=target,
                start_new_session=True,
            )
        self._groups.append(shell.pid)
        code = shell.wait(_LONGEST)
        folder, _, variables = after.read_text("utf-8").partition("\n")
        self._cwd = Path(folder)
        self._environment = dict(each.split("=", 1) for each in variables.split("\0") if each)
        return code, output.read_text("utf-8").replace(str(self._folder), "")


def is_of_a_host(command: Command) -> bool:
    """Whether it asks a krond, which may not have come to it yet."""
    return command.text.startswith("krond ")


def masked(text: str) -> str:
    """Return text without what differs from one reader to the next."""
    for pattern, instead in _MASKS:
        text = pattern.sub(instead, text)
    return "\n".join(line.rstrip() for line in text.splitlines())

"""Start a process that dies with its parent, however the parent ends."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def start_child(
    command: Sequence[str | Path],
    log: Path,
    *,
    where: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> "subprocess.Popen[bytes]":
    """Start it, what it says added to the log. To be called by the main thread: the child dies with the thread."""
    dying = ["setpriv", "--pdeathsig", "KILL", "--"]
    with log.open("ab") as file:
        return subprocess.Popen(
            [*dying, *command], stdin=subprocess.DEVNULL, stdout=file, stderr=file, cwd=where, env=environment
        )


def kill_child(child: "subprocess.Popen[bytes]") -> None:
    """Kill it if it has not ended, and wait until it is gone."""
    child.kill()
    child.wait()

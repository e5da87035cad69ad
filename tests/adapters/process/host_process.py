"""HostProcess: a host in another process, which a test asks and kills."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kron.adapters.process.procfs import boot_id
from kron.adapters.process.supervision import RecordedProcess

ROOT = Path(__file__).parents[3]


class HostProcess:
    """The host as the test sees it."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def line(self) -> dict[str, Any]:
        """Return the next thing it tells."""
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        self.process.kill()
        self.process.wait()


@contextmanager
def hosting(folder: Path, *starts: dict[str, Any], descriptors: int | None = None) -> Iterator[HostProcess]:
    """Let another process be the host of the output folder."""
    limit = [] if descriptors is None else [str(descriptors)]
    asked = folder / "starts"
    asked.write_text(json.dumps(starts), "utf-8")
    command = [sys.executable, "-m", "tests.adapters.process.host_program", str(folder / "output"), str(asked)]
    with subprocess.Popen(
        [*command, *limit], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield HostProcess(process)
        if process.stdin is not None:
            process.stdin.close()


def sleeper(run_id: str, script: str = "", **command: Any) -> dict[str, Any]:
    """Return a start that does something and then lives until it is killed."""
    return {"run_id": run_id, "argv": ["sh", "-c", f"{script} exec sleep 1000"], **command}


def recorded(line: dict[str, Any]) -> RecordedProcess:
    """Return what a host would have written down about a start."""
    return RecordedProcess(line["run_id"], boot_id(), line["pid"], line["start_ticks"])

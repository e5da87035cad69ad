"""`make run` runs krond with the example jobs until it is interrupted."""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.krond.krond_process import KROND

ROOT = Path(__file__).parents[2]
LONG_ENOUGH = 300  # seconds, after which a run that hangs is ended

pytestmark = pytest.mark.slow


class MakeRun:
    """A `make run` with a state directory of its own."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self.process = subprocess.Popen(
            ["make", "--no-print-directory", "run", f"STATE={state}", "LISTEN=127.0.0.1:0"],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip

    def wait_for(self, name: str, /, **fields: object) -> dict[str, Any]:
        """Return the next event of this name with these fields."""
        assert self.process.stderr is not None
        said = []
        for line in self.process.stderr:
            said.append(line)
            event: dict[str, Any] = json.loads(line) if line.startswith("{") else {}
            if event.get("event") == name and fields.items() <= event.items():
                return event
        raise AssertionError("".join(said))

    def ask(self, *words: str) -> Any:
        """Return what a command answers."""
        command = [*KROND, *words, "--state", str(self.state), "--json"]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.fixture
def make_run(tmp_path: Path) -> Iterator[MakeRun]:
    running = MakeRun(tmp_path / "state")
    end = threading.Timer(LONG_ENOUGH, os.killpg, (running.process.pid, signal.SIGKILL))
    end.start()
    yield running
    end.cancel()
    if running.process.poll() is None:
        os.killpg(running.process.pid, signal.SIGKILL)
    running.process.wait()
    for pipe in (running.process.stdout, running.process.stderr):
        assert pipe is not None
        pipe.close()  # it may have no end yet: the keeper of a surviving child holds it, too


def test_make_run_starts_a_krond_that_runs_jobs_answers_and_ends_on_request(make_run: MakeRun) -> None:
    ready = make_run.wait_for("KrondReady")
    make_run.wait_for("RunEnded", name="hello", result="succeeded")
    status = make_run.ask("status")

    os.kill(ready["pid"], signal.SIGTERM)
    make_run.wait_for("KrondDraining")

    assert (status["ready"], status["state"]) == (True, str(make_run.state))
    assert make_run.process.wait() == 0
    assert ("hello", "succeeded") in [(row["name"], row["result"]) for row in make_run.ask("history")]


def test_make_run_prints_nothing_on_standard_output_and_keeps_its_state_private(make_run: MakeRun) -> None:
    ready = make_run.wait_for("KrondReady")

    os.kill(ready["pid"], signal.SIGTERM)

    assert make_run.process.communicate()[0] == ""
    assert make_run.state.stat().st_mode & 0o777 == 0o700


def test_control_c_lets_what_runs_end(make_run: MakeRun) -> None:
    make_run.wait_for("KrondReady")
    make_run.wait_for("RunEnded", name="hello")

    os.killpg(make_run.process.pid, signal.SIGINT)  # as a terminal does: to make and to krond

    make_run.wait_for("KrondDraining")
    make_run.process.wait()
    with pytest.raises(subprocess.CalledProcessError):
        make_run.ask("status")

"""Krond: a real krond process with its own state directory, and the commands that talk to it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Timer
from types import MappingProxyType
from typing import Any, TypeAlias

from tests import forked
from tests.forked import Forked

KROND = (sys.executable, "-c", "from kron.entry_points import krond_main; krond_main()")
NEVER = 'schedule = "0 0 29 2 *"'  # so that only triggers run
_LONGEST = 300  # seconds until a test that waits for something gives up

Process: TypeAlias = subprocess.Popen[str] | Forked


class Krond:
    """A krond that runs the jobs of a file; `before` are words that go before its command, `options` more of it."""

    def __init__(
        self,
        folder: Path,
        jobs: str,
        *,
        before: Sequence[str] = (),
        options: Sequence[str] = (),
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.file, self.state = folder / "krond.toml", folder / "state"
        self._before, self._options, self._environment = before, options, environment
        self.write(jobs)
        self.events: list[dict[str, Any]] = []
        self.process: Process | None = None

    def write(self, jobs: str) -> None:
        """Replace the job file."""
        self.file.write_text(jobs, "utf-8")
        self.file.chmod(0o644)

    def start(self) -> "Krond":
        """Start it, and return when it says that it is ready."""
        self.begin()
        self.wait_for("KrondReady")
        return self

    def begin(self) -> Process:
        """Start it, and return at once; in a fresh Python where something goes before it or is in its environment."""
        run = ["run", "--config", str(self.file), "--state", str(self.state), "--log", "json", *self._options]
        if self._before or self._environment:
            environment = {**os.environ, **self._environment}
            command = [*self._before, *KROND, *run]
            self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        else:
            self.process = Forked("krond", *run)
        return self.process

    def wait_for(self, event: str) -> dict[str, Any]:
        """Return the next event of a name; a krond that does not come to say it is killed."""
        assert self.process is not None
        assert self.process.stderr is not None
        patience = Timer(_LONGEST, self.process.kill)
        patience.start()
        try:
            for line in self.process.stderr:
                if line.startswith("{"):
                    self.events.append(json.loads(line))
                    if self.events[-1]["event"] == event:
                        return self.events[-1]
        finally:
            patience.cancel()
        raise AssertionError(f"krond is gone, without {event}: {[each['event'] for each in self.events]}")

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        assert self.process is not None
        self.process.kill()
        self.end()

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        assert self.process is not None
        os.kill(self.process.pid, number)

    def end(self) -> int:
        """Return how it ended, when it has."""
        assert self.process is not None
        assert self.process.stderr is not None
        code = self.process.wait()
        self.process.stderr.close()  # it may have no end yet: the keeper of a surviving child holds it, too
        return code

    def ask(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command that speaks to it, or to its state directory."""
        return forked.run("krond", *words, "--state", str(self.state))

    def json(self, *words: str) -> Any:
        """Return what a command answers as JSON."""
        return json.loads(self.ask(*words, "--json").stdout)

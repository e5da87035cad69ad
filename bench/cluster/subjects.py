"""The subjects that a suite measures on a plane: the installed operator, and a bare client beside it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from tests.cluster.operator import ACCOUNT, Operator
from tests.cluster.plane import ControlPlane

from bench.cluster.rig import OPERATOR
from kron.instant import Instant, format_instant

_LOOK = 0.05  # seconds
_LEADING = b'"event": "leading"'


class MeasuredOperator(Operator):
    """The operator, and what it uses."""

    def sync(self, seconds: float) -> float:
        """Start it; return the seconds until it is ready, and has said that it leads with every KronJob armed."""
        begun = monotonic()
        self.begin()
        while not self.is_armed():
            if self.process.poll() is not None or monotonic() - begun > seconds:
                raise RuntimeError(f"the operator was not ready within {seconds:.0f} s")
            sleep(_LOOK)
        return monotonic() - begun

    def is_armed(self) -> bool:
        """Whether it is ready, and leads."""
        return self.answer("/readyz")[0] == 200 and _LEADING in self.log.read_bytes()

    def highest_memory(self) -> float:
        """Return the most MiB that it has had so far."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text("ascii").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


@contextmanager
def operator(plane: ControlPlane, folder: Path, *flags: str) -> Iterator[MeasuredOperator]:
    """Have an operator for the block, which starts it itself."""
    found = MeasuredOperator(plane, OPERATOR, folder, *flags)
    try:
        yield found
    finally:
        found.kill()


class BareClient:
    """The process of `bench.cluster.bare`."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def answer(self) -> dict[str, Any]:
        """Return the next thing that it says."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the bare client has ended")
        found: dict[str, Any] = json.loads(line)
        return found

    def say(self, line: str) -> None:
        """Tell it something."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def turn(self, at: Instant) -> dict[str, float]:
        """Let it create the Jobs of a period; return what that took."""
        self.say(format_instant(at))
        return self.answer()


@contextmanager
def bare_client(plane: ControlPlane, namespace: str, at: Instant) -> Iterator[BareClient]:
    """Have one for the block, with the operator's rights and with all statuses written as of an instant."""
    where = {"server": plane.server, "authority": plane.authority, "token": plane.token(OPERATOR, ACCOUNT)}
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.cluster.bare"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        client = BareClient(process)
        client.say(json.dumps({**where, "namespace": namespace, "at": format_instant(at)}))
        client.answer()
        yield client
    finally:
        process.kill()
        process.wait()

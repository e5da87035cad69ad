"""ForkServer: a process that has imported everything and forks a child for each order, so that a life is cheap.

The forks happen in a process without threads; pytest's own has some.
"""

import json
import os
import select
import signal
import subprocess
import sys
import traceback
from dataclasses import asdict
from pathlib import Path
from types import TracebackType

from tests.crash.life import Order, live

_ROOT = Path(__file__).parents[2]


class ForkServer:
    """The parent's side. One child at a time."""

    def __init__(self, preload: Path | None = None) -> None:
        command = [sys.executable, "-m", "tests.crash.fork_server"]
        environment = dict(os.environ) if preload is None else {**os.environ, "LD_PRELOAD": str(preload)}
        self._process = subprocess.Popen(
            command, cwd=_ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __enter__(self) -> "ForkServer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._process.communicate()

    def live(self, order: Order, *, seconds: float | None = None) -> bool:
        """Let a child live; kill it after so many seconds if it still does. Return whether it lived to its end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asdict(order)).encode() + b"\n")
        self._process.stdin.flush()
        child = int(self._process.stdout.readline())
        if seconds is not None and not select.select([self._process.stdout], [], [], seconds)[0]:
            os.kill(child, signal.SIGKILL)  # it is reaped only after our word below, so its number is still its own
        assert self._process.stdout.readline() == b"ended\n"
        self._process.stdin.write(b"reap\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        error = Path(f"{order.trace}.error")
        assert code in (0, -signal.SIGKILL), error.read_text("utf-8") if error.exists() else f"exit code {code}"
        return code == 0


def _serve() -> None:
    while line := sys.stdin.buffer.readline():
        order = Order(**json.loads(line))
        child = os.fork()
        if child == 0:
            _be_child(order)
        print(child, flush=True)
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        print("ended", flush=True)
        sys.stdin.buffer.readline()
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _be_child(order: Order) -> None:
    os.close(1)
    try:
        live(order)
    except BaseException:
        Path(f"{order.trace}.error").write_text(traceback.format_exc(), "utf-8")
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    _serve()

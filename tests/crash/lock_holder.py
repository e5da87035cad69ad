"""A process that holds a ledger, and forks a child on request.

    python -m tests.crash.lock_holder LEDGER [exit|stay|close|open]

It prints a line when it holds the ledger and waits for the end of its input; then it stops. Its forked child exits at
once, stays until it is killed, closes all it has inherited and stays, or tries to open the ledger and prints the error.
"""

import asyncio
import os
import signal
import sys
from datetime import timedelta

from kron import KronError, Scheduler

_DESCRIPTORS = 256  # more than the process has


async def never() -> None:
    """A callback; its task is due on 29 February."""


async def hold(path: str, fork: str | None) -> None:
    """Hold the ledger until the input ends."""
    scheduler = Scheduler(ledger=path, timezone="UTC")
    await scheduler.initialize([("leap", "0 0 29 2 *", never, timedelta())])
    if fork is not None:
        child = os.fork()
        if child == 0:
            be_child(path, fork)
        if fork in ("exit", "open"):
            os.waitpid(child, 0)
        print(child, flush=True)
    print("holding", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await scheduler.stop()


def be_child(path: str, what: str) -> None:
    """Carry out the commands of the forked child."""
    if what == "open":
        print(asyncio.run(refusal(path)), flush=True)
    if what == "close":
        os.closerange(3, _DESCRIPTORS)
    if what in ("close", "stay"):
        signal.pause()
    os._exit(0)


async def refusal(path: str) -> str:
    """Return the error of a second scheduler, in one line; an empty one if it was let in."""
    scheduler = Scheduler(ledger=path, timezone="UTC")
    try:
        await scheduler.initialize([])
    except KronError as error:
        return f"{error.name}: {error}"
    await scheduler.stop()
    return ""


if __name__ == "__main__":
    asyncio.run(hold(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None))

"""The program of HostProcess: a host of processes that tests kill.

    python -m tests.adapters.process.host_program FOLDER FILE [DESCRIPTORS]

FILE holds a list of starts, as JSON: id and fields of the command. It prints a line of JSON for each start and each
end, and lives until its input ends; then it lets go of everything, without ending what runs.
"""

import asyncio
import json
import resource
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kron.adapters.process.runner import ProcessRunner
from kron.adapters.process.spawner_client import SpawnRequest
from kron.jobfile.host_job import Command


def tell(what: str, values: Iterable[dict[str, Any]]) -> None:
    """Print what has happened."""
    print("".join(json.dumps({"what": what, **value}) + "\n" for value in values), end="", flush=True)


async def main(folder: str, starts: list[dict[str, Any]]) -> None:
    """Start, and wait for the end of the input."""
    runner = ProcessRunner(
        folder,
        started=lambda started: tell("started", (each._asdict() for each in started)),
        ended=lambda ended: tell("ended", map(asdict, ended)),
    )
    await runner.open()
    runner.start_many(SpawnRequest(start.pop("run_id"), Command(tuple(start.pop("argv")), **start)) for start in starts)
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(sys.stdin, over.set)
    await over.wait()
    await runner.close()


if __name__ == "__main__":
    with suppress(IndexError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[3]), int(sys.argv[3])))
    asyncio.run(main(sys.argv[1], json.loads(Path(sys.argv[2]).read_text("utf-8"))))

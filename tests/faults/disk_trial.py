"""A process in which the disk below a host of jobs fails for a minute, from each step on.

    python -m tests.faults.disk_trial FAULT STRIDE FOLDER

It prints for each trial what failed first and what is wrong afterwards, as JSON, until no fault is left.
"""

import asyncio
import json
import shutil
import sys
from functools import partial
from itertools import count
from pathlib import Path

from tests.crash.disk import Fault
from tests.crash.sqlite_disk import SqliteDisk
from tests.faults.crashing_host import HostLives


def _try(fault: Fault, stride: int, folder: Path) -> None:
    disk = SqliteDisk()
    for step in count(1, stride):
        folder.mkdir()
        complaints = asyncio.run(_tell(disk, fault, step, folder))
        shutil.rmtree(folder)
        print(json.dumps({"step": step, "failed": list(disk.failed)[:1], "complaints": complaints}), flush=True)
        if not disk.failed:
            return


async def _tell(disk: SqliteDisk, fault: Fault, step: int, folder: Path) -> list[str]:
    lives = HostLives(folder)
    lives.disturb, lives.mend = partial(disk.arm, step, fault, for_good=True), disk.repair
    return await lives.run()


if __name__ == "__main__":
    _try(Fault(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))

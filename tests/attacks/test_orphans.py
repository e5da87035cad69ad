"""A job leaves thousands of orphaned processes, all of which become children of krond."""

import os
from pathlib import Path

import pytest

from kron.adapters.process.supervision import OrphanReaper, become_subreaper

_ORPHANS = 1_200
_LOOK = 500


@pytest.mark.slow
def test_one_look_reaps_a_part_of_very_many_orphans_and_the_next_ones_the_rest() -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        become_subreaper()
        os.write(writer, _reaped(_leave_orphans()).encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)

    with os.fdopen(reader) as answer:
        assert answer.read() == f"{_LOOK} True {_LOOK} True {_ORPHANS - 2 * _LOOK} False"


def _leave_orphans() -> int:
    """End a parent of many processes, each of which leads a session and ends; return how many there were."""
    parent = os.fork()
    if parent == 0:
        for _ in range(_ORPHANS):
            if os.fork() == 0:
                os.setsid()
                os._exit(0)
        os._exit(0)
    os.waitpid(parent, 0)
    return _ORPHANS


def _reaped(orphans: int) -> str:
    """Reap in looks until no orphan is left; return how many each look reaped, and whether it left some."""
    while len(_zombies()) < orphans:
        os.sched_yield()
    reaper, found = OrphanReaper(lambda _: False), []
    while True:
        found += [str(len(reaper.reap())), str(reaper.has_more)]
        if not reaper.has_more:
            return " ".join(found)


def _zombies() -> list[str]:
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii")
    return [pid for pid in children.split() if _is_zombie(pid)]


def _is_zombie(pid: str) -> bool:
    return ") Z" in Path(f"/proc/{pid}/stat").read_text("utf-8")

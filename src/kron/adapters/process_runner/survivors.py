"""Recorded executions in, those that still live out: known by boot, number and start time, or by their environment."""

import os
from collections.abc import Iterable
from datetime import timedelta

from kron.adapters.process_runner.execution import Recorded, Started
from kron.adapters.process_runner.proc import boot_id, find_leaders, since_boot, stat

_TICKS = os.sysconf("SC_CLK_TCK")  # in a second
_NEAR = timedelta(hours=1)  # a start may wait for its turn, and a clock may be set meanwhile: rarely by more


def find_survivors(recorded: Iterable[Recorded]) -> list[Started]:
    """Return the leaders that live. One whose number was never recorded is looked for by the id it carries."""
    found: list[Started] = []
    unknown: dict[str, Recorded] = {}
    boot = boot_id()
    for one in recorded:
        if one.boot_id != boot:
            continue
        if one.pid is None:
            unknown[one.run_id] = one
            continue
        known = stat(one.pid)
        if known is not None and known.is_alive and known.ticks == one.start_ticks:
            found.append(Started(one.run_id, one.pid, known.ticks))
    leaders = find_leaders({run_id: one.uid for run_id, one in unknown.items()})
    return found + [
        Started(run_id, pid, known.ticks)
        for run_id, (pid, known) in leaders.items()
        if _is_near(timedelta(seconds=known.ticks / _TICKS), unknown[run_id].began)
    ]


def _is_near(begun: timedelta, recorded: timedelta | None) -> bool:
    """Whether a process began about when it was to. A time before the boot, or to come, is one of a clock set since."""
    if recorded is None or not timedelta() <= recorded <= since_boot():
        return True
    return abs(begun - recorded) <= _NEAR

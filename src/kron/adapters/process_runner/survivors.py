"""Recorded executions in, those that still live out: known by boot, number and start time, or by their environment."""

from collections.abc import Iterable

from kron.adapters.process_runner.execution import Recorded, Started
from kron.adapters.process_runner.proc import boot_id, find_leaders, stat


def find_survivors(recorded: Iterable[Recorded]) -> list[Started]:
    """Return the leaders that live. One whose number was never recorded is looked for by the id it carries."""
    found: list[Started] = []
    unknown: list[str] = []
    boot = boot_id()
    for one in recorded:
        if one.boot_id != boot:
            continue
        if one.pid is None:
            unknown.append(one.run_id)
            continue
        known = stat(one.pid)
        if known is not None and known.is_alive and known.ticks == one.start_ticks:
            found.append(Started(one.run_id, one.pid, known.ticks))
    leaders = find_leaders(unknown)
    return found + [Started(run_id, pid, known.ticks) for run_id, (pid, known) in leaders.items()]

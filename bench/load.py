"""The cores that other processes used during a measurement, from the machine's counters."""

import os
import resource
from pathlib import Path
from time import perf_counter, sleep

QUIET = 0.3  # cores; above it a measurement shared the machine with something
_GLANCE_SECONDS = 0.25


class OtherLoad:
    """Watches what processes other than this one and its children use, from its creation on."""

    def __init__(self) -> None:
        self._start = perf_counter()
        self._busy, self._own = _busy_seconds(), _own_seconds()

    def cores(self) -> float | None:
        """Return the average number of cores they used, None where the system does not say."""
        busy = _busy_seconds()
        if busy is None or self._busy is None:
            return None
        foreign = (busy - self._busy) - (_own_seconds() - self._own)
        return round(max(0.0, foreign) / (perf_counter() - self._start), 2)


def wait_for_quiet(patience: float) -> float:
    """Wait until the others are quiet, or until the patience is used up; return the patience that is left."""
    end = perf_counter() + patience
    while perf_counter() < end:
        others = OtherLoad()
        sleep(_GLANCE_SECONDS)
        if (others.cores() or 0.0) <= QUIET:
            break
    return max(0.0, end - perf_counter())


def _busy_seconds() -> float | None:
    """Return the processor time of all processes since the system started."""
    try:
        first = Path("/proc/stat").read_text("ascii").partition("\n")[0]
    except OSError:
        return None
    user, nice, system, _idle, _waiting, interrupts, soft_interrupts, stolen = map(int, first.split()[1:9])
    return (user + nice + system + interrupts + soft_interrupts + stolen) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)

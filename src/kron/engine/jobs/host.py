"""Host: what a book of jobs has to know of the host it belongs to."""

from collections.abc import Callable
from datetime import timedelta
from typing import NamedTuple

from kron.engine.jobs.execution import Chronicle, JobRunner
from kron.engine.ports import Clock


class Host(NamedTuple):
    """What a book has to know of the host it belongs to."""

    clock: Clock
    runner: JobRunner
    chronicle: Chronicle
    life: str  # tells this life of the host from any other
    boot: str  # tells this boot of the machine from any other
    slack: timedelta = timedelta(seconds=30)
    most_active: int = 0  # 0: no limit
    run_token: Callable[[], str] = str  # returns the part of a run's name that no other process can guess; "": none

"""Host: what the planner of jobs has to know of its host."""

from collections.abc import Callable
from datetime import timedelta
from typing import NamedTuple

from kron.engine.jobs.execution import Chronicle, JobRunner
from kron.engine.ports import Clock
from kron.rules.contract import JOB_CONTRACT, Contract


class Host(NamedTuple):
    """What a planner has to know of its host."""

    clock: Clock
    runner: JobRunner
    chronicle: Chronicle
    life: str  # tells this life of the host from any other
    boot: str  # tells this boot of the machine from any other
    slack: timedelta = timedelta(seconds=30)
    most_active: int = 0  # 0: no limit
    run_token: Callable[[], str] = str  # returns the part of a run's name that no other process can guess; "": none
    contract: Contract = JOB_CONTRACT

"""For the tests of Kron's users: a clock that obeys, ledgers for tests, a crash on demand, the suites of the ports."""

from kron.adapters.memory_ledger import MemoryJobLedger, MemoryTaskLedger
from kron.adapters.passing_ledger import FaultyLedger
from kron.adapters.virtual_clock import VirtualClock
from kron.hosts.library.scheduler import crash
from kron.testing.job_ledger_refusals import REFUSALS
from kron.testing.job_ledger_suite import ROUND_TRIPS
from kron.testing.simulation import Simulation, simulate
from kron.testing.task_ledger_suite import TASK_LEDGER_SUITE

JOB_LEDGER_SUITE = (*ROUND_TRIPS, *REFUSALS)

__all__ = [
    "JOB_LEDGER_SUITE",
    "TASK_LEDGER_SUITE",
    "FaultyLedger",
    "MemoryJobLedger",
    "MemoryTaskLedger",
    "Simulation",
    "VirtualClock",
    "crash",
    "simulate",
]

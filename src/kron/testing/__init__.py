"""For the tests of Kron's users: a clock that obeys, ledgers for tests, a crash on demand, the suites of the ports."""

from kron.adapters.faulty_ledger import FaultyLedger
from kron.adapters.memory_job_ledger import MemoryJobLedger
from kron.adapters.memory_ledger import MemoryLedger
from kron.adapters.virtual_clock import VirtualClock
from kron.hosts.crash import crash
from kron.testing.job_ledgers import JOB_LEDGER_SUITE
from kron.testing.ledgers import LEDGER_SUITE
from kron.testing.simulation import Simulation, simulate

__all__ = [
    "JOB_LEDGER_SUITE",
    "LEDGER_SUITE",
    "FaultyLedger",
    "MemoryJobLedger",
    "MemoryLedger",
    "Simulation",
    "VirtualClock",
    "crash",
    "simulate",
]

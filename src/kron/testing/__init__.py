"""For the tests of Kron's users: a clock that obeys, ledgers for tests, a crash on demand, the suites of the ports."""

from collections.abc import Set

from kron.adapters.memory_ledger import MemoryJobLedger, MemoryTaskLedger
from kron.adapters.passing_ledger import FaultyLedger
from kron.adapters.virtual_clock import VirtualClock
from kron.hosts.library.scheduler import crash
from kron.testing.clock_suite import CLOCK_SUITE
from kron.testing.job_ledger_refusals import REFUSALS
from kron.testing.job_ledger_suite import ROUND_TRIPS, JobLedgerCheck, JobLedgerClause
from kron.testing.simulation import Simulation, simulate
from kron.testing.task_ledger_suite import TASK_LEDGER_SUITE


def job_ledger_suite(*, lacking: Set[JobLedgerClause] = frozenset()) -> tuple[JobLedgerCheck, ...]:
    """Return the checks for a ledger that lacks some clauses of the port: all that are not about these.

    >>> len(job_ledger_suite(lacking={JobLedgerClause.REFUSALS})) < len(JOB_LEDGER_SUITE)
    True
    """
    kept = tuple(check for check, clauses in ROUND_TRIPS.items() if lacking.isdisjoint(clauses))
    return kept if lacking & {JobLedgerClause.REFUSALS, JobLedgerClause.RUNS} else (*kept, *REFUSALS)


JOB_LEDGER_SUITE = job_ledger_suite()

__all__ = [
    "CLOCK_SUITE",
    "JOB_LEDGER_SUITE",
    "TASK_LEDGER_SUITE",
    "FaultyLedger",
    "JobLedgerClause",
    "MemoryJobLedger",
    "MemoryTaskLedger",
    "Simulation",
    "VirtualClock",
    "crash",
    "job_ledger_suite",
    "simulate",
]

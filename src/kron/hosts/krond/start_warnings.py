"""start_warnings(works, configs, ledger) -> findings: what a start does that may not be meant."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from kron.adapters.process_runner.proc import boot_id, since_boot
from kron.adapters.sqlite_ledger.job_declared import served_at_boot
from kron.errors import LedgerUnusableError
from kron.hosts.krond.reading import Known
from kron.rules.files.host_job import HostJob
from kron.rules.files.warnings import no_jobs, warn_of_late_boot
from kron.rules.finding import Finding
from kron.rules.work import Work


def start_warnings(works: Sequence[Work | Known], configs: Sequence[str], ledger: Path) -> list[Finding]:
    """Return a warning if there are no jobs, and one for each job that a boot starts which is long past."""
    if not works:
        return [no_jobs(configs, "warning", "add a job and reload")]
    at_boot = [work.payload for work in works if isinstance(work, Work) and isinstance(work.payload, HostJob)]
    at_boot = [job for job in at_boot if job.timing is None]
    return _late_boots(at_boot, _served(ledger)) if at_boot else []


def _late_boots(jobs: Iterable[HostJob], served: AbstractSet[str] | None) -> list[Finding]:
    if served is None:
        return []
    past = since_boot()
    return [finding for job in jobs if job.identity not in served for finding in warn_of_late_boot(job, past)]


def _served(ledger: Path) -> set[str] | None:
    """Return the jobs that this boot starts no more; None if that cannot be known before the ledger is opened."""
    try:
        return served_at_boot(ledger, boot_id()) if ledger.exists() else set()
    except LedgerUnusableError:  # damaged, or of an earlier version: what opens it to write says so, or repairs it
        return None

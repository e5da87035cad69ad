"""warn(job, linter) -> findings: what is valid in a file and yet unlikely to be meant, under the names of its keys."""

from dataclasses import replace

from kron.cron.dialect import UNITS
from kron.instant import ZERO
from kron.rules.files.host_job import HostJob
from kron.rules.finding import Finding
from kron.rules.lint import Linter

_FIELDS = tuple(unit.name for unit in UNITS)


def warn(job: HostJob, linter: Linter) -> list[Finding]:
    """Return the warnings about one job, each at the line of the key that it is about."""
    if job.timing is None:
        return []
    return [_placed(job, warning) for warning in linter.warnings(job.timing, job.policy)]


def warn_of_same_second(job: HostJob) -> list[Finding]:
    """Return a warning if every host that has this file would run the job at the same second."""
    if job.timing is None or job.timing.window.duration == ZERO or job.per_host:
        return []
    message = "nothing in it differs from host to host: all that have this file run the job at the same second"
    return [job.finding("warning", "salt", message, 'add salt = "{host}" to [defaults] or to the job')]


def _placed(job: HostJob, warning: Finding) -> Finding:
    if warning.field in _FIELDS:
        return replace(warning, file=job.file, line=job.line_of("schedule"))
    part = warning.field
    if part == "constraint" and job.prefix:
        part = "only" if "only" in job.offsets else "avoid"
    return job.finding(warning.level, part, warning.message, warning.fix)

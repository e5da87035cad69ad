"""lint_job(job, linter) -> findings: what is valid in a file and yet unlikely to be meant, by the names of its keys."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from kron.cron.dialect import UNITS
from kron.errors import Fix, escape_unprintable
from kron.errors.diagnostics import Diagnostic, Severity
from kron.instant import ZERO, format_duration
from kron.jobfile.fixes import fix_of_job
from kron.jobfile.host_job import HostJob
from kron.rules.lint import Linter

_EMPTYING = re.compile(r"(?:(?<!>)>\|?|\b(tee))\s*(/dev/(?:stdout|stderr|fd/[12])|/proc/self/fd/[12])\b")
_MINUTE = timedelta(minutes=1)
_LONG_PAST = 10 * _MINUTE  # a machine that takes longer to come up is not expected
_FIELDS = tuple(unit.name for unit in UNITS)


def lint_job(job: HostJob, linter: Linter) -> list[Diagnostic]:
    """Return the warnings about one job, each at the line of the key that it is about."""
    if job.timing is None:
        return []
    return [_placed(job, warning) for warning in linter.check(job.timing, job.policy)]


def no_jobs(
    paths: Sequence[str], level: Severity = "error", fix: str = "add a job, or say --allow-empty"
) -> Diagnostic:
    """Return the finding that none of these files and directories has a job."""
    return Diagnostic(level, "jobs", f"no jobs in {', '.join(map(escape_unprintable, paths))}", fix, paths[0], 1)


def lint_late_boot(job: HostJob, since_boot: timedelta) -> list[Diagnostic]:
    """Return a warning if a job is about to run because of a boot that is long past."""
    if job.timing is not None or job.policy.suspend or since_boot <= _LONG_PAST:
        return []
    ago = format_duration(since_boot - since_boot % _MINUTE)
    message = f"the machine booted {ago} ago, and krond has not run the job since: it runs it now"
    fix = fix_of_job(Fix("suspend", value=True, note="before the first start"), job)
    return [job.finding("warning", "schedule", message, f"if it must not run now, {fix}")]


def lint_same_second(job: HostJob) -> list[Diagnostic]:
    """Return a warning if every host that has this file would run the job at the same second."""
    if job.timing is None or job.timing.window.duration == ZERO or job.varies_by_host:
        return []
    message = "nothing in it differs from host to host: all that have this file run the job at the same second"
    line = f"@seed({job.timing.seed.strategy.value},salt={{host}})"
    fix = 'add salt = "{host}" to [defaults] or to the job' if job.prefix else f"write {line} in the line"
    return [job.finding("warning", "salt", message, fix)]


def lint_truncation(job: HostJob) -> list[Diagnostic]:
    """Return a warning if the text for a shell opens its own output anew, which empties it as it would any file."""
    command = job.command
    if command.argv[1:2] != ("-c",) or not (found := _EMPTYING.search(" ".join(command.argv[2:3]))):
        return []
    number = "2" if found[2].endswith(("stderr", "2")) else "1"
    where = command.stderr if number == "2" and command.stderr != "stdout" else command.stdout
    if where in ("inherit", "discard"):
        return []
    message = f'empties what the job has written so far, found "{found[0]}"'
    fix = f"tee -a {found[2]}" if found[1] else f">&{number}, or >> {found[2]}"
    return [job.finding("warning", "command", message, f"write {fix}")]


def _placed(job: HostJob, warning: Diagnostic) -> Diagnostic:
    if warning.field in _FIELDS:
        return replace(warning, file=job.file, line=job.line_of("schedule"))
    part = warning.field
    if part == "constraint" and job.prefix:
        part = "only" if "only" in job.line_offsets else "avoid"
    fix = fix_of_job(warning.fix, job)
    if part == "window" and not job.prefix and "@win" not in job.schedule:
        fix = f"{fix} by @win in the line, because it comes from RANDOM_DELAY"
    return job.finding(warning.level, part, warning.message, fix)

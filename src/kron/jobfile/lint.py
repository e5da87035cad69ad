"""lint_job: what is valid in a file and probably not meant. fix_of_job: a fix in the words of the file."""

import re
from collections.abc import Sequence
from datetime import timedelta

from kron.decision.line import Modifier, TrailingText, parse_line
from kron.errors import Fix, Remedy, escape_unprintable
from kron.errors.diagnostics import Diagnostic, Severity
from kron.instant import ZERO, format_duration
from kron.jobfile.host_job import HostJob
from kron.jobfile.keys import KEYS
from kron.jobfile.toml_syntax import format_value
from kron.rules.lint import Linter


def fix_in_line(fix: Remedy, line: str) -> str:
    """Return a fix in the words of a line of this text, which is valid.

    A line has each modifier once: what one says is changed inside it.
    """
    if not isinstance(fix, Fix):
        return str(fix)
    return _in_modifier(fix, _modifier(fix, line))


def fix_of_job(fix: Remedy, job: HostJob) -> str:
    """Return a fix in the words of the file of a job: of a line, also in a crontab, or of a TOML table.

    A table says each part once: what the modifiers of its schedule say is changed there.
    """
    if not isinstance(fix, Fix):
        return str(fix)
    modifier = _modifier(fix, job.schedule)
    if not job.prefix or (modifier is not None and _says(modifier, fix.key)):
        return _in_modifier(fix, modifier)
    return fix.worded(f"{fix.key} = {format_value(fix.value)}", "write" if fix.key in job.line_offsets else "add")


def _modifier(fix: Fix, line: str) -> Modifier | None:
    return parse_line(line, trailing=TrailingText.COMMAND).modifiers.get(KEYS[fix.key].modifier)


def _in_modifier(fix: Fix, modifier: Modifier | None) -> str:
    setting = f"{fix.key}={fix.text}"
    if modifier is None:
        return fix.worded(f"@{KEYS[fix.key].modifier}({setting})", "add")
    return f"in @{modifier.name}(…) {fix.worded(setting)}"


def _says(modifier: Modifier, key: str) -> bool:
    return any(word.partition("=")[0].strip() == key for word in modifier.words())


_EMPTYING = re.compile(r"(?:(?<!>)>\|?|\b(tee))\s*(/dev/(?:stdout|stderr|fd/[12])|/proc/self/fd/[12])\b")
_MINUTE = timedelta(minutes=1)
_LONG_PAST = 10 * _MINUTE  # a machine that takes longer to come up is not expected


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
    """Return a warning if the shell text opens its own output file again, which truncates it."""
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
    part = warning.field
    if part == "constraint":
        part = "only" if "only" in job.line_offsets else "avoid"
    fix = fix_of_job(warning.fix, job)
    if part == "window" and not job.prefix and "@win" not in job.schedule:
        fix = f"{fix} by @win in the line, because it comes from RANDOM_DELAY"
    return job.finding(warning.level, part, warning.message, fix)

"""HostJob: one job of a host, whatever its file looked like: when, under which policy, what is run, what follows."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import timedelta
from typing import NamedTuple

from kron.decision.timing import Timing
from kron.errors.diagnostics import Diagnostic, Severity
from kron.forecast.runs import ForecastJob
from kron.instant import format_duration
from kron.rules.job_spec import JobSpec
from kron.rules.policy import Policy

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # of children whose job sets none
_TEN_SECONDS = timedelta(seconds=10)
_MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Command:
    """A program with its arguments, its user, directory, environment and limits, and where its output goes."""

    argv: tuple[str, ...]  # with a shell: (shell, "-c", text)
    user: str = ""  # empty: that of the host process
    group: str = ""  # empty: the user's own
    cwd: str = ""  # absolute; empty: its HOME, the user's own if `env` has none; "/" if that does not exist
    env: tuple[tuple[str, str], ...] = ()  # beside what every child gets
    umask: int | None = None
    limits: tuple[tuple[str, int], ...] = ()  # by the names of resource.RLIMIT_* in lower case
    stdin: str = ""
    timeout: timedelta | None = None
    grace: timedelta = _TEN_SECONDS  # between SIGTERM and SIGKILL
    stdout: str = "capture"  # or inherit, discard, syslog, file:/path
    stderr: str = "capture"  # or stdout, which joins them
    output_limit: int = _MEBIBYTE  # bytes captured of a run, half of them from its head, half from its tail


LATE_AFTER = timedelta(seconds=60)
RETRY_DELAY = timedelta(seconds=30)
FINGERPRINT_BYTES = 16  # bytes of a digest


@dataclass(frozen=True, slots=True)
class Webhook:
    """A hook that is called: POST to an address."""

    url: str


@dataclass(frozen=True, slots=True)
class HookCommand:
    """A hook that is run, as the job's user."""

    argv: tuple[str, ...]


Hook = Webhook | HookCommand


@dataclass(frozen=True, slots=True)
class Hooks:
    """Hooks for a job that fails, recovers, is missed or starts late."""

    on_failure: tuple[Hook, ...] = ()
    on_recovery: tuple[Hook, ...] = ()
    on_missed: tuple[Hook, ...] = ()
    on_late: tuple[Hook, ...] = ()
    late_after: timedelta = LATE_AFTER
    ping: str = ""


HOOKS = ("on_failure", "on_recovery", "on_missed", "on_late")  # the keys that take calls and programs
NO_HOOKS = Hooks()


class NamedAccount(NamedTuple):
    """A user or group that is named where so much else is wrong that there is no job."""

    part: str  # `user` or `group`
    name: str
    field: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class HostJob:
    """A job and where it is defined. Two are equal if they say the same, wherever they say it."""

    name: str
    identity: str
    schedule: str  # as it was written
    timezone: str
    timing: Timing | None  # None: @reboot, once for each boot of the machine
    policy: Policy
    command: Command
    retries: int = 0
    retry_delay: timedelta = RETRY_DELAY
    hooks: Hooks = field(default_factory=Hooks)
    description: str = ""
    file: str = field(default="", compare=False)  # as people call it
    line: int = field(default=0, compare=False)
    line_offsets: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    """Where its parts are said, those of the defaults, too: lines from its own one on."""
    prefix: str = field(default="", compare=False)  # of the names of its keys, such as `jobs.backup.`
    varies_by_host: frozenset[str] = field(default=frozenset(), compare=False)
    """The words in braces of its identity and salt: with any, another host has another seed."""
    fingerprint: bytes = field(default=b"", compare=False, repr=False)
    """Of all that it was made from, a digest: as long as it is the same, so is the job."""

    def line_of(self, part: str) -> int:
        """Return the line that says a part, such as `suspend` or `window`; the job's own if none does."""
        return self.line + self.line_offsets.get(part, 0)

    def finding(self, level: Severity, part: str, message: str, fix: str = "") -> Diagnostic:
        """Return something to say about a part of this job, at the line that says it."""
        return Diagnostic(level, f"{self.prefix}{part}", message, fix, self.file, self.line_of(part))


def forecast_jobs(jobs: Iterable[HostJob], host: str = "") -> list[ForecastJob]:
    """Return the jobs that are expected to run at some time: neither at boots only, nor suspended by their file."""
    return [
        ForecastJob(job.name, job.timing, repr(job.command), host)
        for job in jobs
        if job.timing is not None and not job.policy.suspend
    ]


_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True)
_FIELDS = tuple(field.name for field in fields(Command))


def work_of(job: HostJob) -> JobSpec:
    """Return the work of a job; whatever it says is part of its definition, but for where it says it."""
    definition = {
        "schedule": job.schedule,
        "timing": None if job.timing is None else job.timing.to_dict(),
        "policy": job.policy.to_dict(),
        "command": _command(job.command),
        "retries": job.retries,
        "retry_delay": format_duration(job.retry_delay),
        "description": job.description,
    }
    if job.hooks != NO_HOOKS:
        definition["hooks"] = {**asdict(job.hooks), "late_after": format_duration(job.hooks.late_after)}
    return JobSpec(
        job.identity,
        job.name,
        job.timing,
        job.policy,
        _ENCODER.encode(definition),
        payload=job,
        retries=job.retries,
        retry_delay=job.retry_delay,
        timeout=job.command.timeout,
        grace=job.command.grace,
    )


def _command(command: Command) -> dict[str, object]:
    found = {name: getattr(command, name) for name in _FIELDS}
    for name in ("timeout", "grace"):
        if found[name] is not None:
            found[name] = format_duration(found[name])
    return found

"""Command: what a job runs on a host, and in which surroundings; it never moves a chosen second."""

from dataclasses import dataclass
from datetime import timedelta

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

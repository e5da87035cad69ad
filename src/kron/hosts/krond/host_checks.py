"""check_host(job_set) -> findings: whether this host has the users, groups, programs, folders and log of its jobs."""

import grp
import os
import pwd
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from kron.adapters.process.syslog import ADDRESS
from kron.errors import display_text
from kron.errors.diagnostics import Diagnostic, Severity
from kron.jobfile.host_job import DEFAULT_PATH, HOOKS, NO_HOOKS, Command, HookCommand, HostJob
from kron.jobfile.reader import JobSet


def check_host(job_set: JobSet, *, elsewhere: bool = False) -> list[Diagnostic]:
    """Return errors about users and groups, which are warnings if the jobs are to run elsewhere, and other warnings."""
    # Thousands of jobs name a handful of users, programs and directories: each is asked for once.
    refusal, has_program, has_directory = cache(_refusal), cache(_is_found), cache(_is_directory)
    has_log = Path(ADDRESS).is_socket()
    level: Severity = "warning" if elsewhere else "error"
    found: list[Diagnostic] = []
    for part, name, field, file, line in job_set.wanted:
        if reason := refusal(part, name):
            found.append(Diagnostic(level, field, f'{reason}, found "{display_text(name)}"', _fix(reason), file, line))
    for job in job_set.jobs:
        for part, name in (("user", job.command.user), ("group", job.command.group)):
            if name and (reason := refusal(part, name)):
                found.append(job.finding(level, part, f'{reason}, found "{name}"', _fix(reason)))
        for part, command in _commands(job):
            path = dict(command.env).get("PATH", DEFAULT_PATH)
            if not has_program(command.argv[0], path, command.cwd):
                message = f'is not found on this host, found "{display_text(command.argv[0])}"'
                found.append(job.finding("warning", part, message, "install it, or name its whole path"))
        if job.command.cwd and not has_directory(job.command.cwd):
            message = f'is no directory of this host, found "{job.command.cwd}"'
            found.append(job.finding("warning", "cwd", message, "make it"))
        for stream, where in (("stdout", job.command.stdout), ("stderr", job.command.stderr)):
            if where == _SYSLOG and not has_log:
                message = f"this host has no {ADDRESS}, so that all of it is lost"
                found.append(job.finding("warning", stream, message, 'run a log that listens there, or use "capture"'))
    return found


_SYSLOG = "syslog"


def _commands(job: HostJob) -> Iterator[tuple[str, Command]]:
    """Yield what a job would run, under the names of its keys."""
    yield "command", job.command
    if job.hooks != NO_HOOKS:
        for part in HOOKS:
            programs = [hook for hook in getattr(job.hooks, part) if isinstance(hook, HookCommand)]
            yield from ((part, replace(job.command, argv=program.argv)) for program in programs)


def _refusal(part: str, name: str) -> str:
    """Return why a user or group cannot be had; empty if it can."""
    return _REFUSALS[part](name)


def _fix(reason: str) -> str:
    return "name one of this host" if reason.endswith("exist") else "run krond as root"


def _refusal_of_user(name: str) -> str:
    try:
        uid = pwd.getpwnam(name).pw_uid
    except (KeyError, ValueError):
        return "this user does not exist"
    return "" if os.geteuid() in (0, uid) else "this process may not become this user"


def _refusal_of_group(name: str) -> str:
    try:
        gid = grp.getgrnam(name).gr_gid
    except (KeyError, ValueError):
        return "this group does not exist"
    own = {os.getegid(), *os.getgroups()}
    return "" if os.geteuid() == 0 or gid in own else "this process may not have this group"


_REFUSALS: Mapping[str, Callable[[str], str]] = {"user": _refusal_of_user, "group": _refusal_of_group}


def _is_found(program: str, path: str, cwd: str) -> bool:
    """Whether a program is there; one below an unknown home directory is given credit."""
    if "/" not in program:
        return any(_can_be_run(Path(folder, program)) for folder in path.split(":") if folder)
    if not program.startswith("/") and not cwd:
        return True
    return _can_be_run(Path(cwd, program))


def _can_be_run(path: Path) -> bool:
    try:
        return path.is_file() and os.access(path, os.X_OK)
    except OSError:  # in a folder that is closed to this user, or under a name that is too long: its run will show it
        return False


def _is_directory(path: str) -> bool:
    """Whether a directory is there; one that this process may not see is given credit."""
    try:
        return Path(path).is_dir()
    except OSError:
        return True

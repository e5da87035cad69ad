"""check_host(jobs) -> findings: whether this host has the users, groups and programs that its jobs name."""

import grp
import os
import pwd
from collections.abc import Callable, Iterable
from pathlib import Path

from kron.rules.command import DEFAULT_PATH, Command
from kron.rules.files.host_job import HostJob
from kron.rules.finding import Finding, Level


def check_host(jobs: Iterable[HostJob], *, elsewhere: bool = False) -> list[Finding]:
    """Return errors about users and groups, which are warnings if the jobs are to run elsewhere, and about programs."""
    host = _Host()
    level: Level = "warning" if elsewhere else "error"
    found: list[Finding] = []
    for job in jobs:
        for part, reason in host.refusals(job.command):
            fix = "name one of this host" if reason.endswith("exist") else "run krond as root"
            found.append(job.finding(level, part, f'{reason}, found "{getattr(job.command, part)}"', fix))
        if not host.has_program(job.command):
            message = f'is not found on this host, found "{job.command.argv[0]}"'
            found.append(job.finding("warning", "command", message, "install it, or name its whole path"))
    return found


class _Host:
    """What was asked of this host already: thousands of jobs name a handful of users and programs."""

    def __init__(self) -> None:
        self._users: dict[str, str] = {}
        self._groups: dict[str, str] = {}
        self._programs: dict[tuple[str, str, str], bool] = {}

    def refusals(self, command: Command) -> list[tuple[str, str]]:
        """Return why a user or group of a command cannot be had."""
        found = []
        if command.user and (reason := _once(self._users, command.user, _refusal_of_user)):
            found.append(("user", reason))
        if command.group and (reason := _once(self._groups, command.group, _refusal_of_group)):
            found.append(("group", reason))
        return found

    def has_program(self, command: Command) -> bool:
        """Whether the program of a command is there; one below an unknown home directory is given credit."""
        program, path = command.argv[0], dict(command.env).get("PATH", DEFAULT_PATH)
        key = (program, path, command.cwd)
        if key not in self._programs:
            self._programs[key] = _is_found(program, path, command.cwd)
        return self._programs[key]


def _once(known: dict[str, str], name: str, ask: Callable[[str], str]) -> str:
    if name not in known:
        known[name] = ask(name)
    return known[name]


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


def _is_found(program: str, path: str, cwd: str) -> bool:
    if "/" not in program:
        return any(_can_be_run(Path(folder, program)) for folder in path.split(":") if folder)
    if not program.startswith("/") and not cwd:
        return True
    return _can_be_run(Path(cwd, program))


def _can_be_run(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)

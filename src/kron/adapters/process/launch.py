"""Launcher: starts one process; returns its pid, or raises with the reason."""

# `signal` itself would cost each spawner its enums: five milliseconds, and half a megabyte.
import _signal  # type: ignore[import-not-found]  # it has no stub
import errno
import os
import resource
import stat

from kron.adapters.process.privilege import UserIdentity

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_LANG, _SHELL = "C.UTF-8", "/bin/sh"  # as cron has it: the login shell of many users is there to refuse
_UMASK = 0o022
_FAILED = 127  # exit code of a child that has reported its failure

LaunchSpec = tuple[tuple[str, ...], tuple[tuple[str, str], ...], str, int, tuple[tuple[str, int], ...], str, str, str]
"""argv, environment, directory, umask or -1, limits, standard input, output and error (`fd`: one that came along)."""


class LaunchError(Exception):
    """Why there is no process."""


class Launcher:
    """Starts processes of one user. Not for a process with threads: directory and umask are its own, for a moment."""

    def __init__(self, identity: UserIdentity) -> None:
        self._base = {
            "PATH": PATH, "HOME": identity.home, "LOGNAME": identity.name, "SHELL": _SHELL, "USER": identity.name,
            "LANG": _LANG,
        }  # fmt: skip
        self._ignored = ignored_signals()
        self._null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)

    def launch(self, request: LaunchSpec, descriptors: list[int]) -> int:
        """Start a process in a session of its own; return its number. The descriptors are closed, whatever happens."""
        argv, environment, directory, umask, limits, text, output, error = request
        opened = list(descriptors)
        try:
            env = {**self._base, **dict(environment)}
            _enter(directory, env["HOME"])
            program = _find(argv[0], env["PATH"])
            given = descriptors[::-1]
            first = _text(text, opened) if text else self._null
            second = self._open(output, 1, given, opened)
            third = second if error == "stdout" else self._open(error, 2, given, opened)
            os.umask(_UMASK if umask < 0 else umask)
            streams = (first, second, third)
            try:
                if limits:
                    return _fork(program, argv, env, streams, limits)
                return os.posix_spawn(
                    program,
                    argv,
                    env,
                    file_actions=[(os.POSIX_SPAWN_DUP2, source, target) for target, source in enumerate(streams)],
                    setsid=True,
                    setsigmask=(),
                    setsigdef=self._ignored,
                )
            except OSError as failure:
                raise LaunchError(_explain(program, failure)) from failure
        except ValueError as failure:  # a zero byte in an argument
            raise LaunchError(f"{argv[0]!r} cannot be started: {failure}") from failure
        finally:
            for descriptor in opened:
                os.close(descriptor)

    def rest(self) -> None:
        """Leave the last directory, so that its file system can be unmounted."""
        os.chdir("/")

    def _open(self, where: str, number: int, given: list[int], opened: list[int]) -> int:
        if where == "fd":
            return given.pop()
        if where == "inherit":
            return number
        if where == "discard":
            return self._null
        return _append(where.removeprefix("file:"), opened)


def _enter(directory: str, home: str) -> None:
    """Enter the directory, or the home; instead of a home that does not exist or is not absolute, enter the root."""
    try:
        os.chdir(directory or (home if home.startswith("/") else "/"))
    except OSError as failure:
        if not directory and failure.errno in (errno.ENOENT, errno.ENOTDIR):
            os.chdir("/")
            return
        raise LaunchError(f"working directory {directory or home}: {failure.strerror}") from failure


def _append(path: str, opened: list[int]) -> int:
    """Open a file for appending. A pipe without a reader is an error instead of a wait."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOCTTY | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        os.umask(0o077)
        descriptor = os.open(path, flags, 0o600)
    except OSError as failure:
        raise LaunchError(f"output file {path}: {failure.strerror}") from failure
    opened.append(descriptor)
    os.set_blocking(descriptor, True)
    return descriptor


def _text(text: str, opened: list[int]) -> int:
    """Return a file in memory with the text of standard input: nothing has to be written while the process reads."""
    try:
        descriptor = os.memfd_create("stdin", os.MFD_CLOEXEC)
        opened.append(descriptor)
        data = memoryview(text.encode())
        while data:
            data = data[os.write(descriptor, data) :]
        os.lseek(descriptor, 0, os.SEEK_SET)
    except OSError as failure:
        raise LaunchError(f"standard input: {failure.strerror}") from failure
    return descriptor


def _find(name: str, path: str) -> str:
    """Return the program's path: with a slash as it is, else the first of that name that may be executed."""
    if "/" in name:
        return name
    refused = ""
    for folder in path.split(":"):
        candidate = f"{folder or '.'}/{name}"
        try:
            if stat.S_ISREG(os.stat(candidate).st_mode):
                if os.access(candidate, os.X_OK):
                    return candidate
                refused = refused or candidate
        except OSError:
            continue
    if refused:
        raise LaunchError(f"program {refused}: {os.strerror(errno.EACCES)}")
    raise LaunchError(f"program {name or repr(name)} not found in PATH {path}")


_EXPLANATIONS = {
    errno.EAGAIN: "the user, or the host, has reached its limit of processes",
    errno.ENOEXEC: "it is no program of this machine, and no script that begins with #!",
    errno.E2BIG: "arguments and environment are too long together",
}


def _explain(program: str, failure: OSError) -> str:
    number = failure.errno or 0
    explanation = _EXPLANATIONS.get(number, "")
    if number == errno.ENOENT and os.path.exists(program):
        explanation = "its interpreter, named after #!, does not exist"
    return f"program {program}: {os.strerror(number)}{f' ({explanation})' if explanation else ''}"


def _fork(
    program: str,
    argv: tuple[str, ...],
    env: dict[str, str],
    streams: tuple[int, int, int],
    limits: tuple[tuple[str, int], ...],
) -> int:
    """Start a process with limits, which posix_spawn cannot set: slower, and rare."""
    reading, writing = os.pipe()
    try:
        pid = os.fork()
        if not pid:
            _execute(writing, program, argv, env, streams, limits)
    except OSError:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    answer = os.read(reading, 1024).decode()
    os.close(reading)
    if not answer:
        return pid
    os.waitpid(pid, 0)
    number, _, text = answer.partition(" ")
    if text:
        raise LaunchError(text)
    raise OSError(int(number), os.strerror(int(number)))


def _execute(
    answer: int,
    program: str,
    argv: tuple[str, ...],
    env: dict[str, str],
    streams: tuple[int, int, int],
    limits: tuple[tuple[str, int], ...],
) -> None:
    """Become the program, in a forked child; what fails is written to `answer`, which success closes."""
    limit = ""
    try:
        os.setsid()
        for target, source in enumerate([os.dup(stream) for stream in streams]):  # copies: none is overwritten unused
            os.dup2(source, target)
        for limit, value in limits:
            resource.setrlimit(getattr(resource, f"RLIMIT_{limit.upper()}"), (value, value))
        limit = ""
        reset_signals()
        os.execve(program, argv, env)
    except BaseException as failure:
        if limit:
            os.write(answer, f"0 limit {limit}: {failure}".encode())
        else:
            os.write(answer, str(getattr(failure, "errno", None) or errno.EINVAL).encode())
    finally:
        os._exit(_FAILED)


_CATCHABLE = tuple({*_signal.valid_signals()} - {_signal.SIGKILL, _signal.SIGSTOP})


def ignored_signals() -> tuple[int, ...]:
    """Return the signals that this process ignores, and its children would: set by us, by Python or by our parent."""
    return tuple(number for number in _CATCHABLE if _signal.getsignal(number) is _signal.SIG_IGN)


def reset_signals() -> None:
    """Let every signal have its default effect, and none be blocked."""
    _signal.set_wakeup_fd(-1)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())
    for number in _CATCHABLE:
        try:
            _signal.signal(number, _signal.SIG_DFL)
        except OSError:  # the C library keeps some for itself
            continue

"""Run a command of Kron, or pytest, in a forked process, without the time of a fresh import.

A test process starts one server for each program. The server imports the program's commands once and forks for each
call: the child has its own process ID, files, environment and exit code. Commands that need another interpreter
(limits, preloaded libraries, variables that Python reads when it starts) and claims about imports call subprocess.
"""

import atexit
import gc
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, NoReturn, Self

PROGRAMS = {  # the package of each, and modules that its commands import when they are called
    "kron": ("kron.cli", "kron.adapters.kubernetes.manifests"),
    "krond": ("kron.hosts.krond", "kron.hosts.krond.page"),
    "kron-operator": ("kron.hosts.operator",),
}
PYTEST = "pytest"  # its first word is the folder of the package that is tested, which its server has not imported
_LIBRARIES = ("asyncio", "click.testing", "hypothesis", "sqlite3", "starlette.applications", "uvicorn", "yaml")
_LARGEST = 1 << 20  # bytes of a call, and of a part of an answer
_LONGEST = 300  # seconds without an answer after which a test that waits for a command fails
_READ_AT_START = ("PYTHON", "LC_", "LANG", "LD_", "TZ")
_PROJECT = Path(__file__).parents[1]


class Forked:
    """A running command; without pipes it has the standard output and error of this process, as with Popen."""

    def __init__(
        self, program: str, *words: str, environment: Mapping[str, str] | None = None, pipes: str = "stderr"
    ) -> None:
        """`pipes` names those of stdin, stdout and stderr that this process holds the other ends of."""
        server = _server(program, Path("/proc/self/ns/mnt").readlink())
        wanted = dict(os.environ if environment is None else environment)
        assert _fixed(wanted) == server.fixed, "Python reads these when it starts: call subprocess"
        status, theirs = os.pipe()
        ends = {name: os.pipe() for name in pipes.split()}
        given = [
            ends["stdin"][0] if "stdin" in ends else 0,
            ends["stdout"][1] if "stdout" in ends else 1,
            ends["stderr"][1] if "stderr" in ends else 2,
            theirs,
        ]
        umask = os.umask(0)
        os.umask(umask)
        call = {"words": words, "environment": wanted, "folder": str(Path.cwd()), "umask": umask}
        socket.send_fds(server.control, [json.dumps(call).encode()], given)
        for end in (*(pair[name != "stdin"] for name, pair in ends.items()), theirs):
            os.close(end)
        self.args = (program, *words)
        self.stdin: IO[str] | None = os.fdopen(ends["stdin"][1], "w", encoding="utf-8") if "stdin" in ends else None
        self.stdout: IO[str] | None = _reader(ends["stdout"][0]) if "stdout" in ends else None
        self.stderr: IO[str] | None = _reader(ends["stderr"][0]) if "stderr" in ends else None
        self._status = os.fdopen(status)
        self.pid = int(self._status.readline())
        self.returncode: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for pipe in (self.stdin, self.stdout, self.stderr):
            if pipe is not None:
                pipe.close()
        self.wait()

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self._settle()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code when it has ended."""
        if self.returncode is None:
            if timeout is not None and not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout)
            self._settle()
        assert self.returncode is not None
        return self.returncode

    def communicate(self, text: str = "") -> tuple[str, str]:
        """Write a text to its input; return its output and its errors, of those that are pipes, when it has ended."""
        if self.stdin is not None:
            threading.Thread(target=self._write, args=(self.stdin, text), daemon=True).start()
        found = {pipe: b"" for pipe in (self.stdout, self.stderr) if pipe is not None}
        still = list(found)
        while still:
            ready = select.select(still, [], [], _LONGEST)[0]
            if not ready:
                self.kill()
                raise subprocess.TimeoutExpired(self.args, _LONGEST)
            for pipe in ready:
                part = os.read(pipe.fileno(), _LARGEST)
                found[pipe] += part
                if not part:
                    still.remove(pipe)
                    pipe.close()
        self.wait()
        output, errors = (b"" if pipe is None else found[pipe] for pipe in (self.stdout, self.stderr))
        return output.decode(), errors.decode()

    @staticmethod
    def _write(pipe: IO[str], text: str) -> None:
        with suppress(BrokenPipeError), pipe:
            pipe.write(text)

    def _settle(self) -> None:
        with self._status:
            self.returncode = os.waitstatus_to_exitcode(int(self._status.readline()))

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)


def run(
    program: str, *words: str, environment: Mapping[str, str] | None = None, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; return its exit code, its output and its errors."""
    process = Forked(program, *words, environment=environment, pipes="stdin stdout stderr")
    output, errors = process.communicate(stdin)
    return subprocess.CompletedProcess(process.args, process.wait(), output, errors)


def _reader(end: int) -> IO[str]:
    return os.fdopen(end, encoding="utf-8")


def _fixed(environment: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in environment.items() if key.startswith(_READ_AT_START)}


class _Server:
    """The process that forks; it ends, and its children with it, when this process has."""

    def __init__(self, program: str) -> None:
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.fixed = _fixed(os.environ)
        command = [sys.executable, "-m", "tests.forked", program, str(theirs.fileno())]
        self._process = subprocess.Popen(
            command, cwd=_PROJECT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        theirs.close()
        atexit.register(self.end)

    def end(self) -> None:
        """End it, so that no child is left."""
        self.control.close()
        self._process.wait()


@cache
def _server(program: str, mounts: Path) -> _Server:  # noqa: ARG001  # one for each namespace: children see its mounts
    return _Server(program)


def _serve(control: socket.socket) -> list[str]:
    """Fork for each call; return its words in the child."""
    news, waker = socket.socketpair()
    waker.setblocking(False)  # noqa: FBT003  # it has no name
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal: the test process decides
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker.fileno())
    children: dict[int, int] = {}
    while True:
        ready = select.select([control, news], [], [])[0]
        if news in ready:
            news.recv(4096)
            _reap(children)
        if control in ready:
            message, given, _, _ = socket.recv_fds(control, _LARGEST, 4)
            if not message:
                _end(children)
            if not (pid := os.fork()):
                return _become(json.loads(message), given)
            os.write(given[3], f"{pid}\n".encode())
            children[pid] = given[3]
            for each in given[:3]:
                os.close(each)


def _reap(children: dict[int, int]) -> None:
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        os.write(children[pid], f"{status}\n".encode())
        os.close(children.pop(pid))


def _end(children: Mapping[int, int]) -> NoReturn:
    for pid in children:
        os.kill(pid, signal.SIGKILL)
    os._exit(0)


def _become(call: Mapping[str, object], given: list[int]) -> list[str]:
    """Be the process that was called for."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.dup2(given[number], number)
        setattr(sys, name, _stream(number, getattr(sys, name)))
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    assert isinstance(call["environment"], dict)
    assert isinstance(call["umask"], int)
    assert isinstance(call["words"], list)
    os.environ.clear()
    os.environ.update(call["environment"])
    os.chdir(str(call["folder"]))
    os.umask(call["umask"])
    return call["words"]


def _stream(number: int, like: io.TextIOWrapper) -> io.TextIOWrapper:
    """Return a standard stream; that of the server knows whether its own file was a terminal, and where it ended."""
    buffering = 0 if number and like.write_through else -1
    raw = open(number, "wb" if number else "rb", buffering, closefd=False)  # noqa: SIM115  # it lives as long as the process
    of_lines = number == 2 or os.isatty(number)
    return io.TextIOWrapper(raw, like.encoding, like.errors, line_buffering=of_lines, write_through=like.write_through)


def _main(program: str, control: int) -> None:
    prepare = _prepare_pytest if program == PYTEST else _prepare_command
    main = prepare(program)
    gc.collect()
    gc.freeze()  # a collection in a child would copy every page
    words = _serve(socket.socket(fileno=control))
    sys.argv = [program, *words]
    if words[:1] == ["run"]:
        main()
    else:
        _question(main)


def _prepare_command(program: str) -> Callable[[], None]:
    package, *more = PROGRAMS[program]
    group = getattr(import_module(f"{package}.commands"), program.rpartition("-")[2])
    for command in group.list_commands(None):
        group.get_command(None, command)
    for module in more:
        import_module(module)
    sys.path[0] = ""  # as for `python -c`
    main: Callable[[], None] = getattr(import_module("kron.entry_points"), f"{program.replace('-', '_')}_main")
    return main


def _prepare_pytest(_program: str) -> Callable[[], None]:
    for module in _LIBRARIES:
        import_module(module)
    import pytest

    def main() -> None:
        package = sys.argv.pop(1)
        assert "kron" not in sys.modules
        sys.path.insert(0, package)
        os.chdir(_PROJECT)
        os.environ["PYTHONPATH"], os.environ["PYTHONDONTWRITEBYTECODE"] = package, "1"  # for processes of the test
        sys.dont_write_bytecode = True
        sys.exit(pytest.main(sys.argv[1:]))

    return main


def _question(main: Callable[[], None]) -> None:
    """Call it and exit without freeing what was imported, which takes ten times as long as most answers."""
    try:
        main()
    except SystemExit as end:
        if not isinstance(end.code, int) or threading.active_count() > 1:
            raise
        sys.stdout.flush()
        sys.stderr.flush()
        atexit._run_exitfuncs()
        os._exit(end.code)


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]))

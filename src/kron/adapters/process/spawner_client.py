"""SpawnerProcess: one spawner as its host sees it: requests go in, report lines come out, its death is noticed."""

import asyncio
import fcntl
import os
import signal
import socket
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from kron.adapters.process.launch import LaunchSpec
from kron.adapters.process.procfs import RUN_ID, read_stat
from kron.adapters.process.spawner import COUNTER, SOCKET, Progress, encode_frame
from kron.jobfile.host_job import Command
from kron.rules.job_record import RunHandle

_ROOT = str(Path(__file__).parents[3])
_CODE = f"import sys; sys.path.append({_ROOT!r}); from kron.adapters.process.spawner import main; main()"
_READ = 1 << 16
_MOST_BYTES = 1 << 16  # of starts under way: well below what a socket holds
# Seconds without an answer until a spawner counts as hung: a stopped one (it got a signal), and any other, which may
# just be slow on a busy machine.
_STOPPED, _SILENT = 3.0, 30.0
_SPEECHLESS = "it failed, and its spawner was ended before it could say why"
_ABOVE = 16  # own descriptors that are passed on lie above those that the spawner expects


@dataclass(frozen=True, slots=True)
class SpawnRequest:
    """What to start, under which id; `env` goes over the command's own and gets the id added."""

    run_id: str
    command: Command
    env: tuple[tuple[str, str], ...] = ()
    id_variable: str = RUN_ID  # name of the variable with the id; HOOK_ID for a hook's command

    def environment(self) -> tuple[tuple[str, str], ...]:
        """Return the variables beside those that every child of its user has."""
        return (*self.command.env, *self.env, (self.id_variable, self.run_id))


@dataclass(frozen=True, slots=True)
class ProcessExit:
    """How it ended: an exit code, a signal's name, or why it never started; none of them if its end was not seen."""

    run_id: str
    exit_code: int | None = None
    signal: str | None = None
    not_started: str | None = None


@dataclass(slots=True)
class SpawnerReport:
    """What has become of some executions, in this order."""

    started: list[RunHandle] = field(default_factory=list)
    ended: list[ProcessExit] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.started or self.ended)


class SpawnerProcess:
    """A process of its own; `hear` gets its reports, `gone` is called once when it has closed its end."""

    def __init__(
        self, user: str, group: str, hear: Callable[[SpawnerReport], object], gone: Callable[["SpawnerProcess"], object]
    ) -> None:
        self._hear = hear
        self._gone = gone
        self._loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[tuple[int, int]] = self._loop.create_future()  # uid and gid
        self.in_flight: deque[tuple[SpawnRequest, int]] = deque()  # with the bytes that each takes, roughly
        self.running: dict[int, str] = {}  # run ids by pid
        self.refusal = ""
        self.answered = 0  # starts that it has answered
        self._ends = 0  # ends that it has reported
        self._line = b""
        self._unsent = b""
        self._ending = False
        self._has_gone = False
        self._has_spoken = False  # since the last look
        self._silence = 0.0  # seconds for which an answer has been due
        with ExitStack() as on_failure:  # descriptors may be scarce
            self._counter = _high(os.memfd_create("kron spawner", os.MFD_CLOEXEC))
            on_failure.callback(os.close, self._counter)
            self._progress = Progress(self._counter)
            self._socket, theirs = socket.socketpair()
            on_failure.enter_context(self._socket)
            self._socket.setblocking(False)  # noqa: FBT003  # it has no name
            with theirs:
                self.pid = self._execute(theirs.fileno(), user, group)
            on_failure.pop_all()
        self._loop.add_reader(self._socket, self._readable)

    def _execute(self, connection: int, user: str, group: str) -> int:
        connection = _high(os.dup(connection))
        try:
            return os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-S", "-X", "utf8", "-c", _CODE, user, group],
                {},
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0),
                    (os.POSIX_SPAWN_DUP2, connection, SOCKET),
                    (os.POSIX_SPAWN_DUP2, self._counter, COUNTER),
                ],
                setsid=True,
                setsigmask=(),
            )
        finally:
            os.close(connection)

    def send(
        self, starts: Sequence[SpawnRequest], requests: Sequence[LaunchSpec], descriptors: Sequence[Sequence[int]]
    ) -> None:
        """Ask for starts; OSError if nothing of it has arrived. From any thread: it does not wait."""
        data = encode_frame([(request, len(own)) for request, own in zip(requests, descriptors, strict=True)])
        size = len(data) // len(starts)
        self.in_flight.extend((start, size) for start in starts)
        try:
            sent = socket.send_fds(self._socket, [data], [one for own in descriptors for one in own])
        except OSError:
            for _ in starts:
                self.in_flight.pop()
            raise
        if sent < len(data):  # the rest needs no descriptors, and nothing else is sent before it
            self._unsent = data[sent:]
            self._loop.call_soon_threadsafe(self._loop.add_writer, self._socket, self._writable)

    @property
    def is_full(self) -> bool:
        """Whether it has so much before it that more might not fit into the socket; a thread may send meanwhile."""
        return bool(self._unsent) or sum(size for _, size in tuple(self.in_flight)) > _MOST_BYTES

    def retire(self) -> None:
        """Ask for no more starts, so that it ends when its last child has."""
        self._ending = True
        if not self._unsent:
            with suppress(OSError):  # it has gone already
                self._socket.shutdown(socket.SHUT_WR)

    def is_stuck(self, seconds: float) -> bool:
        """Whether it has been silent for too long; asked from time to time, so many seconds after the last time."""
        owes = not self.ready.done() or bool(self.in_flight) or (self._ending and not self.running)
        is_stopped = (owes or bool(self.running)) and _is_stopped(self.pid)  # then it reports no ends, either
        is_waited_for = (owes or is_stopped) and not (self._has_spoken or self._has_gone)
        self._silence = self._silence + seconds if is_waited_for else 0.0
        self._has_spoken = False
        return self._silence > (_STOPPED if is_stopped else _SILENT)

    def kill(self) -> None:
        """End it at once. It has gone from now on, though its socket may be held by a child that is just being made."""
        os.kill(self.pid, signal.SIGKILL)  # the number is its own until it is buried
        self._on_gone()

    def close(self) -> None:
        """Close the connection. The spawner continues to reap its children until none is left."""
        if self._is_open:  # else it was closed already
            self._loop.remove_reader(self._socket)
            self._loop.remove_writer(self._socket)
            self._socket.close()
            os.close(self._counter)
        if not self.ready.done():
            self.ready.cancel()

    def started_count(self) -> int:
        """Return how many starts it has begun in its life."""
        return self._progress.begun()

    def has(self, pid: int) -> bool:
        """Whether a process is this spawner, or a child of it, reported or not."""
        if pid == self.pid or pid in self.running:
            return True
        if not self._is_open or self.started_count() <= self.answered:  # as nearly always: to read all of it takes long
            return False
        return any(pid == started for started, _ in self._progress.starts(self.answered))

    @property
    def may_have_more(self) -> bool:
        """Whether it has gone, and may have a child that it could not even note."""
        return self._has_gone and self._is_open and self.started_count() > self.answered

    @property
    def _is_open(self) -> bool:
        return self._socket.fileno() >= 0

    def _writable(self) -> None:
        try:
            self._unsent = self._unsent[self._socket.send(self._unsent) :]
        except BlockingIOError:
            return
        except OSError:  # it has gone; the reader notices
            self._unsent = b""
        if not self._unsent:
            self._loop.remove_writer(self._socket)
            if self._ending:
                self.retire()

    def read_rest(self) -> None:
        """Read the last reports of a dead spawner, then, from its progress file, what it did not report."""
        while self._read():
            pass
        news = SpawnerReport()
        for pid, ticks in self._progress.starts(self.answered):
            self._parse_line(f"S {pid} {ticks}" if pid else f"F {_SPEECHLESS}", news)
        for pid, status in self._progress.ends(self._ends):
            self._parse_line(f"E {pid} {status}", news)
        if news:
            self._hear(news)

    def _readable(self) -> None:
        if self._read() == b"":
            self._on_gone()

    def _read(self) -> bytes | None:
        """Take some of its reports; b"" if it has closed its end, None if there is nothing now."""
        try:
            data = self._socket.recv(_READ)
        except BlockingIOError:
            return None
        except OSError:
            return b""
        self._has_spoken = True
        *lines, self._line = (self._line + data).split(b"\n")
        news = SpawnerReport()
        for line in lines:
            self._parse_line(line.decode("utf-8", "replace"), news)
        if news:
            self._hear(news)
        return data

    def _on_gone(self) -> None:
        self._has_gone = True
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)
        if not self.ready.done():
            self.ready.cancel()
        self._gone(self)

    def _parse_line(self, line: str, news: SpawnerReport) -> None:
        kind, _, rest = line.partition(" ")
        if kind == "S":
            pid, ticks = map(int, rest.split())
            self.answered += 1
            start, _ = self.in_flight.popleft()
            self.running[pid] = start.run_id
            news.started.append(RunHandle(start.run_id, pid, ticks))
        elif kind == "E":
            pid, status = map(int, rest.split())
            self._ends += 1
            if run_id := self.running.pop(pid, None):
                news.ended.append(end(run_id, status))
        elif kind == "F":
            self.answered += 1
            start, _ = self.in_flight.popleft()
            news.ended.append(ProcessExit(start.run_id, not_started=rest))
        elif kind == "R":
            uid, gid = map(int, rest.split())
            if not self.ready.done():
                self.ready.set_result((uid, gid))
        elif kind == "N":
            self.refusal = rest


def end(run_id: str, status: int) -> ProcessExit:
    """Return how an execution ended, from the status that the kernel gives."""
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return ProcessExit(run_id, exit_code=code)
    try:
        return ProcessExit(run_id, signal=signal.Signals(-code).name)
    except ValueError:  # one of the real-time signals, which have no names
        return ProcessExit(run_id, signal=f"SIG{-code}")


def _is_stopped(pid: int) -> bool:
    known = read_stat(pid)
    return known is not None and known.is_stopped


def _high(descriptor: int) -> int:
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _ABOVE)
    finally:
        os.close(descriptor)

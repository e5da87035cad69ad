"""The process that starts and reaps one user's processes: requests come in by a socket, reports go out.

    python -I -S -c "…; from kron.adapters.process.spawner import main; main()" USER GROUP

Descriptor 3 is the socket, 4 is its progress: it tells the host, after a violent end of this process, which starts
cannot have happened, and what this process did not report. Requests are frames of marshal; reports are lines:

    R UID GID       ready: privileges are dropped
    N TEXT          refused; the end follows
    S PID TICKS     the next start asked for has happened
    F TEXT          the next start asked for has failed
    E PID STATUS    a process has ended
"""

import _signal  # type: ignore[import-not-found]  # it has no stub; `launch` says why not `signal`
import _socket
import marshal
import os
import select
import sys
import time
from collections.abc import Iterator
from typing import Any

from kron.adapters.process.launch import Launcher, LaunchError, LaunchSpec
from kron.adapters.process.privilege import PrivilegeError, drop_privileges
from kron.adapters.process.procfs import read_stat

# --- progress ---------------------------------------------------------------------------------------------------------

# The first number counts the starts begun. A ring of starts and a ring of ends follow; each entry is its number,
# counted from 1, and two more: the pid (0: it failed) and start ticks of a process, or its pid and wait status.

_WORD = 8  # bytes of a number
_ENTRY = 3 * _WORD
_ROOM = 256  # entries of a ring: more than a host asks for ahead, and than a spawner collects before it reports
_STARTS, _ENDS = _WORD, _WORD + _ROOM * _ENTRY


class Progress:
    """What a spawner has done, in a file in memory that outlives it: its host reads there what was not reported."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._starts = self._ends = 0

    # --- in the spawner -----------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Note that the next start is begun. A crash from here on leaves it in doubt until `started`."""
        self._starts += 1
        os.pwrite(self._descriptor, _bytes(self._starts), 0)

    def started(self, pid: int, ticks: int) -> None:
        """Note as which process it is there, 0 if it failed."""
        entry = _bytes(self._starts, pid, ticks)
        os.pwrite(self._descriptor, entry, _STARTS + self._starts % _ROOM * _ENTRY)

    def ended(self, pid: int, status: int) -> None:
        """Note how a process ended, before it is reaped: then no one else can find out."""
        self._ends += 1
        os.pwrite(self._descriptor, _bytes(self._ends, pid, status), _ENDS + self._ends % _ROOM * _ENTRY)

    # --- in the host --------------------------------------------------------------------------------------------------

    def begun(self) -> int:
        """Return how many starts were begun."""
        return int.from_bytes(os.pread(self._descriptor, _WORD, 0), "big")

    def starts(self, after: int) -> list[tuple[int, int]]:
        """Return pid and ticks of the starts after so many, in their order."""
        return self._entries(_STARTS, after)

    def ends(self, after: int) -> list[tuple[int, int]]:
        """Return pid and status of the ends after so many, in their order."""
        return self._entries(_ENDS, after)

    def _entries(self, ring: int, after: int) -> list[tuple[int, int]]:
        data = os.pread(self._descriptor, _ROOM * _ENTRY, ring)
        words = [int.from_bytes(data[at : at + _WORD], "big") for at in range(0, len(data), _WORD)]
        entries = sorted(zip(words[::3], words[1::3], words[2::3], strict=False))
        return [(first, second) for number, first, second in entries if number > after]


def _bytes(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(_WORD, "big") for number in numbers)


# --- the spawner ------------------------------------------------------------------------------------------------------

SOCKET, COUNTER = 3, 4
_READ = 1 << 18
_MOST_DESCRIPTORS = 253  # that the kernel passes in one message
_REPORTED_TOGETHER, _MOST_LINES = 16, 128  # lines; the second is below what the progress has room for
_GONE = select.POLLHUP | select.POLLERR | select.POLLNVAL
_TICK = 1_000_000_000 // os.sysconf("SC_CLK_TCK")  # nanoseconds


class Spawner:
    """Requests that wait, and children that live."""

    def __init__(self, connection: _socket.socket, launcher: Launcher) -> None:
        self._connection = connection
        self._launcher = launcher
        self._ends = sigchld_fd()
        self._frames = FrameDecoder()
        self._descriptors: list[int] = []
        self._waiting: list[tuple[LaunchSpec, int]] = []  # newest first; with the number of descriptors each takes
        self._lines: list[str] = []
        self._progress = Progress(COUNTER)
        self._children = 0
        self._listening = True
        self._host_lives = True
        self._clock_is_true: bool | None = None  # None: not compared with /proc yet

    def serve(self) -> None:
        """Start and reap until the host wants no more and no child is left."""
        poll = select.poll()
        poll.register(self._connection, select.POLLIN)
        poll.register(self._ends, select.POLLIN)
        while self._listening or self._waiting or self._children:
            idle = not self._waiting
            if idle:
                unblock_sigchld()
            events = poll.poll(None if idle else 0)
            if idle:
                block_sigchld()
            self._reap()
            for descriptor, event in events:
                if descriptor == self._ends:
                    _drain(descriptor)
                elif event & _GONE:  # the host has died: nothing more is started
                    self._abandon()
                    poll.unregister(descriptor)
                # One message at a time: its descriptors are ours.
                elif not self._waiting and not self._receive():
                    poll.modify(descriptor, 0)
            if self._waiting:
                self._start(*self._waiting.pop())
            if len(self._lines) >= _REPORTED_TOGETHER or not self._waiting:
                self._report()

    def _receive(self) -> bool:
        try:
            data, ancillary, _, _ = self._connection.recvmsg(
                _READ, _socket.CMSG_SPACE(_MOST_DESCRIPTORS * 4), _socket.MSG_CMSG_CLOEXEC
            )
        except OSError:
            data, ancillary = b"", []
        for _, _, passed in ancillary:
            self._descriptors += [
                int.from_bytes(passed[at : at + 4], sys.byteorder) for at in range(0, len(passed) - 3, 4)
            ]
        for requests in self._frames.feed(data):
            self._waiting += requests
        self._waiting.reverse()
        self._listening = bool(data)
        return self._listening

    def _abandon(self) -> None:
        self._listening = self._host_lives = False
        self._waiting.clear()
        _close(self._descriptors)
        self._descriptors.clear()

    def _start(self, request: LaunchSpec, count: int) -> None:
        descriptors, self._descriptors = self._descriptors[:count], self._descriptors[count:]
        self._progress.begin()
        before = time.clock_gettime_ns(time.CLOCK_BOOTTIME) // _TICK
        try:
            if len(descriptors) < count:  # this process has too many open already
                _close(descriptors)
                raise LaunchError("its output files did not reach the spawner: too many open files")
            pid = self._launcher.launch(request, descriptors)
        except LaunchError as error:
            self._progress.started(0, 0)
            self._lines.append(f"F {_line(error)}\n")
        except Exception as error:  # whatever it is, the others must not suffer from it
            self._progress.started(0, 0)
            self._lines.append(f"F {_line(error) or type(error).__name__}\n")
        else:
            ticks = self._ticks(pid, before)
            self._progress.started(pid, ticks)
            self._children += 1
            self._lines.append(f"S {pid} {ticks}\n")
        if not self._waiting:
            self._launcher.rest()

    def _ticks(self, pid: int, before: int) -> int:
        """Return when the child started, in the kernel's ticks since boot.

        Two looks at the same clock within the same tick know it without opening a file. Whether it is the kernel's
        clock, unshifted, is tried once.
        """
        after = time.clock_gettime_ns(time.CLOCK_BOOTTIME) // _TICK
        if self._clock_is_true and before == after:
            return after
        known = read_stat(pid)
        ticks = known.ticks if known else after
        if self._clock_is_true is None and before == after:
            self._clock_is_true = ticks == after
        return ticks

    def _reap(self) -> None:
        while self._children:
            try:
                seen = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                self._children = 0
                return
            if seen is None:
                return
            # Its user may stop or kill this process anywhere: the status is in the zombie, or in the progress.
            status = seen.si_status << 8 if seen.si_code == os.CLD_EXITED else seen.si_status
            self._progress.ended(seen.si_pid, status)
            os.waitpid(seen.si_pid, 0)
            self._children -= 1
            self._lines.append(f"E {seen.si_pid} {status}\n")
            if len(self._lines) >= _MOST_LINES:
                self._report()

    def _report(self) -> None:
        if self._lines and self._host_lives:
            try:
                self._connection.sendall("".join(self._lines).encode("utf-8", "backslashreplace"))
            except OSError:
                self._abandon()
        self._lines.clear()


def _drain(descriptor: int) -> None:
    try:
        while os.read(descriptor, 4096):
            pass
    except BlockingIOError:
        return


def _close(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())


def main() -> None:
    """Become the user named on the command line, and serve."""
    ignore_termination()
    for name in os.listdir("/proc/self/fd"):
        if int(name) > COUNTER:
            try:
                os.close(int(name))
            except OSError:  # the one that listed them
                continue
    os.set_inheritable(SOCKET, False)  # noqa: FBT003  # it has no name
    os.set_inheritable(COUNTER, False)  # noqa: FBT003
    connection = _socket.socket(fileno=SOCKET)
    try:
        _serve(connection)
    except BrokenPipeError:  # the host has died before it could ask for anything
        return


def _serve(connection: _socket.socket) -> None:
    try:
        identity = drop_privileges(*sys.argv[1:3])
    except PrivilegeError as error:
        connection.sendall(f"N {_line(error)}\n".encode())
        return
    connection.sendall(f"R {identity.uid} {identity.gid}\n".encode())
    Spawner(connection, Launcher(identity)).serve()


_LENGTH = 4  # bytes of the length before each value


def encode_frame(value: Any) -> bytes:
    """Return a value of plain tuples, texts and numbers as bytes."""
    body = marshal.dumps(value)
    return len(body).to_bytes(_LENGTH, "big") + body


class FrameDecoder:
    """Collects bytes as they arrive, in whatever pieces."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[Any]:
        """Yield the values that are complete now."""
        rest = self._rest + data
        while len(rest) >= _LENGTH:
            end = _LENGTH + int.from_bytes(rest[:_LENGTH], "big")
            if len(rest) < end:
                break
            body, rest = rest[_LENGTH:end], rest[end:]
            yield marshal.loads(body)
        self._rest = rest


# `signal` itself would cost each spawner its enums: five milliseconds, and half a megabyte.

_ENDING = (_signal.SIGHUP, _signal.SIGINT, _signal.SIGQUIT, _signal.SIGTERM, _signal.SIGUSR1, _signal.SIGUSR2)


def ignore_termination() -> None:
    """Ignore signals that are meant for the host: a terminal's Ctrl-C, a service manager that signals all processes."""
    for number in _ENDING:
        _signal.signal(number, _signal.SIG_IGN)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())


def sigchld_fd() -> int:
    """Return a descriptor that can be read whenever a child has ended."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    _signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    _signal.signal(_signal.SIGCHLD, lambda *_: None)
    return reading


def block_sigchld() -> None:
    """Defer SIGCHLD. A signal for each child, while there is work, would cost a tenth of a start."""
    _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGCHLD,))


def unblock_sigchld() -> None:
    """Receive SIGCHLD again, deferred ones too."""
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_signal.SIGCHLD,))

"""ControlClient: asks a running krond on its socket; without asyncio, which takes longer to load than the answer."""

import json
import os
import select
import socket
import struct
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from time import monotonic
from typing import Any

from kron.adapters.unix_socket import peer_credentials, peer_uid, short_address
from kron.errors import ControlError
from kron.errors.base import safe_line
from kron.hosts.krond.control_protocol import is_reply

_TIME = struct.Struct("@ll")  # struct timeval

CONNECT_LIMIT = 5.0  # seconds; a krond that is stopped accepts nothing, and its backlog is soon full
LIMITS: Mapping[str, float] = {"status": 5.0, "ping": 5.0, "reload": 300.0}  # seconds until the end of an answer
OTHERS_LIMIT = 30.0  # seconds: a change waits for the disk; krond computes `jobs` and `next` for 20 s at most
_SILENCE = 2.0  # seconds of waiting for a run or a stop until krond is asked whether it is still there
_ENDING = 60.0  # seconds in which a krond that has closed its socket has to end
LARGEST, LARGEST_LIST = 16 << 20, 128 << 20  # bytes of an answer; of `jobs`, of which a hundred thousand are 50 MiB
_LISTS = frozenset({"jobs", "next"})
_PART = 256 << 10  # bytes
_EXITS = (1, 2)


class ControlClient:
    """A connection to a running krond, which has proved to run as its owner or as root.

    Every answer is limited in time and size and checked, as krond may be stopped and another may have its socket.
    """

    def __init__(self, path: Path, *, limits: Mapping[str, float] = LIMITS) -> None:
        self._path, self._limits = path, limits
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        try:
            self._connect()
        except BaseException:
            self._socket.close()
            raise

    def ask(self, command: str, **arguments: object) -> Any:
        """Return the answer; an answer that says no is a ControlError with the exit code to end with."""
        limit = self._limits.get(command, OTHERS_LIMIT)
        deadline = monotonic() + limit
        try:
            self._socket.settimeout(limit)
            with suppress(BrokenPipeError):  # it may have closed the connection with an answer: that it is too busy
                self._socket.sendall(json.dumps({"command": command, **arguments}).encode() + b"\n")
            if command == "wait":  # for a run, which may take days
                self._wait_for(self._socket)
                deadline = monotonic() + limit
            line = self._read(deadline, LARGEST_LIST if command in _LISTS else LARGEST)
        except TimeoutError as error:
            raise _SilentError(reason=f"{self._name()} has not answered within {limit:g} s{_ADVICE}") from error
        except OSError:
            line = b""
        if not line:
            raise ControlError(reason=f"krond is gone, or refuses this user: {self._path} was closed")
        return self._result(command, line)

    def stop(self, *, now: bool) -> None:
        """Ask krond to stop, and return when its process is gone.

        A process of another container cannot be seen from here. krond leaves the closing of a connection on which it
        was asked to stop to the kernel, so that this is closed when the process is gone.
        """
        process = None
        with suppress(OSError):
            process = os.pidfd_open(peer_credentials(self._socket)[0])  # before krond answers, so that it is krond's
        try:
            self.ask("stop", now=now)
            self._wait_for(self._socket if process is None else process)
        finally:
            if process is not None:
                os.close(process)

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _connect(self) -> None:
        path = self._path
        # A full backlog blocks `connect`, which heeds this limit and not that of `settimeout`.
        limit = _TIME.pack(int(CONNECT_LIMIT), 0)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
        try:
            with short_address(path) as address:
                owner = Path(address).parent.stat().st_uid
                self._socket.connect(address)
        except PermissionError as error:
            raise ControlError(reason=f"only its owner and root may ask the krond on {path.parent}") from error
        except BlockingIOError as error:
            raise _SilentError(
                reason=f"krond has not accepted a connection on {path} within {CONNECT_LIMIT:g} s{_ADVICE}"
            ) from error
        except OSError as error:
            raise _NotRunningError(
                reason=f"no krond runs on {path.parent}; start one, or name its directory with --state"
            ) from error
        trusted = {0, os.geteuid()} | ({owner} if os.geteuid() == 0 else set())
        if (uid := peer_uid(self._socket)) not in trusted:
            raise ControlError(reason=f"uid {uid} answers on {path}, and is neither root nor this user")
        if uid not in (0, owner):
            raise ControlError(reason=f"uid {uid} answers on {path}, and does not own {path.parent}")

    def _read(self, deadline: float, largest: int) -> bytes:
        """Return a line, or nothing if the other end has closed the connection."""
        line = bytearray()
        while True:
            self._socket.settimeout(max(deadline - monotonic(), 0.001))
            part = self._socket.recv(_PART)
            if not part:
                return b""
            line += part
            if b"\n" in part:
                return bytes(line)
            if len(line) > largest:
                raise self._wrong(f"it is longer than {largest >> 20} MiB")
            if monotonic() > deadline:
                raise TimeoutError

    def _result(self, command: str, line: bytes) -> Any:
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise self._wrong("it is not a line of JSON") from error
        match answer:
            case {"ok": True, "result": result} if is_reply(command, result):
                return result
            case {"ok": False, "error": str(reason), "exit": int(code)} if code in _EXITS:
                raise ControlError(reason=safe_line(reason), exit_code=code)
        raise self._wrong(f"it does not have the fields of {command}; after an upgrade, restart krond")

    def _wait_for(self, end: int | socket.socket) -> None:
        """Return when something can be read from `end`; raise an error if krond is stopped meanwhile."""
        closed_at: float | None = None
        while not select.select([end], [], [], _SILENCE)[0]:
            try:
                with closing(ControlClient(self._path, limits=self._limits)) as other:
                    other.ask("ping")
            except _NotRunningError:  # it has closed its socket, and is about to end
                closed_at = closed_at or monotonic()
                if monotonic() - closed_at > _ENDING:
                    raise ControlError(reason=f"{self._name()} has closed its socket and does not end") from None
            except _SilentError:
                raise
            except ControlError:  # it says no, and is there
                closed_at = None

    def _name(self) -> str:
        pid, _ = peer_credentials(self._socket)
        return f"krond (process {pid})" if pid else "krond"

    def _wrong(self, reason: str) -> ControlError:
        return ControlError(reason=f"what {self._path} sent is not an answer of krond: {reason}")


_ADVICE = "; is it stopped or frozen? A SIGCONT continues a stopped process"


class _SilentError(ControlError):
    """krond accepts or answers nothing."""


class _NotRunningError(ControlError):
    """No process listens on the socket."""

"""Lines in, one message each to the host's log out, as long as it takes them.

A log reads when it can, and its queue is short. It is waited for, but never for long at once: the same thread keeps up
with what all other executions write.
"""

import select
import socket
import time

ADDRESS = "/dev/log"
_CRON = 9 << 3  # the facility
_SEVERITIES = {"stdout": 6, "stderr": 4}  # informational, warning
_LONGEST = 8192  # bytes of a message: more than most logs take
_TURN = 0.1  # seconds of a look for all lines together
_ROOM = 0.05  # seconds of them for which room for one line is waited for
_PATIENCE = 5.0  # seconds after which a log that takes nothing is given up, until it does


class Syslog:
    """The socket of the log, opened when there is something to say."""

    def __init__(self, address: str = "", *, patience: float = _PATIENCE) -> None:
        self._address = address or ADDRESS
        self._patience = patience
        self._socket: socket.socket | None = None
        self._until = 0.0  # the end of this turn, by the monotonic clock
        self._refused: float | None = None  # since when nothing is taken

    def begin(self) -> None:
        """Begin another turn."""
        self._until = time.monotonic() + _TURN

    @property
    def is_given_up(self) -> bool:
        """Whether it has taken nothing for so long that nobody waits any more."""
        return self._refused is not None and time.monotonic() - self._refused >= self._patience

    def send(self, run_id: str, stream: str, line: bytes) -> bool:
        """Pass a line on; whether it was taken. It is not once the turn is over, or when the log has no room."""
        if time.monotonic() > self._until:
            return False
        priority = _CRON | _SEVERITIES[stream]
        if self._is_taken(b"<%d>krond[%s]: %s" % (priority, run_id.encode("utf-8", "replace"), line[:_LONGEST])):
            self._refused = None
            return True
        self._refused = self._refused or time.monotonic()
        self._until = 0.0  # who comes next in this turn would wait as long
        return False

    def close(self) -> None:
        """Let go of the socket."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _is_taken(self, message: bytes) -> bool:
        until, is_new = time.monotonic() + _ROOM, False
        while True:
            try:
                is_new = is_new or self._socket is None
                self._opened().send(message)
            except BlockingIOError:
                if not self._has_room(until):
                    return False
            except OSError:
                self.close()
                if is_new:
                    return False  # else: a log that was restarted has a new socket
            else:
                return True

    def _opened(self) -> socket.socket:
        if self._socket is None:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self._socket.setblocking(False)  # noqa: FBT003  # it has no name
            self._socket.connect(self._address)
        return self._socket

    def _has_room(self, until: float) -> bool:
        poll = select.poll()
        poll.register(self._opened(), select.POLLOUT)
        return bool(poll.poll(1000 * max(0.0, until - time.monotonic())))

"""Lines in, one message each to the host's log out. A host without one loses nothing but them."""

import socket
from contextlib import suppress

ADDRESS = "/dev/log"
_CRON = 9 << 3  # the facility
_SEVERITIES = {"stdout": 6, "stderr": 4}  # informational, warning
_LONGEST = 8192  # bytes of a message: more than most logs take


class Syslog:
    """The socket of the log, opened when there is something to say."""

    def __init__(self, address: str = "") -> None:
        self._address = address or ADDRESS
        self._socket: socket.socket | None = None

    def send(self, run_id: str, stream: str, line: bytes) -> None:
        """Pass a line on; if nobody takes it, it is gone."""
        priority = _CRON | _SEVERITIES[stream]
        message = b"<%d>krond[%s]: %s" % (priority, run_id.encode("utf-8", "replace"), line[:_LONGEST])
        for _ in range(2):  # a log that was restarted has a new socket
            with suppress(OSError):
                if self._socket is None:
                    self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                    self._socket.setblocking(False)  # noqa: FBT003  # it has no name
                    self._socket.connect(self._address)
                self._socket.send(message)
                return
            self.close()

    def close(self) -> None:
        """Let go of the socket."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

"""Unix sockets: short addresses of long paths, the process at the other end, and the removal of stale ones."""

import errno
import os
import socket
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def short_address(path: Path) -> Iterator[str]:
    """Yield an address of a socket that is short enough, however long its path is."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


_CREDENTIALS = struct.Struct("3i")


def peer_uid(connection: socket.socket) -> int:
    """Return the user id of the process at the other end."""
    return peer_credentials(connection)[1]


def peer_credentials(connection: socket.socket) -> tuple[int, int]:
    """Return the process and the user at the other end; 0 for a process that cannot be seen from here."""
    pid, uid, _ = _CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    return pid, uid


def remove_stale_socket(path: str) -> None:
    """Remove a socket without a listener; anything else stays."""
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(os.lstat(path).st_mode):  # a link is no socket of ours
            raise FileExistsError(errno.EEXIST, "the path is not a socket")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as asking:
            try:
                asking.connect(path)
            except ConnectionRefusedError:
                os.unlink(path)  # noqa: PTH108  # the short form of a path is not one for pathlib
                return
            except BlockingIOError:  # its owner accepts no connection: a wait for it would not end
                pass
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))

"""usage(path) -> Usage: who has a file open, told by the leases that the kernel grants on it."""

import errno
import fcntl
import os
import signal
from enum import Enum


class Usage(Enum):
    """What others can do with a file."""

    FREE = "nobody has it open"
    EMPTY = "nobody has it open, and nothing is in it"
    READ = "some have it open, or a name for it, but none to write"
    WRITTEN = "somebody can write to it"


_HARMLESS = signal.SIGURG  # ignored unless somebody asks for it; the usual one would end this process
_LEASES = {fcntl.F_WRLCK: Usage.FREE, fcntl.F_RDLCK: Usage.READ}


def usage(path: str | os.PathLike[str]) -> Usage:
    """Return how a file is used by others. A file system without leases says what it would say to the last of them."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        return Usage.WRITTEN if error.errno == errno.EWOULDBLOCK else Usage.READ  # its user has a lease; it has gone
    try:
        # Whoever opens the file while the lease lasts makes the kernel send a signal to us: one that does nothing.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, _HARMLESS)
        for kind, found in _LEASES.items():
            try:
                fcntl.fcntl(descriptor, fcntl.F_SETLEASE, kind)
            except OSError as error:
                if error.errno == errno.EAGAIN:
                    continue
                return Usage.READ
            if found is Usage.FREE:
                facts = os.fstat(descriptor)
                if facts.st_nlink != 1:  # its user has given it another name
                    return Usage.READ
                return Usage.FREE if facts.st_size else Usage.EMPTY
            return found
        return Usage.WRITTEN
    finally:
        os.close(descriptor)  # and the lease with it

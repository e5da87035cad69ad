"""Inotify: changes in directories, as the kernel of Linux reports them; no package is needed for it."""

import ctypes
import errno
import os
import struct
from typing import NamedTuple

IN_ISDIR, IN_IGNORED = 0x40000000, 0x8000
_ATTRIB, _CLOSE_WRITE, _MOVED_FROM, _MOVED_TO = 0x4, 0x8, 0x40, 0x80
_CREATE, _DELETE, _DELETE_SELF, _MOVE_SELF = 0x100, 0x200, 0x400, 0x800
_ONLYDIR = 0x1000000
_MASK = _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF | _ONLYDIR
_HEAD = struct.Struct("iIII")
_BUFFER = 64 * 1024  # bytes


class DirectoryChange(NamedTuple):
    """A change in a directory: the number of the watch, what happened, and the name of the entry, if it has one."""

    watch: int
    mask: int
    name: str


class Inotify:
    """An instance of inotify. `fileno` is readable when there is something to `read`. OSError: the kernel refuses."""

    def __init__(self) -> None:
        try:
            library = ctypes.CDLL(None, use_errno=True)
            self._add, self._remove = library.inotify_add_watch, library.inotify_rm_watch
            self._fd: int = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        except AttributeError as error:  # another kernel
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS)) from error
        _check(self._fd)

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._fd

    def add(self, directory: str) -> int:
        """Watch a directory, and return the number of its watch: the same one if it is watched already."""
        number: int = self._add(self._fd, os.fsencode(directory), _MASK)
        return _check(number)

    def remove(self, watch: int) -> None:
        """Stop a watch; one that has ended with its directory is fine."""
        self._remove(self._fd, watch)

    def read(self) -> list[DirectoryChange]:
        """Return the changes since the last call."""
        found: list[DirectoryChange] = []
        try:
            while data := os.read(self._fd, _BUFFER):
                place = 0
                while place < len(data):
                    watch, mask, _, length = _HEAD.unpack_from(data, place)
                    place += _HEAD.size + length
                    name = data[place - length : place].rstrip(b"\0")
                    found.append(DirectoryChange(watch, mask, os.fsdecode(name)))
        except BlockingIOError:
            pass
        return found

    def close(self) -> None:
        """Watch nothing more."""
        os.close(self._fd)


def _check(answer: int) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer

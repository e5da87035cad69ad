"""Calls of the Linux C library that Python has no names for: adopting orphans, watching a folder, punching holes."""

import ctypes
import errno
import os

_PR_SET_CHILD_SUBREAPER = 36
_KEEP_SIZE, _PUNCH_HOLE = 0x01, 0x02
_IN_MODIFY = 0x02
_IN_NONBLOCK, _IN_CLOEXEC = os.O_NONBLOCK, os.O_CLOEXEC

_libc = ctypes.CDLL(None, use_errno=True)
_libc.fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)


def adopt_orphans() -> bool:
    """Let descendants whose parent dies become children of this process; whether the kernel agreed."""
    return bool(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def punch(descriptor: int, offset: int, length: int) -> bool:
    """Give a part of a file back to the disk, which then reads as zeros; False if this file system cannot."""
    if _libc.fallocate(descriptor, _KEEP_SIZE | _PUNCH_HOLE, offset, length) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EOPNOTSUPP, errno.ENOSYS, errno.ENODEV):
        return False
    raise OSError(number, os.strerror(number))


def forget(path: str | os.PathLike[str], begin: int, end: int) -> bool:
    """Give a part of a file back to the disk by its name; whether the file system can do that."""
    descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        return punch(descriptor, begin, end - begin)
    finally:
        os.close(descriptor)


def watch_folder(path: str) -> int | None:
    """Return a descriptor that tells which files of a folder were written to; None if none can be had."""
    descriptor = int(_libc.inotify_init1(_IN_NONBLOCK | _IN_CLOEXEC))
    if descriptor < 0:
        return None
    if _libc.inotify_add_watch(descriptor, os.fsencode(path), _IN_MODIFY) < 0:
        os.close(descriptor)
        return None
    return descriptor

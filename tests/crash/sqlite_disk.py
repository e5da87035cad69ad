"""SqliteDisk: fault injection below SQLite: the n-th step fails, or kills the process. For dedicated processes.

It is a copy of SQLite's own file system layer (a VFS), registered as the default in the very library that Python uses.
A step is a call that changes the disk: opening for writing, writing, syncing, truncating, deleting, growing the index
of the write-ahead log.
"""

import ctypes
import os
import signal
import sqlite3
from collections.abc import Callable, Sequence
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int64, c_void_p
from pathlib import Path
from typing import Any

from tests.crash.disk import Fault

_OPEN_READ_WRITE = 0x2

# What SQLite's own layer answers when the system says ENOSPC, EIO or EROFS.
_CANT_OPEN, _FULL, _READONLY = 14, 13, 8
_IO_ERRORS = {"write": 778, "sync": 1034, "truncate": 1546, "delete": 2570, "map": 4874, "open": _CANT_OPEN}
_CODES: dict[Fault, Callable[[str], int]] = {
    Fault.NO_SPACE: lambda kind: {"open": _CANT_OPEN, "sync": 1034, "map": 4874, "delete": 2570}.get(kind, _FULL),
    Fault.IO_ERROR: lambda kind: _IO_ERRORS[kind],
    Fault.READ_ONLY: lambda kind: {"open": _CANT_OPEN, "map": 4874}.get(kind, _READONLY),
}


class _Methods(ctypes.Structure):
    """sqlite3_io_methods."""

    _fields_ = [
        ("iVersion", c_int),
        *((name, c_void_p) for name in ("xClose", "xRead", "xWrite", "xTruncate", "xSync", "xFileSize", "xLock")),
        *((name, c_void_p) for name in ("xUnlock", "xCheckReservedLock", "xFileControl", "xSectorSize")),
        *((name, c_void_p) for name in ("xDeviceCharacteristics", "xShmMap", "xShmLock", "xShmBarrier")),
        *((name, c_void_p) for name in ("xShmUnmap", "xFetch", "xUnfetch")),
    ]


class _File(ctypes.Structure):
    """sqlite3_file, of which only the beginning is known."""

    _fields_ = [("pMethods", POINTER(_Methods))]


class _Vfs(ctypes.Structure):
    """sqlite3_vfs."""

    _fields_ = [
        ("iVersion", c_int),
        ("szOsFile", c_int),
        ("mxPathname", c_int),
        ("pNext", c_void_p),
        ("zName", c_char_p),
        ("pAppData", c_void_p),
        *((name, c_void_p) for name in ("xOpen", "xDelete", "xAccess", "xFullPathname", "xDlOpen", "xDlError")),
        *((name, c_void_p) for name in ("xDlSym", "xDlClose", "xRandomness", "xSleep", "xCurrentTime")),
        *((name, c_void_p) for name in ("xGetLastError", "xCurrentTimeInt64", "xSetSystemCall")),
        *((name, c_void_p) for name in ("xGetSystemCall", "xNextSystemCall")),
    ]


_REGISTERED: list[object] = []  # SQLite has pointers to them until the process ends

# SQLite keeps the pointer to a path beyond the call, so paths are handed on as the addresses they are.
_OPEN = CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(_File), c_int, POINTER(c_int))
_DELETE = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int)
_STEPS: dict[str, tuple[str, Any]] = {
    "xWrite": ("write", CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)),
    "xTruncate": ("truncate", CFUNCTYPE(c_int, c_void_p, c_int64)),
    "xSync": ("sync", CFUNCTYPE(c_int, c_void_p, c_int)),
    "xShmMap": ("map", CFUNCTYPE(c_int, c_void_p, c_int, c_int, c_int, c_void_p)),
}


def library() -> str | None:
    """Return the path of the SQLite library that this Python uses, or None if it cannot be found."""
    assert sqlite3.sqlite_version, "it is loaded"
    try:
        lines = Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        return None
    return next((line.split()[-1] for line in lines if "libsqlite3" in line), None)


class SqliteDisk:
    """Register once in a process; then `arm` it and `repair` it as often as needed."""

    def __init__(self) -> None:
        path = library()
        assert path is not None, "ask library() first"
        sqlite = ctypes.CDLL(path)
        sqlite.sqlite3_vfs_find.restype = POINTER(_Vfs)
        inner: _Vfs = sqlite.sqlite3_vfs_find(None).contents
        self._kept: list[object] = []  # functions that SQLite calls must not be collected
        self.steps = 0
        self._failed: list[str] = []
        self._first = self._last = 0
        self._fault = Fault.NO_SPACE
        self._vfs = _Vfs.from_buffer_copy(inner)
        self._vfs.pNext, self._vfs.zName = None, b"failing"
        self._vfs.xOpen = self._keep(_OPEN, self._opening(_OPEN(inner.xOpen)))
        self._vfs.xDelete = self._keep(_DELETE, self._deleting(_DELETE(inner.xDelete)))
        assert sqlite.sqlite3_vfs_register(ctypes.byref(self._vfs), 1) == 0
        _REGISTERED.append(self)

    def arm(self, step: int, fault: Fault, *, for_good: bool = False) -> None:
        """Let that step from now on fail; `for_good`: and all after it, until `repair`."""
        self.steps, self._failed, self._fault = 0, [], fault
        self._first, self._last = step, 2**60 if for_good else step

    def repair(self) -> None:
        """Stop injecting faults."""
        self._first = self._last = 0

    @property
    def failed(self) -> Sequence[str]:
        """The steps that failed since it was armed."""
        return self._failed

    def _keep(self, prototype: Any, function: Callable[..., int]) -> int:
        wrapped = prototype(function)
        self._kept.append(wrapped)
        address = ctypes.cast(wrapped, c_void_p).value
        assert address is not None
        return address

    def _code(self, kind: str, path: str) -> int:
        """Count a step; return SQLite's code of its failure, 0 if it may go on."""
        self.steps += 1
        if not self._first <= self.steps <= self._last:
            return 0
        if self._fault is Fault.KILL:
            os.kill(os.getpid(), signal.SIGKILL)
        self._failed.append(f"{kind} {Path(path).name}")
        return _CODES[self._fault](kind)

    def _opening(self, inner: Any) -> Callable[..., int]:
        def x_open(vfs: int, path: int | None, file: Any, flags: int, out: Any) -> int:
            name = "temporary" if path is None else _text(path)
            if flags & _OPEN_READ_WRITE and (code := self._code("open", name)):
                file.contents.pMethods = None
                return code
            result: int = inner(vfs, path, file, flags, out)
            if result == 0 and file.contents.pMethods:
                file.contents.pMethods = ctypes.pointer(self._wrapped(file.contents.pMethods.contents, name))
            return result

        return x_open

    def _deleting(self, inner: Any) -> Callable[..., int]:
        def x_delete(vfs: int, path: int, sync: int) -> int:
            return self._code("delete", _text(path)) or int(inner(vfs, path, sync))

        return x_delete

    def _wrapped(self, methods: _Methods, path: str) -> _Methods:
        """Return a table of methods in which the steps are ours."""
        ours = _Methods.from_buffer_copy(methods)
        for field, (kind, prototype) in _STEPS.items():
            if address := getattr(methods, field):
                setattr(ours, field, self._keep(prototype, self._step(kind, path, prototype(address))))
        self._kept.append(ours)
        return ours

    def _step(self, kind: str, path: str, inner: Any) -> Callable[..., int]:
        def step(*arguments: Any) -> int:
            return self._code(kind, path) or int(inner(*arguments))

        return step


def _text(address: int) -> str:
    return os.fsdecode(ctypes.string_at(address))

"""LibcDisk: fault injection between the process and the C library. It needs a C compiler.

`build` makes the layer, a process is started with it by `LD_PRELOAD`, and tells it what is to fail.
"""

import ctypes
import errno
import shutil
import subprocess
from collections.abc import Sequence
from ctypes import c_char_p, c_int, c_long
from pathlib import Path

from tests.crash.disk import Fault

_SOURCE = Path(__file__).with_suffix(".c")
_ERRNO = {Fault.NO_SPACE: errno.ENOSPC, Fault.IO_ERROR: errno.EIO, Fault.READ_ONLY: errno.EROFS, Fault.KILL: 0}


def build(folder: Path) -> Path | None:
    """Return the layer, compiled into a folder; None if there is no compiler here."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    layer = folder / "libc_disk.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", layer, _SOURCE, "-ldl"], check=True)
    return layer


class LibcDisk:
    """In a process that was started with the layer: what happens below one folder."""

    def __init__(self, folder: Path) -> None:
        layer = ctypes.CDLL(None)
        self._arm = layer.disk_arm
        self._arm.argtypes = [c_char_p, c_long, c_long, c_int]
        self._repair = layer.disk_repair
        self._failed = layer.disk_failed
        self._failed.restype = c_char_p
        self._folder = str(folder).encode()

    def arm(self, step: int, fault: Fault, *, for_good: bool = False) -> None:
        """Let that step from now on fail; `for_good`: and all after it, until `repair`."""
        self._arm(self._folder, step, 2**60 if for_good else step, _ERRNO[fault])

    def repair(self) -> None:
        """Stop injecting faults."""
        self._repair()

    @property
    def failed(self) -> Sequence[str]:
        """The first step that failed, if any."""
        name = self._failed().decode()
        return [name] if name else []

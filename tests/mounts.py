"""Small disks that only this process and its children see, so that a killed test run leaves none."""

import ctypes
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_NEW_MOUNTS = 0x00020000  # CLONE_NEWNS
_libc = ctypes.CDLL(None, use_errno=True)
_private_for: set[int] = set()  # processes that have made their mounts private


@contextmanager
def mounted_disk(folder: Path, options: str) -> Iterator[Path]:
    """Mount a tmpfs on a folder for a while. The kernel removes it when the last process that sees it is gone."""
    if not may_mount() or _mount("-t", "tmpfs", "-o", options, "kron", str(folder)):
        pytest.skip("MOUNTING IS NOT ALLOWED HERE: what needs a disk of its own was not tried")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@contextmanager
def hanging_disk(folder: Path) -> Iterator[Path]:
    """Mount a disk that does not answer, like a network disk whose server is gone: every access waits."""
    try:
        device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        pytest.skip("THERE IS NO FUSE HERE: a disk that hangs was not tried")
    options = b"fd=%d,rootmode=40000,user_id=0,group_id=0" % device
    try:
        if not may_mount() or _libc.mount(b"kron", os.fsencode(folder), b"fuse", 0, options):
            pytest.skip("MOUNTING IS NOT ALLOWED HERE: a disk that hangs was not tried")
        try:
            yield folder
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)
    finally:
        os.close(device)  # a process that waits gets an error


def remount(folder: Path, options: str) -> None:
    """Give a mounted disk other options."""
    assert not _mount("-o", f"remount,{options}", str(folder))


def may_mount() -> bool:
    """Move this process into a mount namespace of its own, once. Other processes see nothing that it mounts there."""
    if os.getpid() not in _private_for:
        if _libc.unshare(_NEW_MOUNTS) or _mount("--make-rprivate", "/"):
            return False
        _private_for.add(os.getpid())
    return True


def _mount(*words: str) -> int:
    return subprocess.run(["mount", *words], check=False, capture_output=True).returncode

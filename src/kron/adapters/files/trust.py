"""read_trusted_file(path), open_folder(path): read only what root or this process's user could have written."""

import errno
import os
import stat
from pathlib import Path

from kron.jobfile.reader import LARGEST

Warnings = list[tuple[str, str]]
_DIRECTORY = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC  # to open a pipe would block without O_NONBLOCK
_MOST_LINKS = 40  # on the way to a file, as in Linux


class UntrustedFileError(Exception):
    """A file that others may have written; jobs run with this process's rights, so it is not read."""

    def __init__(self, reason: str, fix: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.fix = fix


def absolute_path(file: str) -> str:
    """Return the absolute normalised path that identities contain; links in it are left as they are."""
    return os.path.abspath(file)  # noqa: PTH100 # Path.resolve would follow links


def read_trusted_file(file: str) -> tuple[bytes, Warnings]:
    """Return the content of a job file and warnings about it, or refuse it.

    Each directory and link on the way is opened and checked before the next name is looked up in it, and the file is
    checked after it is opened: what was checked is what is read, whatever happens to the names meanwhile.
    """
    folder, name, warnings = _walk(absolute_path(file))
    try:
        opened = os.open(name, _FILE | os.O_NOFOLLOW, dir_fd=folder)
    finally:
        os.close(folder)
    try:
        warnings += _check_file(os.fstat(opened), file)
        return _read(opened, file), warnings
    finally:
        os.close(opened)


def read_regular_file(file: str) -> bytes:
    """Return the content of a file, regardless of its owner and mode. A pipe, a device or a socket is refused."""
    _check_kind(Path(file).stat())  # to open a device may already do something
    opened = os.open(file, _FILE)
    try:
        _check_kind(os.fstat(opened))
        return _read(opened, file)
    finally:
        os.close(opened)


def open_folder(path: str, *, make: bool = False) -> tuple[int, Warnings]:
    """Return a descriptor of the directory at an absolute path and warnings about it, or refuse it.

    It is refused if others may change its entries, or those of a directory that leads to it. `make`: directories that
    are missing are made.
    """
    folder, _, warnings = _walk(f"{path}/.", make=make)
    return folder, warnings


def check_folder(path: str) -> None:
    """Refuse a directory of job files whose entries others may change: they could remove or add jobs."""
    folder, _ = open_folder(absolute_path(path))
    os.close(folder)


def _read(opened: int, file: str) -> bytes:
    with os.fdopen(opened, "rb", closefd=False) as reader:
        content: bytes | None = reader.read(LARGEST + 1)  # one more than allowed, so that the reader of it refuses it
    if content is None:  # a file of the kernel that has nothing to say yet, such as /proc/kmsg
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN), file)
    return content


def _walk(path: str, *, make: bool = False) -> tuple[int, str, Warnings]:
    """Return a descriptor of the last directory of an absolute path, and the last name in it, which is no link.

    Only trusted directories and links lead to it.
    """
    at, place = os.open("/", _DIRECTORY), Path("/")
    names, links = _names(path), 0
    warnings: Warnings = []
    try:
        while True:
            warnings += _check_directory(at, place)
            name = names.pop() if names else "."
            try:
                target = None if name == "." else _target(at, name, place / name)  # it may not be looked up in there
            except FileNotFoundError:
                if not make:
                    raise
                os.mkdir(name, 0o755, dir_fd=at)
                target = None
            if target is None and not names:
                return at, name, warnings
            if target is None:
                step = name
            else:
                step = "/" if target.startswith("/") else "."
                names += _names(target)
                links += 1
                if links > _MOST_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            before, place = at, place / step
            at = os.open(step, _DIRECTORY, dir_fd=before)
            os.close(before)
    except BaseException:
        os.close(at)
        raise


def _names(path: str) -> list[str]:
    """Return the names of a path, the first one last."""
    return [name for name in reversed(path.split("/")) if name]


def _target(at: int, name: str, path: Path) -> str | None:
    """Return where a link in an open directory leads, None if the name is no link."""
    opened = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
    try:
        found = os.fstat(opened)
        if not stat.S_ISLNK(found.st_mode):
            return None
        if found.st_uid not in _trusted():
            raise UntrustedFileError(f"is reached by the link {path} of uid {found.st_uid}", f"chown -h root {path}")
        return os.readlink("", dir_fd=opened)
    finally:
        os.close(opened)


def _check_directory(opened: int, path: Path) -> Warnings:
    """Refuse a directory whose entries others may change. With the sticky bit they can change only their own."""
    found = os.fstat(opened)
    if found.st_uid not in _trusted():
        raise UntrustedFileError(f"is in {path}, which belongs to uid {found.st_uid}", f"chown root {path}")
    others = found.st_mode & (stat.S_IWOTH | stat.S_IWGRP)
    if not others or found.st_mode & stat.S_ISVTX or _is_read_only(opened):
        return []
    if others & stat.S_IWOTH:
        raise UntrustedFileError(f"is in {path}, which is world-writable", f"chmod o-w {path}")
    return [(f"is in {path}, which is group-writable, gid {found.st_gid}", f"chmod g-w {path}")]


def _is_read_only(opened: int) -> bool:
    return bool(os.fstatvfs(opened).f_flag & os.ST_RDONLY)


def _trusted() -> tuple[int, int]:
    """Return the users that may own job files, and the directories and links that lead to them."""
    return 0, os.geteuid()


def _check_kind(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise UntrustedFileError("is not a regular file", "give a file")


def _check_file(found: os.stat_result, file: str) -> Warnings:
    _check_kind(found)
    if found.st_uid not in _trusted():
        raise UntrustedFileError(f"belongs to uid {found.st_uid}", f"chown root {file}")
    if found.st_mode & stat.S_IWOTH:
        raise UntrustedFileError("is world-writable", f"chmod o-w {file}")
    if found.st_mode & stat.S_IWGRP:
        return [(f"is group-writable, gid {found.st_gid}", f"chmod g-w {file}")]
    return []

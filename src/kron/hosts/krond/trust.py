"""read_trusted(file) -> its bytes, if nobody but root and this process's user could have written them."""

import errno
import os
import stat

from kron.rules.files.reading import LARGEST

Warnings = list[tuple[str, str]]


class FileRefusedError(Exception):
    """A file that others may have written; jobs run with this process's rights, so it is not read."""

    def __init__(self, reason: str, fix: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.fix = fix


def whole_path(file: str) -> str:
    """Return the absolute normalised path that identities contain; links in it are left as they are."""
    return os.path.abspath(file)  # noqa: PTH100 # Path.resolve would follow links


def read_trusted(file: str) -> tuple[bytes, Warnings]:
    """Return what a job file holds and what is doubtful about it, or refuse it.

    All questions are asked of the opened file and of the opened directory it was opened in, so that what was checked is
    what is read, whatever happens to the names meanwhile. Links in the directories above are followed.
    """
    directory, name = os.path.split(whole_path(file))
    folder = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _check_directory(os.fstat(folder), directory)
        # Without O_NONBLOCK a pipe in the place of the file would hold us up before we could see that it is one.
        opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise FileRefusedError("is a link", "give the file that it leads to") from error
        raise
    finally:
        os.close(folder)
    try:
        warnings = _check_file(os.fstat(opened), file)
        with os.fdopen(opened, "rb", closefd=False) as reader:
            return reader.read(LARGEST + 1), warnings
    finally:
        os.close(opened)


def _check_directory(found: os.stat_result, directory: str) -> None:
    if found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX:
        raise FileRefusedError(f"lies in {directory}, which everybody may write to", f"chmod o-w {directory}")


def _check_file(found: os.stat_result, file: str) -> Warnings:
    if not stat.S_ISREG(found.st_mode):
        raise FileRefusedError("is not a regular file", "give a file")
    if found.st_uid not in (0, os.geteuid()):
        raise FileRefusedError(f"belongs to uid {found.st_uid}", f"chown root {file}")
    if found.st_mode & stat.S_IWOTH:
        raise FileRefusedError("may be written by everybody", f"chmod o-w {file}")
    if found.st_mode & stat.S_IWGRP:
        return [(f"may be written by its group, gid {found.st_gid}", f"chmod g-w {file}")]
    return []

"""Spool files: the files that a job's stdout and stderr write to, one a stream, used for one run and then removed.

    OUTPUT/live/N      a spool file, open for appending in the job's processes
    OUTPUT/spools      a line for each spool file of a run, `N RUN STREAM LIMIT`; a line without its file is over

They belong to the daemon, so that no job can take a lease on one, change its mode or its times. They are writable for
every user, so that a job can open /dev/stdout, in a folder that only the daemon can enter. Files are made ahead: making
them would be a tenth of a start.
"""

import ctypes
import errno
import fcntl
import os
import signal
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

STREAMS = ("stdout", "stderr")
_MODE, _SEALED = 0o666, 0o600
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_TOGETHER = 32  # files made in one go: a start waits no longer than that
_LONGEST = 1 << 18  # bytes of `spools` after which lines without a file are left out
_KEEP_SIZE, _PUNCH_HOLE = 0x01, 0x02
_END_OF_FILES = (1 << 63) - 1  # bytes: the largest offset that there is
_PIECES = 16  # of a sparse file: output has one, with holes where a job made them
_SYSLOG = "syslog"

_libc = ctypes.CDLL(None, use_errno=True)
_libc.fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)


class Spool(NamedTuple):
    """A spool file: whose output it takes, and how many bytes of the run are kept (None: they go to syslog)."""

    name: str
    run_id: str
    stream: str
    limit: int | None

    def line(self) -> str:
        """Return it as the file `spools` has it."""
        limit = _SYSLOG if self.limit is None else self.limit
        return f"{self.name} {quoted(self.run_id)} {self.stream} {limit}\n"


def quoted(run_id: str) -> str:
    """Return a file name for any run id."""
    return quote(run_id, safe="").replace(".", "%2E")


def read_spools(folder: Path) -> list[Spool]:
    """Return the spool files that runs have."""
    try:
        existing = set(os.listdir(folder / "live"))  # noqa: PTH208  # names are all that is wanted
    except FileNotFoundError:
        return []
    return [spool for spool in _read_lines(folder) if spool.name in existing]


def _read_lines(folder: Path) -> Iterable[Spool]:
    """Yield what `spools` says. A line that a crash cut off does not count."""
    with suppress(FileNotFoundError):
        with os.fdopen(open_spool(folder / "spools"), encoding="ascii", errors="replace") as file:
            lines = file.read().split("\n")[:-1]
        for line in lines:
            with suppress(ValueError):
                name, run, stream, limit = line.split(" ")
                yield Spool(name, unquote(run), stream, None if limit == _SYSLOG else int(limit))


class SpoolFiles:
    """Hands out spool files. All calls come from one thread, that of starts."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.live = self.folder / "live"
        self._spare: list[str] = []
        self._number = 0
        self._longest = _LONGEST

    def open(self) -> list[Spool]:
        """Make the folders that are missing; return the spool files that runs of an earlier daemon have."""
        for each in (self.folder, self.live):
            each.mkdir(mode=0o700, exist_ok=True)
        used = read_spools(self.folder)
        names = {spool.name for spool in used}
        known = {spool.name for spool in _read_lines(self.folder)}
        for name in set(os.listdir(self.live)) - names:  # noqa: PTH208  # likewise
            (self.live / name).unlink()  # made ahead, or a crash came before its start was sent
            known.add(name)
        # A number is not used twice: its old line in `spools` would give the new file to another run.
        self._number = max((int(name) for name in known if name.isdigit()), default=0)
        self._rewrite(used)
        return used

    def take(self) -> tuple[str, int]:
        """Return the name of an unused spool file, and a descriptor of it."""
        while self._spare:
            with suppress(FileNotFoundError):  # someone has removed it
                name = self._spare.pop()
                return name, _blocking(os.open(f"{self.live}/{name}", _FLAGS))
        return self._make()

    def assign(self, spools: Iterable[Spool]) -> None:
        """Record whose these files are, before their runs start: readers and a later daemon rely on it."""
        lines = "".join(spool.line() for spool in spools)
        if lines and _append(self.folder / "spools", lines) > self._longest:
            self._rewrite(read_spools(self.folder))

    def stock(self, number: int) -> bool:
        """Make some files ahead, up to a number; return whether more are missing."""
        missing = number - len(self._spare)
        for _ in range(min(missing, _TOGETHER)):
            name, descriptor = self._make()
            os.close(descriptor)
            self._spare.append(name)
        return missing > _TOGETHER

    def lacks(self, number: int) -> bool:
        """Whether fewer than so many are made ahead; from any thread."""
        return len(self._spare) < number

    def remove(self, names: Iterable[str]) -> None:
        """Remove files of starts that did not happen. None is used again: another process may have got it."""
        for name in names:
            (self.live / name).unlink(missing_ok=True)

    def _make(self) -> tuple[str, int]:
        self._number += 1
        name = str(self._number)
        descriptor = os.open(f"{self.live}/{name}", _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.fchmod(descriptor, _MODE)
        except OSError:
            os.close(descriptor)
            raise
        return name, _blocking(descriptor)

    def _rewrite(self, spools: Iterable[Spool]) -> None:
        new = self.folder / "spools.new"
        new.unlink(missing_ok=True)
        size = _append(new, "".join(spool.line() for spool in spools))
        new.replace(self.folder / "spools")
        self._longest = max(_LONGEST, 2 * size)


def _blocking(descriptor: int) -> int:
    """Return a descriptor as a job expects it: O_NONBLOCK was only for the opening."""
    os.set_blocking(descriptor, True)
    return descriptor


def _append(path: Path, text: str) -> int:
    """Append lines; return the size of the file. A reader sees all of them or none."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        data = text.encode()
        if (written := os.write(descriptor, data)) < len(data):  # a full disk: half a line must not begin the next one
            os.ftruncate(descriptor, os.fstat(descriptor).st_size - written)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def open_spool(path: Path, flags: int = os.O_RDONLY) -> int:
    """Open a file of this folder without a wait: a lease of another process is a BlockingIOError, a pipe an OSError."""
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return descriptor


def seal(path: Path) -> bool:
    """Return whether no process can write a spool file now; from then on none can open it, either.

    The kernel grants a read lease only while no process has the file open for writing. A file system without leases
    knows no better: there, the end of a run is the end of its output.
    """
    try:
        descriptor = open_spool(path)
    except FileNotFoundError:
        return True
    except BlockingIOError:
        return False
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)  # if a process opens it now; SIGIO would end us
        try:
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except OSError as error:
            return error.errno != errno.EAGAIN
        os.fchmod(descriptor, _SEALED)
        if fcntl.fcntl(descriptor, fcntl.F_GETLEASE) == fcntl.F_RDLCK:
            return True
        os.fchmod(descriptor, _MODE)  # a process was opening it meanwhile
        return False
    finally:
        os.close(descriptor)


def punch_hole(descriptor: int, end: int) -> bool:
    """Give the first bytes of a file back to the disk, which then read as zeros; False: this file system cannot."""
    return end <= 0 or _punch(descriptor, 0, end)


def free_beyond_end(descriptor: int, begin: int, slack: int) -> int:
    """Give back what a job has allocated beyond the end of its file, whose data begins at `begin`, if that is more than
    a slack, which file systems allocate by themselves. Return how many bytes there were."""
    facts = os.fstat(descriptor)
    if (found := beyond_end(facts, begin)) > slack:
        _punch(descriptor, facts.st_size, _END_OF_FILES - facts.st_size)
        facts = os.fstat(descriptor)
    if beyond_end(facts, begin) > slack:
        os.ftruncate(descriptor, facts.st_size)  # ext4 frees these blocks only so; what is written just now is lost
    return found


def drop_attributes(descriptor: int) -> None:
    """Remove the attributes that a job has given its file: some file systems keep them without any limit."""
    with suppress(OSError):  # it has none of them
        for name in os.listxattr(descriptor):
            if name.startswith("user."):
                os.removexattr(descriptor, name)


def beyond_end(facts: os.stat_result, begin: int) -> int:
    """Return how many bytes are certainly allocated beyond the end of a file whose data begins at `begin`."""
    return facts.st_blocks * 512 - max(0, facts.st_size - begin)


def _punch(descriptor: int, begin: int, length: int) -> bool:
    if _libc.fallocate(descriptor, _KEEP_SIZE | _PUNCH_HOLE, begin, length) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EOPNOTSUPP, errno.ENOSYS, errno.ENODEV, errno.EFBIG):  # EFBIG: it has no files that large
        return False
    raise OSError(number, os.strerror(number))


def data_from(descriptor: int, place: int, size: int) -> int:
    """Return where a file of some size goes on with data, after a hole."""
    try:
        return min(size, os.lseek(descriptor, place, os.SEEK_DATA))
    except OSError as error:
        return size if error.errno == errno.ENXIO else place  # nothing but a hole; or this file system knows none


def data_until(descriptor: int, place: int, size: int) -> int:
    """Return where the data at a place ends: at a hole, or at the end of the file."""
    try:
        return min(size, os.lseek(descriptor, place, os.SEEK_HOLE))
    except OSError:
        return size


def data_between(descriptor: int, place: int, size: int) -> int:
    """Return how many bytes were written between two places of a file; of a sparse one the first pieces count."""
    found = 0
    for _ in range(_PIECES):
        begin = data_from(descriptor, place, size)
        place = data_until(descriptor, begin, size) if begin < size else size
        found += place - begin
    return found


def is_seized(found: int, limit: int, written: int) -> bool:
    """Whether so many bytes beyond the end of a file are the doing of its job, which has just written some.

    XFS allocates up to twice what was written to a file that grows, and cuts that off only when the file is closed.
    """
    return found > limit + 2 * written

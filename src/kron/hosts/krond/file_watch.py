"""ChangeWatch, DiskCall: reads the job files again when they change, and gives up a disk that does not answer."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Generic, TypeAlias, TypeVar

from kron.adapters.files.job_files import detect_format, is_directory, job_paths
from kron.adapters.files.trust import absolute_path
from kron.adapters.inotify import IN_IGNORED, IN_ISDIR, DirectoryChange, Inotify
from kron.errors import ControlError, KronError
from kron.jobfile.job_file import FileFormat

LONGEST = 60.0  # seconds for reading all job files: a hundred thousand jobs take some ten
QUIET = 1.0  # seconds without a change until the files are read: an editor writes a file in several steps
POLL = 1.0  # seconds between two looks if the kernel reports no changes
ROUND = 60.0  # seconds between two looks if it does: it does not see what another host changes on a network disk
_MOST_LINKS = 40
_Result = TypeVar("_Result")
Snapshot: TypeAlias = tuple[tuple[str, tuple[int, ...] | None], ...]


def late_error(limit: float) -> ControlError:
    """Return the error of job files that were not read in time."""
    reason = f"the job files could not be read within {limit:g} s: a disk or a network may not answer"
    return ControlError(reason=reason)


class DiskCall(Generic[_Result]):
    """One call, in a thread of its own: asyncio's threads are few, and the end of its loop waits for them."""

    def __init__(self, function: Callable[[], _Result]) -> None:
        self._function = function
        self._future: Future[_Result] = Future()
        self._future.set_running_or_notify_cancel()  # from now on it cannot be cancelled, only abandoned
        Thread(target=self._run, name="kron disk", daemon=True).start()

    def _run(self) -> None:
        try:
            self._future.set_result(self._function())
        except BaseException as error:  # the waiting call raises it
            self._future.set_exception(error)

    @property
    def is_over(self) -> bool:
        """Whether the disk has answered."""
        return self._future.done()

    def result(self, limit: float = LONGEST) -> _Result:
        """Return the answer, or raise an error after so many seconds. It blocks."""
        if not wait([self._future], limit).done:
            raise late_error(limit)
        return self._future.result()

    async def answer(self, limit: float = LONGEST) -> _Result:
        """Return the answer, or raise an error after so many seconds. If the caller is cancelled, nothing waits."""
        answer = asyncio.wrap_future(self._future)
        try:
            done, _ = await asyncio.wait([answer], timeout=limit)
            if not done:
                raise late_error(limit)
            return answer.result()
        finally:
            answer.cancel()  # else the loop would report a later error as never retrieved


def take_snapshot(configs: Sequence[str], form: FileFormat | None) -> Snapshot:
    """Return what tells whether the job files, or the directories above them, are still the same."""
    files = sorted(map(absolute_path, job_paths(configs, form)))
    folders = sorted({str(folder) for file in files for folder in Path(file).parents})
    return (*((file, _file_state(file)) for file in files), *((each, _folder_state(each)) for each in folders))


def _file_state(path: str) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)  # noqa: PTH116  # of many files
    except (OSError, ValueError):
        return None
    times = found.st_mtime_ns, found.st_ctime_ns
    return found.st_dev, found.st_ino, found.st_size, found.st_mode, found.st_uid, *times


def _folder_state(path: str) -> tuple[int, ...] | None:
    """Return who may write a directory; its times change with any file in it."""
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return found.st_mode, found.st_uid


@dataclass(slots=True)
class WatchedDirectory:
    """Which changes in a directory matter: of these names, and if its job files are read, of files like them."""

    names: set[str] = field(default_factory=set)
    is_read: bool = False

    def matters(self, folder: str, change: DirectoryChange) -> bool:
        """Whether a change may be one of the job files."""
        if not change.name or change.name in self.names:
            return True
        return self.is_read and (bool(change.mask & IN_ISDIR) or detect_format(f"{folder}/{change.name}") is not None)


def find_watched_directories(configs: Sequence[str], form: FileFormat | None) -> Mapping[str, WatchedDirectory]:
    """Return the directories whose changes may change the job files: those that are read, and all on the way there."""
    found: dict[str, WatchedDirectory] = {}
    files = [absolute_path(file) for file in job_paths(configs, form)]
    roots = [absolute_path(config) for config in configs]
    for path in (*roots, *(file for file in files if Path(file).is_symlink())):
        for folder, name in _steps(path):
            found.setdefault(folder, WatchedDirectory()).names.add(name)
    folders = {str(Path(file).parent) for file in files if file not in roots}
    for folder in (*folders, *(each for root in roots if is_directory(root) for each in _below(root))):
        found.setdefault(folder, WatchedDirectory()).is_read = True
    return found


def _steps(path: str) -> Iterator[tuple[str, str]]:
    """Yield each directory in which a name is looked up on the way to an absolute path, and the name."""
    folder, names, links = Path("/"), path.split("/")[::-1], 0
    while names and links <= _MOST_LINKS:
        name = names.pop()
        if name in ("", "."):
            continue
        if name == "..":
            folder = folder.parent
            continue
        yield str(folder), name
        try:
            target = str((folder / name).readlink())
        except (OSError, ValueError):  # no link, or nothing is there yet
            folder /= name
        else:
            links += 1
            names += target.split("/")[::-1]
            folder = Path("/") if target.startswith("/") else folder


def _below(root: str) -> Iterator[str]:
    for folder, inner, _ in os.walk(root):
        inner[:] = [name for name in inner if not name.startswith(".")]
        yield folder


class KernelChanges:
    """Calls `on_change` when the kernel reports a change that matters. OSError: it cannot be asked."""

    def __init__(self, on_change: Callable[[], object]) -> None:
        self._on_change = on_change
        self._inotify = Inotify()
        self._watched: Mapping[int, tuple[str, WatchedDirectory]] = {}
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._inotify.fileno(), self._on_readable)

    def follow(self, places: Mapping[str, WatchedDirectory]) -> None:
        """Watch these directories, and no others. It may be called in a thread."""
        watched = {}
        for folder, place in places.items():
            with suppress(
                FileNotFoundError, NotADirectoryError, PermissionError
            ):  # the one above says when it is there
                watched[self._inotify.add(folder)] = folder, place
        for number in self._watched.keys() - watched.keys():
            self._inotify.remove(number)
        self._watched = watched

    def close(self) -> None:
        """Report nothing more."""
        self._loop.remove_reader(self._inotify.fileno())
        self._inotify.close()

    def _on_readable(self) -> None:
        if any(self._matters(change) for change in self._inotify.read()):
            self._on_change()

    def _matters(self, change: DirectoryChange) -> bool:
        if change.mask & IN_IGNORED:  # the watch has ended
            return False
        found = self._watched.get(change.watch)
        return found is None or found[1].matters(found[0], change)


class ChangeWatch:
    """Compares snapshots, and calls `reload` when one is new and has been the same for a second.

    It looks when the kernel reports a change, and else from time to time.
    """

    def __init__(
        self,
        look: Callable[[], Snapshot],
        reload: Callable[[], Awaitable[object]],
        call_later: Callable[[float, Callable[[], object]], asyncio.TimerHandle],
        *,
        on_late: Callable[[KronError], object] = lambda _: None,
        limit: float = LONGEST,
    ) -> None:
        """`look` is called in a thread; `on_late` is called once for a disk that does not answer within the limit."""
        self._on_late, self._limit = on_late, limit
        self._looking: DiskCall[Snapshot] | None = None  # one at a time, however long it takes
        self._is_late = False
        self._look, self._reload, self._call_later = look, reload, call_later
        self.applied: Snapshot = ()  # of the files when they were read last
        self.period = POLL
        self._seen: Snapshot = ()
        self._is_on = self._is_settling = self._is_changed = False
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def is_on(self) -> bool:
        """Whether it looks."""
        return self._is_on

    def start(self) -> None:
        """Look now, and from then on."""
        self._is_on, self._seen = True, self.applied
        if self._task is None:
            self._begin()

    def stop(self) -> None:
        """Look no more."""
        self._is_on = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def on_change(self) -> None:
        """Look at once, unless it is known already that the files change."""
        self._is_changed = True
        if self._is_on and self._task is None and not self._is_settling:
            self._begin()

    def _begin(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._is_changed = False
        self._task = asyncio.get_running_loop().create_task(self._compare())

    async def _compare(self) -> None:
        try:
            found = await self._answer()
            if found is None:
                return
            is_new = found != self.applied
            self._is_settling = is_new and found != self._seen
            self._seen = found
            if is_new and not self._is_settling and self._is_on:
                self.applied = found
                await self._reload()
        finally:
            self._task = None
            if self._is_on:
                seconds = QUIET if self._is_settling or self._is_changed else self.period
                self._timer = self._call_later(seconds, self._begin)

    async def _answer(self) -> Snapshot | None:
        """Return the next snapshot, None if the disk does not answer; a look that is under way is not repeated."""
        if self._looking is None or self._looking.is_over:
            self._looking = DiskCall(self._look)
        try:
            found = await self._looking.answer(self._limit)
        except ControlError as error:
            if not self._is_late:
                self._is_late = True
                self._on_late(error)
            return None
        self._looking, self._is_late = None, False
        return found


class FileWatch:
    """The watch over the files of one krond, which can be switched on and off."""

    def __init__(
        self,
        configs: Sequence[str],
        form: FileFormat | None,
        reload: Callable[[], Awaitable[object]],
        on_late: Callable[[KronError], object] = lambda _: None,
    ) -> None:
        self._configs, self._form = configs, form
        self._changes: KernelChanges | None = None
        self._watch = ChangeWatch(self._look, reload, asyncio.get_running_loop().call_later, on_late=on_late)

    def note(self, applied: Snapshot) -> None:
        """Take a snapshot as that of the files that are in force."""
        self._watch.applied = applied

    def switch(self, *, on: bool) -> None:
        """Watch from now on, or no more."""
        if on and not self._watch.is_on:
            with suppress(OSError):  # the kernel has no inotify to spare: the files are polled
                self._changes = KernelChanges(self._watch.on_change)
            self._watch.start()
        elif not on and self._watch.is_on:
            self._watch.stop()
            if self._changes is not None:
                self._changes.close()
                self._changes = None

    def _look(self) -> Snapshot:
        """Return what tells a change, after the kernel was asked to report the next one."""
        self._watch.period = POLL
        changes = self._changes
        if changes is not None:
            with suppress(OSError):  # too many directories for it, or it was switched off: then they are polled
                changes.follow(find_watched_directories(self._configs, self._form))
                self._watch.period = ROUND
        return take_snapshot(self._configs, self._form)

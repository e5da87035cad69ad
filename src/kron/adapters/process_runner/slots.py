"""Slots: live files, handed out to starts and taken back; who writes nothing costs the disk nothing.

Making and removing two files for every execution would cost a tenth of starting it. A file belongs to the user whose
processes write it, as if that user had opened it, so that /dev/stdout works, and is only used again for the same user.
Its name is out of everybody's reach: the folder is the host's alone.
"""

import os
import threading
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress

from kron.adapters.process_runner.execution import Start
from kron.adapters.process_runner.launch import Request
from kron.adapters.process_runner.output_files import LiveFile, OutputFiles

_TAKEN = ("capture", "syslog")
_MOST_SPARE = 4096  # files of a user that are kept for the next burst
_MADE_TOGETHER = 32  # files made ahead in one go: a start waits no longer than that
_LONGEST_JOURNAL = 1 << 18  # bytes after which it is written anew, with what is in use
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC

Owner = tuple[int, int]


class Slots:
    """Which live file is whose. Starts are opened in one thread, files come back from another."""

    def __init__(self, files: OutputFiles) -> None:
        self.files = files
        self.holders: dict[str, LiveFile] = {}  # files in use, by name
        self.of_run: dict[str, list[LiveFile]] = {}
        self._spare: dict[Owner, list[str]] = defaultdict(list)
        self._number = 0
        self._longest_journal = _LONGEST_JOURNAL
        self._writing = threading.Lock()  # the journal: who writes it anew must not lose what another adds
        self._lock = threading.Lock()  # over `of_run` and `holders` together

    def load(self) -> None:
        """Take over what an earlier host has left; nothing of it is handed out before it came back."""
        known = self.files.read_journal()
        for name in os.listdir(self.files.live):  # noqa: PTH208  # names are all that is wanted
            with suppress(ValueError):
                self._number = max(self._number, int(name.rpartition("-")[2]))
            if name in known:
                self._hold(known[name])
            else:  # spare, or made just before a crash, so that its start did not happen
                (self.files.live / name).unlink()

    def open(self, start: Start, owner: Owner) -> tuple[Request, list[int]]:
        """Return what a spawner needs for a start: the request, and the files that go with it; OSError if they cannot
        be had, and then none is held."""
        command = start.command
        wheres = {"stdout": command.stdout, "stderr": command.stderr}
        descriptors: list[int] = []
        if start.run_id in self.of_run:
            raise FileExistsError(17, "File exists")
        try:
            for stream, where in wheres.items():
                if where in _TAKEN:
                    name, descriptor = self._take(owner)
                    descriptors.append(descriptor)
                    limit = None if where == "syslog" else command.output_limit
                    self._hold(LiveFile(name, start.run_id, limit, stream))
                    wheres[stream] = "fd"
        except OSError:
            for descriptor in descriptors:
                os.close(descriptor)
            self.give_back(start.run_id)
            raise
        umask = -1 if command.umask is None else command.umask
        request = (
            command.argv, start.environment(), command.cwd, umask, command.limits, command.stdin,
            wheres["stdout"], wheres["stderr"],
        )  # fmt: skip
        return request, descriptors

    def stock(self, owner: Owner, number: int) -> bool:
        """Make some files ahead, up to a number; whether more are missing. A file is dear where many were just removed,
        and the first burst would pay for all of them."""
        spare = self._spare[owner]
        missing = min(number, _MOST_SPARE) - len(spare)
        for _ in range(min(missing, _MADE_TOGETHER)):
            name, descriptor = self._make(owner)
            os.close(descriptor)
            spare.append(name)
        return missing > _MADE_TOGETHER

    def record(self, starts: Sequence[Start]) -> None:
        """Write down which files some starts have, before they happen: readers and later hosts rely on it."""
        new = [file.line() for start in starts for file in self.of_run.get(start.run_id, ())]
        with self._writing:
            if new and self.files.write_journal(new) > self._longest_journal:
                size = self.files.write_journal([file.line() for file in list(self.holders.values())], anew=True)
                self._longest_journal = max(_LONGEST_JOURNAL, 2 * size)

    def give_back(self, run_id: str) -> None:
        """Take back the files of a start that did not happen: nobody has written to them."""
        self.free([file.name for file in self.release(run_id)])

    def release(self, run_id: str) -> Sequence[LiveFile]:
        """Forget an execution; return the files that it had, to be kept or removed."""
        with self._lock:
            released = self.of_run.pop(run_id, [])
            for file in released:
                self.holders.pop(file.name, None)
        return released

    def free(self, names: Sequence[str]) -> None:
        """Let the next starts of the same user have empty files that nobody has open."""
        if names:
            with self._writing, suppress(OSError):  # a full disk; to a reader the execution goes on until it is used
                self.files.write_journal(f"{name}\n" for name in names)
        for name in names:  # only now: the line of the next use must come later
            uid, gid, _ = name.split("-")
            spare = self._spare[int(uid), int(gid)]
            if len(spare) < _MOST_SPARE:
                spare.append(name)
            else:
                (self.files.live / name).unlink(missing_ok=True)

    def _hold(self, file: LiveFile) -> None:
        with self._lock:
            self.holders[file.name] = file
            self.of_run.setdefault(file.run_id, []).append(file)

    def _take(self, owner: Owner) -> tuple[str, int]:
        spare = self._spare[owner]
        while spare:
            name = spare.pop()
            with suppress(FileNotFoundError):
                return name, os.open(f"{self.files.live}/{name}", _FLAGS)
        return self._make(owner)

    def _make(self, owner: Owner) -> tuple[str, int]:
        self._number += 1
        name = f"{owner[0]}-{owner[1]}-{self._number}"
        descriptor = os.open(f"{self.files.live}/{name}", _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            if owner != (os.geteuid(), os.getegid()):
                os.fchown(descriptor, *owner)
        except OSError:
            os.close(descriptor)
            raise
        return name, descriptor

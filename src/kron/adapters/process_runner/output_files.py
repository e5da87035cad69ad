"""OutputFiles: where the output of executions lies, for those who write it and those who read it.

FOLDER/live/UID-GID-N   what a process writes, as it writes it; used again when its execution is over
FOLDER/journal          a line for each use of a live file, `NAME RUN LIMIT STREAM`, and `NAME` when it is over
FOLDER/index/RUN        when which part of it arrived, and what was dropped
FOLDER/RUN.log          both in one, when nobody can write any more
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

STREAMS = ("stdout", "stderr")
_SYSLOG = "syslog"


class LiveFile(NamedTuple):
    """A file that takes a stream of an execution."""

    name: str
    run_id: str
    limit: int | None  # bytes of the execution that are kept; None: it is passed on to syslog
    stream: str

    def line(self) -> str:
        """Return it as the journal has it."""
        limit = _SYSLOG if self.limit is None else self.limit
        return f"{self.name} {_quoted(self.run_id)} {limit} {self.stream}\n"


class OutputFiles:
    """The folders, and what the journal says about them."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.live = self.folder / "live"
        self.index = self.folder / "index"
        self.journal = self.folder / "journal"

    def prepare(self) -> None:
        """Make the folders that are missing, for nobody but us."""
        for folder in (self.folder, self.live, self.index):
            folder.mkdir(mode=0o700, exist_ok=True)

    def log(self, run_id: str) -> Path:
        """Return where the output of an ended execution is."""
        return self.folder / f"{_quoted(run_id)}.log"

    def index_of(self, run_id: str) -> Path:
        """Return where the index of a live one is."""
        return self.index / _quoted(run_id)

    def read_journal(self) -> dict[str, LiveFile]:
        """Return whose each live file is. A line that a crash cut off does not count."""
        found: dict[str, LiveFile] = {}
        with suppress(FileNotFoundError):
            for line in self.journal.read_text("ascii", "replace").split("\n")[:-1]:
                name, *use = line.split(" ")
                found.pop(name, None)
                with suppress(ValueError):
                    run, limit, stream = use
                    found[name] = LiveFile(name, unquote(run), None if limit == _SYSLOG else int(limit), stream)
        return found

    def live_files(self, run_id: str) -> list[LiveFile]:
        """Return the live files of an execution; none if they are used by others already, or were never needed."""
        return [file for file in self.read_journal().values() if file.run_id == run_id]

    def write_journal(self, lines: Iterable[str], *, anew: bool = False) -> int:
        """Add lines, or write all of it anew; return its size. A reader sees all of it or nothing."""
        path = self.journal.with_name("journal.new") if anew else self.journal
        if anew:
            path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            data = "".join(lines).encode()
            written = os.write(descriptor, data)
            if written < len(data):  # a full disk: half a line must not become part of the next one
                os.ftruncate(descriptor, os.fstat(descriptor).st_size - written)
                os.write(descriptor, b"\n")
                raise OSError(28, os.strerror(28))
            size = os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)
        if anew:
            path.replace(self.journal)
        return size


def _quoted(run_id: str) -> str:
    return quote(run_id, safe="").replace(".", "%2E")

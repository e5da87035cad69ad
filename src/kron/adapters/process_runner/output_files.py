"""OutputFiles: where the output of executions lies, and the open files that a process is started with.

    FOLDER/live/RUN.LIMIT.out   what a process writes, as it writes it (`.err`; SYSLOG for LIMIT: to be passed on)
    FOLDER/index/RUN            when which part of it arrived, and what was dropped
    FOLDER/RUN.log              both in one, when nobody can write any more

The folders are the host's alone. A live file belongs to the user of its process, as if that user had opened it, so that
/dev/stdout works; but nobody else can reach its name.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

from kron.adapters.process_runner.execution import Start
from kron.adapters.process_runner.launch import Request

STREAMS = ("stdout", "stderr")
_SUFFIXES = {"stdout": "out", "stderr": "err"}
_STREAM_OF = {suffix: stream for stream, suffix in _SUFFIXES.items()}
_SYSLOG = "syslog"
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class LiveFile(NamedTuple):
    """What the name of a live file says."""

    run_id: str
    stream: str
    limit: int | None  # None: not kept but passed on to syslog
    name: str


class OutputFiles:
    """The folder, made if it is missing."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.live = self.folder / "live"
        self.index = self.folder / "index"
        self.opened: dict[str, list[LiveFile]] = {}  # live files by run id, until somebody takes them from here

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

    def list_live(self, run_id: str | None = None) -> Iterator[LiveFile]:
        """Yield the live files there are, of one execution or of all."""
        try:
            names = os.listdir(self.live)  # noqa: PTH208  # names are all that is wanted, of many
        except FileNotFoundError:
            return
        for name in names:
            if (found := parse(name)) and (run_id is None or found.run_id == run_id):
                yield found

    def open(self, start: Start, owner: tuple[int, int]) -> tuple[Request, list[int]]:
        """Return what a spawner needs for a start: the request, and the files that go with it; OSError if they cannot
        be made, and then there are none."""
        command = start.command
        descriptors: list[int] = []
        made: list[LiveFile] = []
        wheres = {"stdout": command.stdout, "stderr": command.stderr}
        try:
            for stream, where in wheres.items():
                if where in ("capture", _SYSLOG):
                    made.append(_live_file(start, stream, where))
                    descriptors.append(os.open(f"{self.live}/{made[-1].name}", _FLAGS, 0o600))
                    if owner != (os.geteuid(), os.getegid()):
                        os.fchown(descriptors[-1], *owner)
                    wheres[stream] = "fd"
        except OSError:
            for descriptor in descriptors:
                os.close(descriptor)
            self.opened[start.run_id] = made[: len(descriptors)]  # the one that failed may be somebody else's
            self.remove(start.run_id)
            raise
        if made:
            self.opened[start.run_id] = made
        umask = -1 if command.umask is None else command.umask
        request = (
            command.argv, start.environment(), command.cwd, umask, command.limits, command.stdin,
            wheres["stdout"], wheres["stderr"],
        )  # fmt: skip
        return request, descriptors

    def remove(self, run_id: str) -> None:
        """Remove the files of a start that did not happen."""
        for file in self.opened.pop(run_id, ()):
            (self.live / file.name).unlink(missing_ok=True)


def _live_file(start: Start, stream: str, where: str) -> LiveFile:
    limit = None if where == _SYSLOG else start.command.output_limit
    name = f"{_quoted(start.run_id)}.{_SYSLOG if limit is None else limit}.{_SUFFIXES[stream]}"
    return LiveFile(start.run_id, stream, limit, name)


def parse(name: str) -> LiveFile | None:
    """Return what the name of a live file says, None if it is none."""
    run, _, rest = name.partition(".")
    limit, _, suffix = rest.partition(".")
    if suffix not in _STREAM_OF or not (limit == _SYSLOG or limit.isdigit()):
        return None
    return LiveFile(unquote(run), _STREAM_OF[suffix], None if limit == _SYSLOG else int(limit), name)


def _quoted(run_id: str) -> str:
    return quote(run_id, safe="").replace(".", "%2E")

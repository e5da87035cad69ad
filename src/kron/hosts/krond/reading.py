"""read_files(question): what stands in the job files and is wrong with it; read_apart(question): the same, elsewhere.

Elsewhere is a process of its own (`python -m kron.hosts.krond.reader`): what reading ten thousand jobs takes for a
moment, a daemon would keep for good, and meanwhile its starts would wait for their turn.
"""

import pickle
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from io import BufferedRWPair
from itertools import islice
from typing import IO, NamedTuple

from kron._version import __version__
from kron.errors import ControlError
from kron.hosts.krond.definition import work_of
from kron.hosts.krond.host_checks import check_host
from kron.hosts.krond.job_files import in_order, load_jobs
from kron.hosts.krond.memory import kept
from kron.hosts.krond.watch import Snapshot, take_snapshot
from kron.rules.files.host_job import ORIGIN, HostJob
from kron.rules.files.settings import Settings
from kron.rules.files.source import Format
from kron.rules.finding import Finding
from kron.rules.work import Work

_COMMAND = (sys.executable, "-P", "-m", "kron.hosts.krond.reader")  # it finds what this process has found
_LONGEST = 60.0  # seconds: a hundred thousand jobs take some ten
_DYING = 1.0  # seconds
_PART = 500  # jobs that are sent at a time


class Question(NamedTuple):
    """Which files to read."""

    configs: Sequence[str]
    form: Format | None
    known: bytes = b""  # marks of works that need not be told again


class Known(NamedTuple):
    """A job that need not be told again, and where it stands now."""

    identity: str
    file: str
    line: int
    offsets: Mapping[str, int]

    def of(self, job: HostJob) -> HostJob:
        """Return the job as it is known, in its place."""
        if (job.file, job.line, job.offsets) == self[1:]:
            return job
        return replace(job, file=self.file, line=self.line, offsets=self.offsets)


class Answer(NamedTuple):
    """What was found, and the jobs of the files without errors: of those that are known, only where they stand."""

    settings: Settings
    findings: list[Finding]
    jobs: Iterator[Work | Known]
    settings_are_readable: bool = True
    snapshot: Snapshot = ()  # of the files, before they were read

    @property
    def failed_files(self) -> "FailedFiles":
        """Return the errors of each file that has any."""
        return failed_files(self.findings)

    @property
    def is_usable(self) -> bool:
        """Whether the jobs of the files without errors may be declared."""
        return self.settings_are_readable and (self.settings.on_invalid == "skip" or not self.failed_files)


FailedFiles = Mapping[str, Sequence[Finding]]


def failed_files(findings: Iterable[Finding]) -> FailedFiles:
    """Return the errors by the file that has them, in the order of the findings."""
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.level == "error":
            found.setdefault(finding.file, []).append(finding)
    return found


def marks_of(works: Iterable[Work]) -> bytes:
    """Return by what works are known again: each by how it is written and, if that should change, by what it means."""
    return b"".join(mark for work in works for mark in (_job_of(work).origin, _meaning_of(work)))


def _meaning_of(work: Work) -> bytes:
    said = (work.identity, work.name, _job_of(work).timezone, work.key)
    return blake2b(repr(said).encode(), digest_size=ORIGIN).digest()


def _job_of(work: Work) -> HostJob:
    assert isinstance(work.payload, HostJob)
    return work.payload


def read_files(asked: Question) -> Answer:
    """Read and check the files."""
    loaded = load_jobs(asked.configs, form=asked.form)
    findings = in_order([*loaded.findings, *check_host(loaded.job_set)])
    known = {asked.known[place : place + ORIGIN] for place in range(0, len(asked.known), ORIGIN)}
    failed, job_set = failed_files(findings), loaded.job_set
    jobs = (_told(job, known) for job in job_set.jobs if job.file not in failed)
    return Answer(job_set.settings, findings, jobs, job_set.settings_are_readable)


def _told(job: HostJob, known: AbstractSet[bytes]) -> Work | Known:
    same = Known(job.identity, job.file, job.line, job.offsets)
    if job.origin in known:
        return same  # and its definition need not be written down
    work = work_of(job)
    return same if _meaning_of(work) in known else work


def read_apart(asked: Question, *, command: Sequence[str] = _COMMAND, limit: float = _LONGEST) -> Answer:
    """Have the files read and checked by a process of its own, within some seconds. It blocks: for a thread."""
    is_late = threading.Event()
    try:
        here, there = socket.socketpair()
        with here:
            with there:
                process = subprocess.Popen(command, stdin=there.fileno(), stdout=there.fileno())

            def give_up() -> None:
                is_late.set()
                with suppress(OSError):
                    here.shutdown(socket.SHUT_RDWR)  # it wakes up who reads or writes, also if the process cannot end

            alarm = threading.Timer(limit, give_up)
            alarm.daemon = True
            alarm.start()
            try:
                with here.makefile("rwb") as stream:
                    return _ask(asked, stream)
            finally:
                alarm.cancel()
                process.kill()
                with suppress(subprocess.TimeoutExpired):  # it waits for a disk: a later call of Popen collects it
                    process.wait(_DYING)
    except (OSError, EOFError, pickle.PickleError) as error:
        reason = f"the process that reads the job files has failed: {error or type(error).__name__}"
        if is_late.is_set():
            reason = f"the job files could not be read within {limit:g} s: a disk or a network may not answer"
        raise ControlError(reason=reason) from error


def _ask(asked: Question, stream: BufferedRWPair) -> Answer:
    pickle.dump(asked, stream)
    stream.flush()
    if pickle.load(stream) != __version__:
        raise ControlError(reason="krond was upgraded while it ran, and has to be restarted first")
    told = pickle.Unpickler(stream)
    settings, findings, are_readable, snapshot = told.load()
    jobs: list[Work | Known] = []
    with kept():
        while part := told.load():
            jobs += part
    return Answer(settings, findings, iter(jobs), are_readable, snapshot)


def answer(asked: Question, to: IO[bytes]) -> None:
    """Write what was read, in parts of which the last one is empty; what comes again is only named."""
    snapshot = take_snapshot(asked.configs, asked.form)  # here, because a disk may not answer
    found = read_files(asked)
    pickler = pickle.Pickler(to)
    pickler.dump((found.settings, found.findings, found.settings_are_readable, snapshot))
    while found.is_usable and (part := list(islice(found.jobs, _PART))):
        pickler.dump(part)
    pickler.dump([])

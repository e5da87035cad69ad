"""Read the job files, here or in a process of their own: settings, jobs and findings.

What reading ten thousand jobs takes for a moment, a daemon would keep for good, and meanwhile its starts would wait for
their turn: a running krond has the files read by `main`, in a child.
"""

import gc
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from io import BufferedRWPair
from itertools import islice
from typing import IO, NamedTuple

from kron._version import __version__
from kron.adapters.files.job_files import load_jobs, sort_findings
from kron.errors import ControlError
from kron.errors.diagnostics import Diagnostic
from kron.hosts.krond.file_watch import LONGEST, Snapshot, late_error, take_snapshot
from kron.hosts.krond.host_checks import check_host
from kron.hosts.krond.own_process import gc_frozen
from kron.jobfile.host_job import FINGERPRINT_BYTES, HostJob, work_of
from kron.jobfile.job_file import FileFormat
from kron.jobfile.settings import Settings
from kron.rules.job_spec import JobSpec

_COMMAND = (
    sys.executable,
    "-P",
    "-c",
    "from kron.hosts.krond.file_reader import main; main()",
)  # it finds what this process has found
_DYING = 1.0  # seconds
_PART = 500  # jobs that are sent at a time


class ReadRequest(NamedTuple):
    """Which files to read."""

    configs: Sequence[str]
    form: FileFormat | None
    known: bytes = b""  # fingerprints of jobs that need not be sent again


class UnchangedJob(NamedTuple):
    """A job that need not be sent again, and its present file and line."""

    identity: str
    file: str
    line: int
    offsets: Mapping[str, int]

    def of(self, job: HostJob) -> HostJob:
        """Return the job as it is known, in its place."""
        if (job.file, job.line, job.line_offsets) == self[1:]:
            return job
        return replace(job, file=self.file, line=self.line, line_offsets=self.offsets)


class ReadResult(NamedTuple):
    """What was found, and the jobs of the files without errors: of those that are known, only where they stand."""

    settings: Settings
    findings: list[Diagnostic]
    jobs: Iterator[JobSpec | UnchangedJob]
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


FailedFiles = Mapping[str, Sequence[Diagnostic]]


def failed_files(findings: Iterable[Diagnostic]) -> FailedFiles:
    """Return the errors by the file that has them, in the order of the findings."""
    found: dict[str, list[Diagnostic]] = {}
    for finding in findings:
        if finding.level == "error":
            found.setdefault(finding.file, []).append(finding)
    return found


def fingerprints(works: Iterable[JobSpec]) -> bytes:
    """Return the fingerprints by which jobs are recognised: of the text and, if that should change, of the meaning."""
    return b"".join(mark for work in works for mark in (_job_of(work).fingerprint, _meaning_of(work)))


def _meaning_of(work: JobSpec) -> bytes:
    said = (work.identity, work.name, _job_of(work).timezone, work.definition_key)
    return blake2b(repr(said).encode(), digest_size=FINGERPRINT_BYTES).digest()


def _job_of(work: JobSpec) -> HostJob:
    assert isinstance(work.payload, HostJob)
    return work.payload


def read_files(asked: ReadRequest) -> ReadResult:
    """Read and check the files."""
    loaded = load_jobs(asked.configs, form=asked.form)
    findings = sort_findings([*loaded.findings, *check_host(loaded.job_set)])
    known = {asked.known[place : place + FINGERPRINT_BYTES] for place in range(0, len(asked.known), FINGERPRINT_BYTES)}
    failed, job_set = failed_files(findings), loaded.job_set
    jobs = (_told(job, known) for job in job_set.jobs if job.file not in failed)
    return ReadResult(job_set.settings, findings, jobs, job_set.settings_are_readable)


def _told(job: HostJob, known: AbstractSet[bytes]) -> JobSpec | UnchangedJob:
    same = UnchangedJob(job.identity, job.file, job.line, job.line_offsets)
    if job.fingerprint in known:
        return same  # and its definition need not be written down
    work = work_of(job)
    return same if _meaning_of(work) in known else work


def read_in_subprocess(asked: ReadRequest, *, command: Sequence[str] = _COMMAND, limit: float = LONGEST) -> ReadResult:
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
                    here.shutdown(socket.SHUT_RDWR)  # it wakes up reads and writes, also if the process cannot end

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
        if is_late.is_set():
            raise late_error(limit) from error
        reason = f"the process that reads the job files has failed: {error or type(error).__name__}"
        raise ControlError(reason=reason) from error


def _ask(asked: ReadRequest, stream: BufferedRWPair) -> ReadResult:
    pickle.dump(asked, stream)
    stream.flush()
    if pickle.load(stream) != __version__:
        raise ControlError(reason="krond was upgraded while it ran, and has to be restarted first")
    answer = pickle.Unpickler(stream)
    settings, findings, are_readable, snapshot = answer.load()
    jobs: list[JobSpec | UnchangedJob] = []
    with gc_frozen():
        while part := answer.load():
            jobs += part
    return ReadResult(settings, findings, iter(jobs), are_readable, snapshot)


def write_result(asked: ReadRequest, to: IO[bytes]) -> None:
    """Write the result in parts, of which the last one is empty; unchanged jobs are only named."""
    snapshot = take_snapshot(asked.configs, asked.form)  # here, because a disk may not answer
    found = read_files(asked)
    pickler = pickle.Pickler(to)
    pickler.dump((found.settings, found.findings, found.settings_are_readable, snapshot))
    while found.is_usable and (part := list(islice(found.jobs, _PART))):
        pickler.dump(part)
    pickler.dump([])


_GONE = (BrokenPipeError, EOFError, pickle.UnpicklingError)


def main() -> None:
    """Read the files that stdin names, and write the result to stdout; for krond alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for krond
    gc.disable()  # it does not live long
    with suppress(*_GONE):  # krond was killed: the result is not needed
        pickle.dump(__version__, sys.stdout.buffer)  # krond may be older than this file
        sys.stdout.flush()
        write_result(pickle.load(sys.stdin.buffer), sys.stdout.buffer)
        sys.stdout.flush()
    os._exit(0)  # what could not be written is not tried again

"""read_files(question): what stands in the job files and is wrong with it; read_apart(question): the same, elsewhere.

Elsewhere is a process of its own (`python -m kron.hosts.krond.reader`): what reading ten thousand jobs takes for a
moment, a daemon would keep for good, and meanwhile its starts would wait for their turn.
"""

import pickle
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import IO, NamedTuple

from kron.engine.collector import collector_paused
from kron.errors import ControlError
from kron.hosts.krond.definition import work_of
from kron.hosts.krond.host_checks import check_host
from kron.hosts.krond.job_files import in_order, load_jobs
from kron.rules.files.host_job import HostJob
from kron.rules.files.settings import Settings
from kron.rules.files.source import Format
from kron.rules.finding import Finding
from kron.rules.work import Work

_COMMAND = (sys.executable, "-P", "-m", "kron.hosts.krond.reader")  # it finds what this process has found
_PART = 500  # jobs that are sent at a time


class Said(NamedTuple):
    """What tells that a job says what it said: it is written as it was, or else it means the same."""

    origin: bytes
    name: str
    zone: str
    key: str  # of the definition


class Question(NamedTuple):
    """Which files to read."""

    configs: Sequence[str]
    form: Format | None
    known: Mapping[str, Said] = {}  # what need not be told again, by identity


class Answer(NamedTuple):
    """What was found; the jobs, if nothing is wrong: those that are known by their identities alone."""

    settings: Settings
    findings: list[Finding]
    jobs: Iterator[Work | str]

    @property
    def ok(self) -> bool:
        """Whether the jobs may be run."""
        return all(finding.level != "error" for finding in self.findings)


def said_by(work: Work) -> Said:
    """Return what tells whether a work of the same identity says the same."""
    assert isinstance(work.payload, HostJob)
    return Said(work.payload.origin, work.name, work.payload.timezone, work.key)


def read_files(asked: Question) -> Answer:
    """Read and check the files."""
    loaded = load_jobs(asked.configs, form=asked.form)
    findings = in_order([*loaded.findings, *check_host(loaded.job_set)])
    jobs = (_told(job, asked.known.get(job.identity)) for job in loaded.job_set.jobs)
    return Answer(loaded.job_set.settings, findings, jobs)


def _told(job: HostJob, before: Said | None) -> Work | str:
    if before is not None and before.origin == job.origin:
        return job.identity  # and its definition need not be written down
    work = work_of(job)
    return job.identity if before is not None and before[1:] == said_by(work)[1:] else work


def read_apart(asked: Question, *, command: Sequence[str] = _COMMAND) -> Answer:
    """Have the files read and checked by a process of its own. It blocks: for a thread."""
    try:
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            try:
                return _ask(asked, process)
            finally:
                process.kill()
    except (OSError, EOFError, pickle.PickleError) as error:
        reason = f"the process that reads the job files has failed: {error or type(error).__name__}"
        raise ControlError(reason=reason) from error


def _ask(asked: Question, process: "subprocess.Popen[bytes]") -> Answer:
    assert process.stdin is not None
    assert process.stdout is not None
    pickle.dump(asked, process.stdin)
    process.stdin.flush()
    told = pickle.Unpickler(process.stdout)
    settings, findings = told.load()
    jobs: list[Work | str] = []
    with collector_paused():  # all that is made is kept
        while part := told.load():
            jobs += part
    return Answer(settings, findings, iter(jobs))


def answer(asked: Question, to: IO[bytes]) -> None:
    """Write what was read, in parts of which the last one is empty; what comes again is only named."""
    found = read_files(asked)
    pickler = pickle.Pickler(to)
    pickler.dump((found.settings, found.findings))
    while found.ok and (part := list(islice(found.jobs, _PART))):
        pickler.dump(part)
    pickler.dump([])

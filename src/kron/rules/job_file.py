"""read_job_file(text, file) -> jobs and findings: a `.kron` file, one job a line, all its errors at once."""

from dataclasses import dataclass

from kron.errors import KronError
from kron.rules.finding import Finding, finding_of
from kron.rules.job import Job

_LARGEST = 16 * 1024 * 1024  # characters: a hundred thousand jobs; more is not a job file


@dataclass(frozen=True, slots=True)
class JobFile:
    """The jobs of a file with their line numbers, and what was wrong with the other lines."""

    jobs: tuple[tuple[int, Job], ...]
    findings: tuple[Finding, ...]


def read_job_file(text: str, *, file: str, source: str) -> JobFile:
    """Return the jobs of a text; `file` is how people call it, `source` the absolute path that enters identities."""
    if len(text) > _LARGEST:
        return JobFile((), (Finding("error", "file", f"is larger than {_LARGEST} characters", "split it", file, 1),))
    jobs: list[tuple[int, Job]] = []
    findings: list[Finding] = []
    first_line: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        content = line.rstrip("\r")
        if not content.strip() or content.lstrip().startswith("#"):
            continue
        try:
            job = Job.parse(content, source=source)
        except KronError as error:
            findings.append(finding_of(error, file=file, line=number))
            continue
        earlier = first_line.setdefault(job.name, number)
        if earlier != number:
            found = f"{job.name!r} is already the name of line {earlier}"
            findings.append(Finding("error", "name", found, "names are unique in a file", file, number))
        elif not dict(job.settings).get("command"):
            findings.append(Finding("error", "command", "is required", "add command=… after the name", file, number))
        else:
            jobs.append((number, job))
    return JobFile(tuple(jobs), tuple(findings))

"""DaemonStatus: what a krond shows of itself, and how commands and pages word its job files with errors."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from kron.adapters.files.trust import absolute_path
from kron.errors.diagnostics import Diagnostic
from kron.instant import Instant
from kron.jobfile.host_job import HostJob

_NAMED = 5  # errors that an answer about another thing repeats


class FailedFile(NamedTuple):
    """A job file with errors, the errors, since when it fails, and whether krond keeps jobs that it had before."""

    file: str
    findings: Sequence[Mapping[str, object]]
    since: Literal["start", "reload"] = "start"
    keeps_jobs: bool = False


class FailedListen(NamedTuple):
    """An address that another program has: krond runs without its page, and tries again."""

    address: str
    error: str
    tries: int


@dataclass(slots=True)
class DaemonStatus:
    """What a daemon shows of itself."""

    started_at: Instant
    ready: bool = False
    draining: bool = False
    ended: bool = False  # nothing more is recorded
    failed_reload: list[dict[str, object]] | None = None
    failed_files: Sequence[FailedFile] = ()
    listen: str = "off"
    failed_listen: FailedListen | None = None
    jobs: dict[str, HostJob] = field(default_factory=dict)

    def errors(self) -> tuple[str, ...]:
        """Return the first errors of the failed files: a job that is not known may be in one of them."""
        return errors_of(each._asdict() for each in self.failed_files)


def label_of(since: object, keeps_jobs: object) -> str:
    """Return in words what a failed file means for its jobs; of a krond that does not say it, that it failed."""
    if keeps_jobs:
        return "old jobs kept"
    return {"start": "failed at the start", "reload": "failed at a reload"}.get(str(since), "failed file")


def finding_text(found: Mapping[str, Any]) -> str:
    """Return a finding as `check` prints it."""
    return str(Diagnostic(**{key: found[key] for key in ("level", "field", "message", "fix", "file", "line")}))


def errors_of(failed: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the first errors of failed files, each as `check` prints it."""
    found = [finding_text(each) for file in failed for each in file["findings"]]
    more = () if len(found) <= _NAMED else (f"and {len(found) - _NAMED:,} more errors: see krond status",)
    return (*found[:_NAMED], *more)


def places_of(files: Iterable[str]) -> set[str]:
    """Return the whole paths of files and of all directories above them."""
    whole = {Path(absolute_path(file)) for file in set(files)}
    return {str(place) for file in whole for place in (file, *file.parents)}

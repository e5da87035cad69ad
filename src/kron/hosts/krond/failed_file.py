"""FailedFile: a job file with errors, which of its jobs run, and how commands and pages say so."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from kron.adapters.files.trust import absolute_path
from kron.errors.diagnostics import Diagnostic

_NAMED = 5  # errors that an answer about another thing repeats


class FailedFile(NamedTuple):
    """A job file with errors, the errors, since when it fails, and whether krond keeps jobs that it had before."""

    file: str
    findings: Sequence[Mapping[str, object]]
    since: Literal["start", "reload"] = "start"
    keeps_jobs: bool = False


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

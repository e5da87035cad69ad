"""amend_files(sources, jobs, changes) -> Amended: files in which jobs have other windows and salts, checked."""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

import click

from kron.errors import InvalidDefinitionError, shown
from kron.hosts.cli.fleet import Reading
from kron.rules.files.amend import Wish, amend, says
from kron.rules.files.host_job import HostJob
from kron.rules.files.reading import read_sources
from kron.rules.files.source import Source
from kron.rules.tuning import Change


@dataclass(frozen=True, slots=True)
class Amended:
    """A file with its old and its new text."""

    file: str
    before: str
    after: str


def amend_files(reading: Reading, changes: Iterable[Change], meant: Sequence[HostJob]) -> list[Amended]:
    """Return the files that change. What they then say is read again, and must be `meant`; else that is the end."""
    sources = reading.sources
    by_identity = {job.identity: job for job in reading.jobs}
    wishes: dict[str, list[Wish]] = {}
    for change in changes:
        job = by_identity[change.identity]
        wishes.setdefault(job.file, []).append(Wish(job, change.key, change.new))
    texts: dict[str, Source] = {}
    for source in sources:
        try:
            text = amend(source, wishes.get(source.file, ()))
        except InvalidDefinitionError as error:
            raise NotAmendedError(f"{source.file}: {error.message}") from error
        texts[source.file] = Source(source.file, source.path, source.format, text)
    read = {job.identity: job for job in read_sources(texts.values(), reading.here).jobs}
    for job in meant:
        if job.identity not in read or not says(read[job.identity], job):
            reason = "is written in a way that only its author should change; change it by hand"
            raise NotAmendedError(f"{job.file}:{job.line}: {shown(job.name)} {reason}")
    return [
        Amended(source.file, source.text, texts[source.file].text)
        for source in sources
        if texts[source.file].text != source.text
    ]


def write_files(amended: Iterable[Amended]) -> None:
    """Replace files, each at once and with the owner and permissions it has."""
    for each in amended:
        path = Path(each.file).resolve()
        try:
            found = path.stat()
            with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as new:
                try:
                    new.write(each.after.encode())
                    new.flush()
                    os.fsync(new.fileno())
                    os.fchmod(new.fileno(), found.st_mode & 0o7777)
                    os.fchown(new.fileno(), found.st_uid, found.st_gid)
                    Path(new.name).replace(path)
                except BaseException:
                    with suppress(OSError):
                        Path(new.name).unlink()
                    raise
        except OSError as error:
            raise click.UsageError(f"{each.file}: cannot be written: {error.strerror}") from error


class NotAmendedError(click.ClickException):
    """There is no safe way to change a file, and none was changed."""

    exit_code = 2

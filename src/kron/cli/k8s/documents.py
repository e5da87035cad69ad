"""read_documents(files) -> Documents: the manifests of files, numbered, and what is wrong with the files."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from kron.console.output import exit_with_findings
from kron.console.parameters import CommandDecorator
from kron.errors import InvalidDefinitionError
from kron.errors.diagnostics import Diagnostic, Severity
from kron.kronjob.kronjob import GROUP, KIND, KronJob
from kron.kronjob.parser import parse_kronjob

_FILES = ("-f", "--filename", "files")
FILES: CommandDecorator = click.option(
    *_FILES, metavar="FILE", multiple=True, required=True, help="Read this file; - is standard input. Repeatable."
)
OPTIONAL_FILES: CommandDecorator = click.option(
    *_FILES, metavar="FILE", multiple=True, help="Read this file, not a cluster; - is standard input. Repeatable."
)
CLUSTER = "cluster"  # where documents lie that are in no file


@dataclass(frozen=True, slots=True)
class ManifestDocument:
    """One manifest: its file, its place in it, and its content."""

    file: str
    number: int  # from 1, in the file
    data: dict[str, Any]

    @property
    def name(self) -> str:
        """Namespace and name, as far as they are said."""
        metadata = self.data.get("metadata")
        said = metadata if isinstance(metadata, dict) else {}
        return "/".join(str(said[key]) for key in ("namespace", "name") if said.get(key))

    @property
    def is_kronjob(self) -> bool:
        """Whether it means to be a KronJob, in the right words or not."""
        return self.data.get("kind") == KIND or str(self.data.get("apiVersion")).startswith(f"{GROUP}/")


@dataclass(frozen=True, slots=True)
class DocumentFinding:
    """A finding about a document."""

    file: str
    document: int
    name: str
    finding: Diagnostic

    @property
    def level(self) -> Severity:
        """How bad it is."""
        return self.finding.level

    def __str__(self) -> str:
        name = f"{self.name}: " if self.name else ""
        place = f"document {self.document}: " if self.document else ""
        return f"{self.file}: {place}{name}{self.finding}"

    def to_dict(self) -> dict[str, object]:
        """Return the finding as JSON holds it."""
        found = self.finding
        return {
            "file": self.file,
            "document": self.document,
            "name": self.name,
            "field": found.field,
            "message": f"{found.message}{f'; {found.fix}' if found.fix else ''}",
            "severity": found.level,
        }


@dataclass(slots=True)
class Documents:
    """What files hold, and what is wrong with the files themselves."""

    found: list[ManifestDocument] = field(default_factory=list)
    wrong: list[DocumentFinding] = field(default_factory=list)


def at_document(document: ManifestDocument, finding: Diagnostic) -> DocumentFinding:
    """Return a finding with the place of the document that it is about."""
    return DocumentFinding(document.file, document.number, document.name, finding)


def read_documents(files: Sequence[str]) -> Documents:
    """Return the documents of all files; the items of a list are documents, too."""
    documents = Documents()
    for file in files:
        try:
            for number, data in enumerate(_manifests(_text(file)), 1):
                documents.found += [ManifestDocument(file, number, item) for item in _items(data)]
        except OSError as error:
            documents.wrong.append(_file_error(file, f"cannot be read: {error.strerror}"))
        except UnicodeDecodeError as error:
            documents.wrong.append(_file_error(file, f"is not UTF-8 at byte {error.start}"))
        except InvalidDefinitionError as error:
            documents.wrong.append(_file_error(file, error.reason, error.fix))
        except ValueError:  # a NUL in it
            documents.wrong.append(_file_error(file, "is no name of a file"))
    return documents


def read_kronjobs(files: Sequence[str]) -> list[KronJob]:
    """Return the KronJobs of files, or print every error of all of them and end."""
    documents = read_documents(files)
    return parse_kronjobs(documents.found, documents.wrong)


def parse_kronjobs(documents: Iterable[ManifestDocument], errors: list[DocumentFinding]) -> list[KronJob]:
    """Return the KronJobs of documents, or print every error of all of them, and those given, and exit."""
    kronjobs = []
    for document in documents:
        if document.is_kronjob:
            found = parse_kronjob(document.data)
            if isinstance(found, list):
                errors += [at_document(document, error) for error in found]
            else:
                kronjobs.append(found)
    if errors:
        exit_with_findings(errors, unusable=True)
    return kronjobs


def _text(file: str) -> str:
    data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    return data.decode("utf-8-sig")


def _manifests(text: str) -> list[Any]:
    try:
        from kron.adapters.kubernetes.manifests import read_manifests  # the other commands do without its library
    except ModuleNotFoundError as error:
        if error.name != "yaml":
            raise
        message = "manifests need one more package: pip install 'kron-scheduler[operator]'"
        raise click.UsageError(message) from error
    return read_manifests(text)


def _items(data: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(data, dict):
        raise InvalidDefinitionError(field="file", found=str(data), reason="a document must be an object")
    items = data.get("items")
    if str(data.get("kind")).endswith("List") and isinstance(items, list):
        for item in items:
            yield from _items(item)
    else:
        yield data


def _file_error(file: str, reason: str, fix: str = "") -> DocumentFinding:
    return DocumentFinding(file, 0, "", Diagnostic("error", "file", reason, fix))

"""JobDraft: what a file says of one job, or in its defaults; parse_draft(draft) -> its parts, with all errors."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from kron.errors import InvalidDefinitionError, KronError, display_text
from kron.errors.diagnostics import Diagnostic, Severity, diagnostic_of, suggest_key
from kron.jobfile.keys import KEY_ALIASES, KEYS, Parts
from kron.jobfile.toml_syntax import Path, format_key
from kron.jobfile.values import invalid_value

MOST_FINDINGS = 10_000  # of a file: a file of garbage must not take hours


class ParsedValue(NamedTuple):
    """A part, the key that said it, and where."""

    value: object
    key: str
    line: int


@dataclass(frozen=True, slots=True)
class JobDraft:
    """The keys of a table or line. `path` leads to it in the file's index of lines, which lines hardly need.

    `mistakes` are what was found wrong when the line was taken apart.
    """

    name: str
    line: int
    entries: Mapping[str, object]
    prefix: str = ""  # of the names of its fields, such as `jobs.backup.`
    path: Path = ()
    index: Mapping[Path, int] = field(default_factory=dict)
    mistakes: tuple[KronError, ...] = ()

    def line_of(self, *keys: str) -> int:
        """Return the line of a key, or of the nearest one around it."""
        for length in range(len(keys), 0, -1):
            if line := self.index.get((*self.path, *keys[:length])):
                return line
        return self.line


class FileReport:
    """The findings about one file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.findings: list[Diagnostic] = []
        self.errors = 0

    @property
    def full(self) -> bool:
        """Whether the limit of findings is reached."""
        return len(self.findings) >= MOST_FINDINGS

    def add(self, level: Severity, field: str, message: str, fix: str, line: int) -> None:
        """Add what a check has to say."""
        self._take(Diagnostic(level, display_text(field), message, fix, self.file, line))

    def error(self, error: KronError, line: int, field: str = "") -> None:
        """Add an error under the name of a field, its own if there is none."""
        finding = diagnostic_of(error, file=self.file, line=line)
        self._take(replace(finding, field=display_text(field or finding.field)))

    def errors_of(self, error: KronError, line: int, field: str = "") -> None:
        """Add an error and those beside it."""
        for each in error.all_errors:
            self.error(each, line, field)

    def _take(self, finding: Diagnostic) -> None:
        self.errors += finding.level == "error"
        if not self.full:
            self.findings.append(finding)
            if self.full:
                text = f"more than {MOST_FINDINGS} findings; the rest is not shown"
                self.findings.append(Diagnostic("error", "file", text, "", self.file, finding.line))


def parse_draft(
    draft: JobDraft, known: tuple[str, ...], report: FileReport, memory: dict[object, Parts]
) -> dict[str, ParsedValue]:
    """Return the parts that a draft says; `memory` shares what many drafts say in the same words."""
    said: dict[str, ParsedValue] = {}
    for key, given in draft.entries.items():
        if key not in known:
            report.error(_unknown(key, known), draft.line_of(key), f"{draft.prefix}{format_key(key)}")
            continue
        try:
            parts = _read(key, given, memory)
        except KronError as error:
            _tell(error, draft, key, given, report)
            if key in said:
                _add(said, key, ParsedValue(None, key, draft.line_of(key)), draft, report)
            continue
        if KEYS[key].entries:
            good = {name: value for name, value in parts if not isinstance(value, KronError)}
            said[key] = ParsedValue(good, key, draft.line_of(key))
        for part, value in parts:
            if isinstance(value, KronError):
                _tell(value, draft, key, given, report, entry=part)
            elif not KEYS[key].entries:
                _add(said, part, ParsedValue(value, key, draft.line_of(key)), draft, report)
    return said


def _read(key: str, given: object, memory: dict[object, Parts]) -> Parts:
    if not isinstance(given, str):
        return KEYS[key].read(key, given)
    remembered = memory.get((key, given))
    if remembered is None:
        remembered = memory[key, given] = KEYS[key].read(key, given)
    return remembered


def _add(said: dict[str, ParsedValue], part: str, new: ParsedValue, draft: JobDraft, report: FileReport) -> None:
    if part not in said:
        said[part] = new
        return
    keys = " and in ".join(sorted({said[part].key, new.key}))
    reason = f"{part} is said twice, in {keys}"
    error = invalid_value(new.key, draft.entries[new.key], reason, "keep one of them")
    report.error(error, new.line, f"{draft.prefix}{new.key}")


@lru_cache(1000)
def _unknown(key: str, known: tuple[str, ...]) -> InvalidDefinitionError:
    """Return the error about a key, without the list of the forty that there are."""
    if key in KEYS:
        reason, fix = "belongs to each job, not to the defaults", "move it to the jobs"
        return InvalidDefinitionError(field=key, found="", reason=reason, fix=fix)
    fix = suggest_key(key, known, KEY_ALIASES)
    return InvalidDefinitionError(field=key, found="", reason="is not a key of a job", fix=fix)


def _tell(error: KronError, draft: JobDraft, key: str, given: object, report: FileReport, entry: str = "") -> None:
    """Report errors under the name and at the line of the key, or of the key inside its table that is wrong."""
    if not draft.prefix:
        report.errors_of(error, draft.line_of(key), f"{key}.{entry}" if KEYS[key].entries and entry else "")
        return
    for each in error.all_errors:
        keys = [key, *_inner(each, given, entry)]
        field = draft.prefix + ".".join(format_key(word) for word in keys)
        report.error(each, draft.line_of(*keys), field)


def _inner(error: KronError, given: object, entry: str) -> list[str]:
    """Return the keys that lead from a table to the one that an error names, or has found and does not know."""
    if not isinstance(given, Mapping):
        return []
    inside = given.get("params")
    field = str(getattr(error, "field", "")).replace(" ", ".").rpartition(".")[2]
    for word in (entry, field, getattr(error, "found", "")):
        if word and word in given:
            return [word]
        if word and isinstance(inside, Mapping) and word in inside:
            return ["params", word]
    return []

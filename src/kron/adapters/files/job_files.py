"""load_jobs(configs) -> LoadedJobs: find the job files, check that they can be trusted, and parse them."""

import errno
import os
import pwd
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from kron.adapters.files.trust import (
    UntrustedFileError,
    absolute_path,
    check_folder,
    read_regular_file,
    read_trusted_file,
)
from kron.adapters.system_time import system_timezone
from kron.engine.gc_pause import gc_paused
from kron.errors import InvalidDefinitionError, display_text
from kron.errors.diagnostics import Diagnostic
from kron.jobfile.job_file import FileFormat, HostInfo, JobFile
from kron.jobfile.reader import JobSet, read_job_set

_ENDINGS = {".toml": FileFormat.TOML, ".kron": FileFormat.LINES, ".crontab": FileFormat.CRONTAB}
_SYSTEM_FOLDER = "cron.d"
_SYSTEM_FILE = "/etc/crontab"
_NAME_IN_SYSTEM_FOLDER = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)  # as cron has it: no editor's copies, no dotfiles
_BACKUP = re.compile(r".+~|#.*#|.+\.(?:bak|old|orig|rej|save|swp|tmp|dpkg-\w+|ucf-\w+|rpm(?:save|new|orig))")
_REMEDIES = {errno.ENOENT: "check its name", errno.EACCES: "let this user read it"}
_BY_FORMAT = "say --format"
_MACHINE_IDS = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))

_Entry: TypeAlias = "os.DirEntry[str]"


@dataclass(frozen=True, slots=True)
class LoadedJobs:
    """The jobs and settings of all files, everything that was found, and whether some file could not be read at all."""

    job_set: JobSet
    findings: tuple[Diagnostic, ...]
    unreadable: bool = False

    @property
    def ok(self) -> bool:
        """Whether the jobs may be run: nothing is wrong."""
        return not self.unreadable and all(finding.level != "error" for finding in self.findings)


class FilesRead(NamedTuple):
    """The texts of all readable files, the findings, and whether some files could not be read."""

    sources: list[JobFile]
    findings: list[Diagnostic]
    unreadable: bool


def load_jobs(
    configs: Sequence[str], *, form: FileFormat | None = None, permissions: bool = True, here: HostInfo | None = None
) -> LoadedJobs:
    """Return the jobs of files and directories; `form` is the format of a single file whose name does not show it."""
    sources, findings, unreadable = read_job_files(configs, form=form, permissions=permissions)
    with gc_paused():  # all that is made is kept
        job_set = read_job_set(sources, host_info() if here is None else here)
    return LoadedJobs(job_set, tuple(sort_findings([*findings, *job_set.findings])), unreadable)


def sort_findings(findings: list[Diagnostic]) -> list[Diagnostic]:
    """Return the findings by file and line."""
    return sorted(findings, key=lambda finding: (finding.file, finding.line))


def read_job_files(
    configs: Sequence[str],
    *,
    form: FileFormat | None = None,
    permissions: bool = True,
    place: Callable[[str], str] = absolute_path,
    or_else: str = _BY_FORMAT,
) -> FilesRead:
    """Return the texts of files and of those in directories.

    `place` says where a file is to be taken to lie: the path that enters the identities of its jobs. `or_else` is how,
    besides by its name, the command says which form a file has.
    """
    findings: list[Diagnostic] = []
    sources: list[JobFile] = []
    unreadable = False
    warned: set[str] = set()  # a directory is doubtful once, not for each of its files
    for file, found in _find(configs, form, findings, permissions=permissions, or_else=or_else):
        if found is None:
            unreadable = True
            continue
        try:
            content, warnings = read_trusted_file(file) if permissions else (read_regular_file(file), [])
            text = content.decode()
        except OSError as error:
            unreadable = True
            findings.append(_unreadable(file, error.errno))
        except UntrustedFileError as error:
            findings.append(_error(file, error.reason, error.fix))
        except UnicodeDecodeError as error:
            unreadable = True
            findings.append(_error(file, f"is not UTF-8 at byte {error.start}", "save it as UTF-8"))
        except ValueError:
            unreadable = True
            findings.append(_error(display_text(file), "is no name of a file", "a name has no zero byte"))
        else:
            new = [(message, fix) for message, fix in warnings if fix not in warned]
            warned.update(fix for _, fix in new)
            findings += [Diagnostic("warning", "file", message, fix, file, 1) for message, fix in new]
            sources.append(JobFile(file, place(file), found, text))
    return FilesRead(sources, findings, unreadable)


def host_info() -> HostInfo:
    """Return the name, machine id, time zone and users of this host."""
    try:
        timezone = system_timezone()
    except InvalidDefinitionError:  # reported where it matters: at the lines of a crontab
        timezone = ""
    users = frozenset(user.pw_name for user in pwd.getpwall())
    return HostInfo(os.uname().nodename, _machine_id(), timezone, users)


def is_directory(path: str) -> bool:
    """Whether a path leads to a directory; one that cannot be a path does not."""
    try:
        return Path(path).is_dir()
    except OSError:  # longer than any name, or in a directory that we may not enter
        return False


def is_in_any(file: str, places: Iterable[str]) -> bool:
    """Whether a file is one of these files, or in one of these directories or below."""
    whole = absolute_path(file)
    return any(whole == place or whole.startswith(f"{place.rstrip('/')}/") for place in map(absolute_path, places))


def detect_format(path: str) -> FileFormat | None:
    """Return the form that a file has by its name and its directory, None if they do not tell."""
    whole = Path(absolute_path(path))
    if whole.suffix in _ENDINGS:
        return _ENDINGS[whole.suffix]
    if str(whole) == _SYSTEM_FILE or (whole.parent.name == _SYSTEM_FOLDER and _is_system_name(whole.name)):
        return FileFormat.SYSTEM_CRONTAB
    return None


def job_paths(configs: Iterable[str], form: FileFormat | None = None) -> list[str]:
    """Return the job files, and the directories that cannot be listed."""
    return [file for file, _ in _find(configs, form, [])]


def _find(
    configs: Iterable[str],
    form: FileFormat | None,
    findings: list[Diagnostic],
    *,
    permissions: bool = False,
    or_else: str = _BY_FORMAT,
) -> Iterator[tuple[str, FileFormat | None]]:
    seen: set[str] = set()
    for config in configs:
        files: list[tuple[str, FileFormat | None]]
        if is_directory(config):
            files = [*_in_directory(config, findings, permissions=permissions)]
        else:
            found = form or detect_format(config)
            if found is None and not os.path.lexists(config):  # perhaps a directory was meant
                findings.append(_unreadable(display_text(config), errno.ENOENT))
            elif found is None:
                fix = f"call it *.toml, *.kron or *.crontab, or {or_else}"
                findings.append(_error(config, "has a name that does not tell its form", fix))
            files = [(config, found)]
        for file, found in files:
            if absolute_path(file) not in seen:  # given twice, or by itself and with its directory
                seen.add(absolute_path(file))
                yield file, found


def _in_directory(
    directory: str, findings: list[Diagnostic], *, permissions: bool
) -> Iterator[tuple[str, FileFormat | None]]:
    """Yield the job files of a directory and of all directories below it; other names are left alone.

    Files come before directories, both in the order of their names. Hidden directories, backups and links to
    directories are not read. A directory that cannot be read is reported, and yielded without a form. `permissions`:
    one whose entries others may change is refused, else they could remove jobs by removing files.
    """
    waiting = [directory]  # and no recursion: directories may be nested deeper than Python's stack
    while waiting:
        folder = waiting.pop()
        try:
            if permissions:
                check_folder(folder)
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            findings.append(_unreadable(folder, error.errno))
            yield folder, None
            continue
        except UntrustedFileError as error:
            findings.append(_error(folder, error.reason, error.fix))
            continue
        if Path(absolute_path(folder)).name == _SYSTEM_FOLDER:
            yield from _in_system_folder(entries, findings)
            continue
        for entry in entries:
            form = _ENDINGS.get(Path(entry.name).suffix)
            if form is None or _is_folder(entry):
                continue
            if entry.name.startswith("."):
                findings.append(_ignored(entry, "is ignored: its name begins with a dot"))
            else:
                yield _path(entry), form
        waiting += [_path(entry) for entry in reversed(entries) if _is_folder(entry) and _is_read(entry, findings)]


def _is_folder(entry: _Entry) -> bool:
    """Whether an entry is a directory, or a link to one: of the former the kind is known without looking at it."""
    return entry.is_dir(follow_symlinks=False) or (entry.is_symlink() and is_directory(entry.path))


def _path(entry: _Entry) -> str:
    return str(Path(entry.path))  # without the dot of `kron lint .`


def _is_read(folder: _Entry, findings: list[Diagnostic]) -> bool:
    """Whether a directory inside another is read; one that is left out and not hidden is reported."""
    if folder.name.startswith("."):
        return False
    if folder.is_symlink():
        findings.append(_ignored(folder, "is ignored: it is a link to a directory", "give the directory itself"))
        return False
    if _BACKUP.fullmatch(folder.name):
        findings.append(_ignored(folder, "is ignored: its name is that of a backup"))
        return False
    return True


def _in_system_folder(entries: Iterable[_Entry], findings: list[Diagnostic]) -> Iterator[tuple[str, FileFormat | None]]:
    for entry in entries:
        if not _is_system_name(entry.name):
            findings.append(_ignored(entry, "is ignored, as cron does: names in cron.d are letters, digits, - and _"))
        elif _is_folder(entry):
            findings.append(_ignored(entry, "is ignored, as cron does: it is a directory in cron.d", "move it out"))
        else:
            yield _path(entry), FileFormat.SYSTEM_CRONTAB


def _is_system_name(name: str) -> bool:
    return _NAME_IN_SYSTEM_FOLDER.fullmatch(name) is not None


def _machine_id() -> str:
    for path in _MACHINE_IDS:
        try:
            text = path.read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            continue
        if text:
            return text
    return ""


def _error(file: str, message: str, fix: str = "") -> Diagnostic:
    return Diagnostic("error", "file", message, fix, file, 1)


def _unreadable(file: str, number: int | None) -> Diagnostic:
    known = number or errno.EIO
    return _error(file, f"cannot be read: {os.strerror(known)}", _REMEDIES.get(known, "give a file"))


def _ignored(entry: _Entry, message: str, fix: str = "rename it to use it") -> Diagnostic:
    return Diagnostic("notice", "file", message, fix, _path(entry), 1)

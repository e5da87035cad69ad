"""load_jobs(configs) -> Loaded: which files there are, whether they may be trusted, and what stands in them."""

import errno
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from kron.adapters.system_timezone import system_timezone
from kron.engine.collector import collector_paused
from kron.errors import InvalidDefinitionError, shown
from kron.hosts.krond.trust import FileRefusedError, read_trusted, whole_path
from kron.rules.files.reading import LARGEST, JobSet, read_sources
from kron.rules.files.source import Format, Source, Surroundings
from kron.rules.finding import Finding

_ENDINGS = {".toml": Format.TOML, ".kron": Format.LINES, ".crontab": Format.CRONTAB}
_SYSTEM_FOLDER = "cron.d"
_SYSTEM_FILE = "/etc/crontab"
_NAME_IN_SYSTEM_FOLDER = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)  # as cron has it: no editor's copies, no dotfiles
_REMEDIES = {errno.ENOENT: "check its name", errno.EACCES: "let this user read it"}
_MACHINE_IDS = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))


@dataclass(frozen=True, slots=True)
class Loaded:
    """The jobs and settings of all files, everything that was found, and whether some file could not be read at all."""

    job_set: JobSet
    findings: tuple[Finding, ...]
    unreadable: bool = False

    @property
    def ok(self) -> bool:
        """Whether the jobs may be run: nothing is wrong."""
        return not self.unreadable and all(finding.level != "error" for finding in self.findings)


class Opened(NamedTuple):
    """The texts of all files that could be read, what was found on the way, and whether some could not."""

    sources: list[Source]
    findings: list[Finding]
    unreadable: bool


def load_jobs(
    configs: Sequence[str], *, form: Format | None = None, permissions: bool = True, here: Surroundings | None = None
) -> Loaded:
    """Return what stands in files and directories; `form` is that of a single file whose name does not tell."""
    sources, findings, unreadable = open_sources(configs, form=form, permissions=permissions)
    with collector_paused():  # all that is made is kept
        job_set = read_sources(sources, surroundings() if here is None else here)
    return Loaded(job_set, tuple(in_order([*findings, *job_set.findings])), unreadable)


def in_order(findings: list[Finding]) -> list[Finding]:
    """Return the findings by file and line."""
    return sorted(findings, key=lambda finding: (finding.file, finding.line))


def open_sources(
    configs: Sequence[str],
    *,
    form: Format | None = None,
    permissions: bool = True,
    place: Callable[[str], str] = whole_path,
) -> Opened:
    """Return the texts of files and of those in directories.

    `place` says where a file is to be taken to lie: the path that enters the identities of its jobs.
    """
    findings: list[Finding] = []
    sources: list[Source] = []
    unreadable = False
    for file, found in _find(configs, form, findings):
        if found is None:
            unreadable = True
            continue
        try:
            content, warnings = read_trusted(file) if permissions else (_read(file), [])
            text = content.decode()
        except OSError as error:
            unreadable = True
            findings.append(_unreadable(file, error.errno))
        except FileRefusedError as error:
            findings.append(_error(file, error.reason, error.fix))
        except UnicodeDecodeError as error:
            unreadable = True
            findings.append(_error(file, f"is not UTF-8 at byte {error.start}", "save it as UTF-8"))
        except ValueError:
            unreadable = True
            findings.append(_error(shown(file), "is no name of a file", "a name has no zero byte"))
        else:
            findings += [Finding("warning", "file", message, fix, file, 1) for message, fix in warnings]
            sources.append(Source(file, place(file), found, text))
    return Opened(sources, findings, unreadable)


def surroundings() -> Surroundings:
    """Return what this host says of itself."""
    try:
        timezone = system_timezone()
    except InvalidDefinitionError:  # told where it matters: at the lines of a crontab
        timezone = ""
    return Surroundings(os.uname().nodename, _machine_id(), timezone)


def is_directory(path: str) -> bool:
    """Whether a path leads to a directory; one that cannot be a path does not."""
    try:
        return Path(path).is_dir()
    except OSError:  # longer than any name, or in a directory that we may not enter
        return False


def is_in_any(file: str, places: Iterable[str]) -> bool:
    """Whether a file is one of these files, or in one of these directories or below."""
    whole = whole_path(file)
    return any(whole == place or whole.startswith(f"{place.rstrip('/')}/") for place in map(whole_path, places))


def form_of(path: str) -> Format | None:
    """Return the form that a file has by its name and its directory, None if they do not tell."""
    whole = Path(whole_path(path))
    if whole.suffix in _ENDINGS:
        return _ENDINGS[whole.suffix]
    if str(whole) == _SYSTEM_FILE or (whole.parent.name == _SYSTEM_FOLDER and _is_system_name(whole.name)):
        return Format.SYSTEM_CRONTAB
    return None


def job_paths(configs: Iterable[str], form: Format | None = None) -> list[str]:
    """Return the job files, and the directories that cannot be listed."""
    return [file for file, _ in _find(configs, form, [])]


def _find(configs: Iterable[str], form: Format | None, findings: list[Finding]) -> Iterator[tuple[str, Format | None]]:
    seen: set[str] = set()
    for config in configs:
        files: list[tuple[str, Format | None]]
        if is_directory(config):
            files = [*_in_directory(config, findings)]
        else:
            found = form or form_of(config)
            if found is None and not os.path.lexists(config):  # perhaps a directory was meant
                findings.append(_unreadable(shown(config), errno.ENOENT))
            elif found is None:
                fix = "call it *.toml, *.kron or *.crontab, or say --format"
                findings.append(_error(config, "has a name that does not tell its form", fix))
            files = [(config, found)]
        for file, found in files:
            if whole_path(file) not in seen:  # given twice, or by itself and with its directory
                seen.add(whole_path(file))
                yield file, found


def _in_directory(directory: str, findings: list[Finding]) -> Iterator[tuple[str, Format | None]]:
    """Yield the job files of a directory and of its cron.d, in the order of their names; other names are left alone.

    A directory that cannot be read is told, and stands among the files, without a form.
    """
    if Path(whole_path(directory)).name == _SYSTEM_FOLDER:
        yield from _in_system_folder(directory, findings)
        return
    folder = Path(directory)
    system = folder / _SYSTEM_FOLDER
    paths: list[Path] = []
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        findings.append(_unreadable(directory, error.errno))
        yield directory, None
    for path in paths:
        if path.suffix in _ENDINGS and not is_directory(str(path)):
            if path.name.startswith("."):
                findings.append(_ignored(path, "is ignored: its name begins with a dot"))
            else:
                yield str(path), _ENDINGS[path.suffix]
    if system in paths or is_directory(str(system)):  # it may be seen and not asked, or reverse
        yield from _in_system_folder(str(system), findings)


def _in_system_folder(directory: str, findings: list[Finding]) -> Iterator[tuple[str, Format | None]]:
    try:
        paths = sorted(Path(directory).iterdir())
    except NotADirectoryError:
        return
    except OSError as error:
        findings.append(_unreadable(directory, error.errno))
        yield directory, None
        return
    for path in paths:
        if not _is_system_name(path.name):
            findings.append(_ignored(path, "is ignored, as cron does: names in cron.d are letters, digits, - and _"))
        elif not is_directory(str(path)):
            yield str(path), Format.SYSTEM_CRONTAB


def _is_system_name(name: str) -> bool:
    return _NAME_IN_SYSTEM_FOLDER.fullmatch(name) is not None


def _read(file: str) -> bytes:
    with Path(file).open("rb") as opened:
        return opened.read(LARGEST + 1)  # one more than allowed, so that the reader of the text refuses it


def _machine_id() -> str:
    for path in _MACHINE_IDS:
        try:
            text = path.read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            continue
        if text:
            return text
    return ""


def _error(file: str, message: str, fix: str = "") -> Finding:
    return Finding("error", "file", message, fix, file, 1)


def _unreadable(file: str, number: int | None) -> Finding:
    known = number or errno.EIO
    return _error(file, f"cannot be read: {os.strerror(known)}", _REMEDIES.get(known, "give a file"))


def _ignored(path: Path, message: str) -> Finding:
    return Finding("notice", "file", message, "rename it to use it", str(path), 1)

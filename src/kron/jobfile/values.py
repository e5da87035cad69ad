"""The values of a job's keys, each read from what a file has there; an error names what was found and what is right."""

import re
from collections.abc import Callable, Mapping
from datetime import timedelta

from kron.cron.zone import load_zone
from kron.decision.definition import read_duration, require_text
from kron.errors import InvalidDefinitionError
from kron.errors.diagnostics import ErrorCollector, unknown_value
from kron.instant import ZERO
from kron.jobfile.toml_syntax import format_value

LIMITS = (
    "as", "core", "cpu", "data", "fsize", "memlock", "msgqueue", "nice", "nofile", "nproc", "rss", "rtprio", "rttime",
    "sigpending", "stack",
)  # fmt: skip
UNLIMITED = -1  # as resource.RLIM_INFINITY
SHELL = "/bin/sh"

_UNITS = {"": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_SIZE = re.compile(r"(\d{1,15}) ?([A-Za-z]*)", re.ASCII)
_LARGEST_OUTPUT = 2**30  # bytes: krond copies as much whenever a run has written half as much again
_LARGEST = 2**63 - 1  # what the kernel takes for a limit
_MOST_RETRIES = 1_000_000
_UMASK = re.compile(r"[0-7]{1,4}", re.ASCII)
_PLAIN = re.compile(r"[!#-&(-\[\]-~ \t]*", re.ASCII)  # neither quotes nor backslashes: splitting at blanks is enough
# A part of a command without a shell: blanks, plain characters, a quoted text, an escaped character.
_PART = re.compile(r"""(?P<blanks>[ \t\r\n]++)|([^ \t\r\n'"\\]++)|'([^']*+)'|"((?:[^"\\]++|\\.)*+)"|\\(.)""", re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\])')  # between double quotes; before others a backslash is itself
_URL = re.compile(r"https?://[^\s/?#]+\S*", re.ASCII | re.IGNORECASE)
_STREAMS = ("capture", "inherit", "discard", "syslog", "file:/path")
_DAYS = re.compile(r"(\d{1,6})d(.*)", re.ASCII | re.DOTALL)


def invalid_value(key: str, found: object, reason: str, fix: str = "") -> InvalidDefinitionError:
    """Return the error about a value."""
    text = found if isinstance(found, str) else format_value(found)
    return InvalidDefinitionError(field=key, found=text, reason=reason, fix=fix)


# --- texts ------------------------------------------------------------------------------------------------------------


def parse_string(key: str, given: object) -> str:
    """Return a text that a program can be given."""
    if not isinstance(given, str):
        raise invalid_value(key, given, "must be a text", "write it in quotes")
    if "\0" in given:
        raise invalid_value(key, given, "must not contain a NUL character", "remove it")
    return require_text(key, given)


def parse_single_line(key: str, given: object) -> str:
    """Return a text of one line that is not empty."""
    text = parse_string(key, given)
    if not text or not text.isprintable():
        raise invalid_value(key, text, "must be one line and not empty", "write a word, or leave the key out")
    return text


def parse_absolute_path(key: str, given: object) -> str:
    """Return an absolute path."""
    path = parse_single_line(key, given)
    if not path.startswith("/"):
        raise invalid_value(key, path, "must be an absolute path", "begin it with /")
    return path


def parse_url(key: str, given: object) -> str:
    """Return the address of a web service."""
    url = parse_single_line(key, given)
    if not _URL.fullmatch(url):
        fix = "write the whole address, as in https://hc.example/backup"
        raise invalid_value(key, url, "must be an address that begins with http:// or https://", fix)
    return url


def is_url(text: str) -> bool:
    """Whether a hook is to be called, not run."""
    return text.lower().startswith(("http://", "https://"))


def parse_zone(key: str, given: object) -> str:
    """Return the name of an IANA zone."""
    return load_zone(parse_string(key, given)).name


def parse_word(*words: str) -> Callable[[str, object], str]:
    """Return a reader of one of a few words."""

    def read(key: str, given: object) -> str:
        if not isinstance(given, str) or given not in words:
            raise unknown_value(key, given if isinstance(given, str) else format_value(given), words)
        return given

    return read


# --- numbers ----------------------------------------------------------------------------------------------------------


def parse_bool(key: str, given: object) -> bool:
    """Return true or false."""
    if not isinstance(given, bool):
        raise invalid_value(key, given, "must be true or false", "write it without quotes")
    return given


def parse_count(key: str, given: object) -> int:
    """Return a whole number from 0."""
    if not isinstance(given, int) or isinstance(given, bool) or not 0 <= given <= _MOST_RETRIES:
        raise invalid_value(key, given, f"must be a whole number from 0 to {_MOST_RETRIES}", f"write {key} = 3")
    return given


def parse_duration(key: str, given: object) -> timedelta:
    """Return a duration in Go's form."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        raise invalid_value(key, given, "is a bare number", f'write it in quotes and with a unit, as in {key} = "90s"')
    if not isinstance(given, str):
        raise invalid_value(key, given, "must be a duration", f'write {key} = "90s"')
    return read_duration(key, given)


def parse_positive_duration(key: str, given: object) -> timedelta:
    """Return a duration above zero."""
    duration = parse_duration(key, given)
    if duration == ZERO:
        raise invalid_value(key, given, "must be above 0s", "leave the key out to have none")
    return duration


def parse_long_duration(key: str, given: object) -> timedelta:
    """Return a duration that may begin with days: `90d`, `1d12h`."""
    match = _DAYS.fullmatch(given) if isinstance(given, str) else None
    if match is None:
        return parse_duration(key, given)
    rest = read_duration(key, match[2]) if match[2] else ZERO
    return timedelta(days=int(match[1])) + rest


def parse_umask(key: str, given: object) -> int:
    """Return a file mode mask from octal digits."""
    if not isinstance(given, str) or not _UMASK.fullmatch(given) or int(given, 8) > 0o777:
        raise invalid_value(key, given, "must be a text of octal digits up to 777", f'write {key} = "022"')
    return int(given, 8)


def parse_size(key: str, given: object) -> int:
    """Return a number of bytes from a number or a text such as `512MiB`."""
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given <= _LARGEST:
        return given
    match = _SIZE.fullmatch(given) if isinstance(given, str) else None
    if match is None or match[2] not in _UNITS or (size := int(match[1]) * _UNITS[match[2]]) > _LARGEST:
        raise invalid_value(key, given, "must be a number of bytes", f'write {key} = "1MiB"; units are KiB, MiB, GiB')
    return size


def parse_output_limit(key: str, given: object) -> int:
    """Return how many bytes of a run's output are kept."""
    size = parse_size(key, given)
    if size > _LARGEST_OUTPUT:
        raise invalid_value(
            key, given, "must be at most 1GiB", f'write {key} = "1GiB", or let the job write to a file of its own'
        )
    return size


def parse_limit(key: str, given: object) -> int:
    """Return a limit of a resource."""
    if key not in LIMITS:
        raise unknown_value("limits", key, LIMITS)
    if given == "unlimited":
        return UNLIMITED
    try:
        return parse_size(key, given)
    except InvalidDefinitionError as error:
        reason = "must be a whole number, a size or unlimited"
        raise invalid_value(key, given, reason, f'write {key} = 1024 or {key} = "512MiB"') from error


# --- what is run ------------------------------------------------------------------------------------------------------


def parse_shell(key: str, given: object) -> str:
    """Return the shell's path, empty for none."""
    if isinstance(given, bool):
        return SHELL if given else ""
    if not isinstance(given, str):
        raise invalid_value(key, given, "must be true, false or the path of a shell", 'write shell = "/bin/bash"')
    return parse_absolute_path(key, given)


def parse_command(key: str, given: object) -> str | tuple[str, ...]:
    """Return a command as it was written: a text, or a list of a program and its arguments."""
    if isinstance(given, str):
        if not given.strip():
            raise invalid_value(key, given, "must not be empty", "name a program")
        return parse_string(key, given)
    if not isinstance(given, list | tuple):
        raise invalid_value(key, given, "must be a text or a list of texts", 'write ["/usr/bin/backup", "--all"]')
    if not given or not given[0]:
        raise invalid_value(key, given, "must name a program first", 'write ["/usr/bin/backup", "--all"]')
    return tuple(parse_string(key, word) for word in given)


def argv_of(key: str, command: str | tuple[str, ...], shell: str) -> tuple[str, ...]:
    """Return the program and its arguments that a command means, with a shell or without."""
    if isinstance(command, tuple):
        if shell:
            raise invalid_value(
                key, list(command), "must be a text, because shell is on", "write a text or shell = false"
            )
        return command
    if shell:
        return shell, "-c", command
    if _PLAIN.fullmatch(command):
        return tuple(command.split())
    try:
        words = split_words(command)
    except ValueError as error:
        raise invalid_value(key, command, str(error), "close it, or write a list") from error
    if not words or not words[0]:
        raise invalid_value(key, command, "must not be empty", "name a program")
    return tuple(words)


def split_words(text: str) -> list[str]:
    """Return the words of a text by POSIX quoting rules, as `shlex.split` does, in time linear in its length."""
    words: list[str] = []
    parts: list[str] | None = None  # of the word that is open
    position = 0
    while position < len(text):
        found = _PART.match(text, position)
        if found is None:
            raise ValueError("no escaped character" if text[position] == "\\" else "no closing quotation")
        position = found.end()
        if found["blanks"] is None:
            _, plain, single, double, escaped = found.groups()
            part = plain or single or escaped or _ESCAPED.sub(r"\1", double or "")
            parts = [] if parts is None else parts
            parts.append(part)
        elif parts is not None:
            words.append("".join(parts))
            parts = None
    return words if parts is None else [*words, "".join(parts)]


def parse_hooks(key: str, given: object) -> list[tuple[str, object]]:
    """Return the commands and addresses of a hook as they were written, and after them the errors about others."""
    if not isinstance(given, list):
        raise invalid_value(key, given, "must be a list", 'write ["…"]')
    hooks: list[str | tuple[str, ...]] = []
    mistakes = ErrorCollector()
    for item in given:
        with mistakes:
            hooks.append(parse_url(key, item) if isinstance(item, str) and is_url(item) else parse_command(key, item))
    return [(key, tuple(hooks)), *((key, error) for error in mistakes.errors)]


def parse_variable(key: str, given: object) -> str:
    """Return the value of a variable of the environment; `key` is its name."""
    if not key or "=" in key or "\0" in key:
        raise invalid_value("env", key, "must be the name of a variable", "names have no = and are not empty")
    if key.startswith("KRON_"):
        raise invalid_value("env", key, "names that begin with KRON_ are set by krond", "choose another name")
    return parse_string(key, given)


def parse_stream(*more: str) -> Callable[[str, object], str]:
    """Return a reader of where output goes: one of the usual words, a file, or one of `more`."""
    words = (*_STREAMS, *more)

    def read(key: str, given: object) -> str:
        if isinstance(given, str) and given.startswith("file:") and given != "file:/path":
            parse_absolute_path(key, given.removeprefix("file:"))
            return given
        return parse_word(*words)(key, given)

    return read


def parse_entries(reader: Callable[[str, object], object], key: str, given: object) -> list[tuple[str, object]]:
    """Return the entries of a table, each read by itself; in the place of one that is wrong stands its error."""
    if not isinstance(given, Mapping):
        raise invalid_value(key, given, "must be a table", f'write {key} = {{NAME = "value"}}')
    entries: list[tuple[str, object]] = []
    for name, value in given.items():
        try:
            entries.append((name, reader(name, value)))
        except InvalidDefinitionError as error:
            entries.append((name, error))
    return entries

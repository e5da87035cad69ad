"""parse_crontab(text) -> drafts: a classic crontab, with cron's own habits spelled out as keys."""

import re
from collections import Counter
from collections.abc import Iterator, Set as AbstractSet
from dataclasses import dataclass, field
from hashlib import sha256
from io import StringIO

from kron.cron.dialect import EXTENDED
from kron.cron.expression import REBOOT, parse
from kron.decision.line import ScheduleLine, TrailingText, parse_line, split_outside_quotes, unquote
from kron.errors import InvalidDefinitionError, KronError
from kron.jobfile.draft import FileReport, JobDraft
from kron.jobfile.job_file import HostInfo
from kron.jobfile.toml_syntax import Path
from kron.jobfile.values import SHELL, parse_absolute_path, parse_variable, parse_zone

PATH = "/usr/bin:/bin"
_VARIABLE = re.compile(r"""[ \t]*("[^"]*"|'[^']*'|[^\s="'#]+)[ \t]*=[ \t]*(.*)""")
_COMMENT = re.compile(r"[ \t]*#[ \t]*kron:(.*)")
_PERCENT = re.compile(r"\\%|%")
_LIKE_A_FIELD = re.compile(r"[*\d][\d*/,-]*", re.ASCII)
_LONGEST_BASE = 100  # characters of a command's first word: a name stays one that people can read
_FIXED = ("LOGNAME", "USER")  # they follow from who runs the job
_MAIL = ("MAILTO", "MAILFROM")
_NAMED = ("name", "identity")
_DEADLINE = "10m"  # a host that sleeps for a minute loses no line that cron would have run when it wakes up
_LONGEST_DELAY = 1440  # minutes: a day
_SYSTEM_FIX = (
    "move the file to a directory named cron.d, or give --format system-crontab; "
    "if it is a program, write its whole path"
)


@dataclass(slots=True)
class _Lines:
    """What earlier lines say about later ones."""

    env: dict[str, str] = field(default_factory=lambda: {"PATH": PATH, "SHELL": SHELL})
    timezone: str = ""
    delay: int = 0  # minutes by which runs are spread
    named: dict[str, str] = field(default_factory=dict)  # by the comment just above
    named_at: int = 0
    commands: Counter[tuple[str, str]] = field(default_factory=Counter)
    mail_told: bool = False


def parse_crontab(text: str, report: FileReport, here: HostInfo, *, system: bool) -> Iterator[JobDraft]:
    """Yield what each line says; `system` is the form with a column for the user."""
    lines = _Lines(timezone=here.timezone)
    for number, line in enumerate(StringIO(text), 1):
        content = line.strip(" \t\r\n")
        if report.full:
            return
        try:
            if comment := _COMMENT.fullmatch(content):
                _check_unused(lines, report)
                lines.named, lines.named_at = _read_comment(comment[1]), number
            elif content and not content.startswith("#"):
                if variable := _VARIABLE.fullmatch(content):
                    _read_variable(variable, number, lines, report)
                else:
                    draft = _read_job(_without_dash(content), number, lines, system=system)
                    if not system and (user := user_column(draft, here.users)):
                        message = f'looks like the user of a system crontab, found "{user}"'
                        report.add("warning", "command", message, _SYSTEM_FIX, number)
                    yield draft
                    continue
        except KronError as error:
            report.errors_of(error, number)
        if lines.named and lines.named_at != number:
            _check_unused(lines, report)
    _check_unused(lines, report)


def user_column(draft: JobDraft, users: AbstractSet[str]) -> str:
    """Return the user that a line of a user's crontab seems to name before its command; empty if it names none."""
    words = str(draft.entries["command"]).split(None, 1)
    return words[0] if len(words) > 1 and words[0] in users else ""


def _without_dash(content: str) -> str:
    """Return a line without the `-` by which cronie is asked not to log its runs; Kron records every run."""
    if content[:1] != "-":
        return content
    if not content[1:2].strip():
        fix = "write it directly before the line, as in -*/5 * * * *"
        raise InvalidDefinitionError(field="minute", found="-", reason="stands by itself", fix=fix)
    return content[1:]


# --- comments and variables -------------------------------------------------------------------------------------------


def _read_comment(text: str) -> dict[str, str]:
    named: dict[str, str] = {}
    for word in split_outside_quotes(text, " \t"):
        key, _, value = word.partition("=")
        if word and (key not in _NAMED or key in named or not value):
            fix = "write # kron: name=backup identity=prod/backup"
            raise InvalidDefinitionError(field="kron", found=word, reason="takes name and identity once", fix=fix)
        if word:
            named[key] = unquote(value)
    if not named:
        reason, fix = "says neither name nor identity", "write # kron: name=backup"
        raise InvalidDefinitionError(field="kron", found=text, reason=reason, fix=fix)
    return named


def _check_unused(lines: _Lines, report: FileReport) -> None:
    if lines.named:
        message = "names a line, and none follows directly"
        report.add("error", "kron", message, "put it just above a line with a command", lines.named_at)
        lines.named, lines.named_at = {}, 0


def _read_variable(match: re.Match[str], number: int, lines: _Lines, report: FileReport) -> None:
    name, value = _unquoted(match[1]), _unquoted(match[2].rstrip(" \t"))
    if name == "CRON_TZ":
        try:
            lines.timezone = parse_zone(name, value)
        except KronError as error:
            report.error(error, number, name)
        return
    if name == "RANDOM_DELAY":
        lines.delay = _read_delay(name, value)
    if name in _FIXED:
        report.add("notice", name, "cannot be changed by a crontab; it is the user's own", "remove the line", number)
        return
    if name in ("HOME", "SHELL"):
        parse_absolute_path(name, value)
    if name in _MAIL and value and not lines.mail_told:
        lines.mail_told = True
        message = "is passed on to the commands; no mail is sent, output is kept with each run"
        report.add("notice", name, message, "set on_failure to be notified", number)
    parse_variable(name, value)
    lines.env[name] = value


def _read_delay(name: str, value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < 6 and int(value) <= _LONGEST_DELAY):
        reason, fix = (
            f"must be a whole number of minutes up to {_LONGEST_DELAY}",
            "write RANDOM_DELAY=45, or 0 to end it",
        )
        raise InvalidDefinitionError(field=name, found=value, reason=reason, fix=fix)
    return int(value)


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


# --- jobs -------------------------------------------------------------------------------------------------------------


def _read_job(content: str, number: int, lines: _Lines, *, system: bool) -> JobDraft:
    named = lines.named
    index: dict[Path, int] = {(key,): lines.named_at for key in named}
    lines.named, lines.named_at = {}, 0
    line = parse_line(content, trailing=TrailingText.COMMAND)
    user, command = _take_user(line) if system else ("", line.trailing)
    first = next(iter(command.split(None, 1)), "")
    if not first:
        if line.expression.lower() != REBOOT:
            parse(line.expression)  # it may have swallowed the command; then its own error is the one that helps
        raise InvalidDefinitionError(field="command", found="", reason="is required", fix="add it after the schedule")
    if _LIKE_A_FIELD.fullmatch(user or first):
        reason, fix = "looks like a sixth field", "cron has neither seconds nor years"
        raise InvalidDefinitionError(field="user" if user else "command", found=user or first, reason=reason, fix=fix)
    executed, stdin = _split_percent(command)
    env = dict(lines.env)
    entries: dict[str, object] = {
        "schedule": content[: line.trailing_position].strip(),
        **_habits(line, lines),
        "command": executed,
        "shell": env["SHELL"],
        **({"stdin": stdin} if stdin else {}),
        **({"user": user} if user else {}),
        "env": env,
        **({"identity": named["identity"]} if "identity" in named else {}),
    }
    return JobDraft(named.get("name") or _name(user, command, lines.commands), number, entries, index=index)


def _take_user(line: ScheduleLine) -> tuple[str, str]:
    user, *command = line.trailing.split(None, 1)[:2] or [""]
    if not user:
        fix = "write the user before the command, or read the file as a user's crontab"
        raise InvalidDefinitionError(field="user", found="", reason="is required", fix=fix)
    return user, "".join(command)


def _habits(line: ScheduleLine, lines: _Lines) -> dict[str, object]:
    """Return cron's defaults as keys, without those that a modifier of the line sets."""
    timezone = lines.timezone
    modifiers = [line.modifiers[name] for name in ("dst", "policy") if name in line.modifiers]
    said = {word.partition("=")[0].strip() for modifier in modifiers for word in modifier.words()}
    said |= {key for key, modifier in (("timezone", "tz"), ("window", "win")) if modifier in line.modifiers}
    fields = EXTENDED.macros.get(line.expression.lower(), line.expression).split()
    follows_real_time = any(text.startswith("*") for text in fields[:2])
    usual: dict[str, object] = {
        "timezone": timezone,
        "gap": "skip" if follows_real_time else "shift",
        "repeated": "both" if follows_real_time else "first",
        "concurrency": "allow",
        "deadline": _DEADLINE,
        **({"window": f"after,{lines.delay}m"} if lines.delay else {}),
    }
    if line.expression.lower() == REBOOT:
        said |= {"gap", "repeated", "deadline", "window", *(() if timezone else ("timezone",))}
    elif not timezone and "timezone" not in said:
        reason = "the zone of this host is not known"
        raise InvalidDefinitionError(field="timezone", found="", reason=reason, fix="add CRON_TZ=… above the line")
    return {key: value for key, value in usual.items() if key not in said}


def _split_percent(command: str) -> tuple[str, str]:
    """Return what is executed and what it reads: the first plain % ends the command, further ones end lines."""
    marks = [match.start() for match in _PERCENT.finditer(command) if match[0] == "%"]
    end = marks[0] if marks else len(command)
    text = _PERCENT.sub(lambda match: "%" if match[0] == "\\%" else "\n", command[end + 1 :])
    return command[:end].replace("\\%", "%").rstrip(" \t"), text


def _name(user: str, command: str, seen: Counter[tuple[str, str]]) -> str:
    """Return a name that depends on the command and its user, and on nothing else of the file."""
    word = command.split(None, 1)[0].rstrip("/").rpartition("/")[2]
    base = "".join(character for character in word if character.isprintable())[:_LONGEST_BASE] or "job"
    digest = sha256(f"{user}\n{command}".encode()).hexdigest()[:8]
    seen[user, command] += 1
    count = seen[user, command]
    return f"{base}-{digest}" + (f"-{count}" if count > 1 else "")

"""JobBuilder: from the draft of a job and its file's defaults to a HostJob, or to all that is wrong with it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from kron.cron.expression import REBOOT
from kron.cron.schedule import Schedule
from kron.decision.constraint import Clauses, Constraints
from kron.decision.definition import require_identity
from kron.decision.distribution import Distribution
from kron.decision.seed import Seed, SeedStrategy
from kron.decision.timing import Timing
from kron.decision.window import Window
from kron.errors import InvalidCronExpressionError, InvalidDefinitionError, KronError, OneOf
from kron.instant import ZERO
from kron.jobfile.draft import FileReport, JobDraft, ParsedValue, parse_draft
from kron.jobfile.host_job import (
    FINGERPRINT_BYTES,
    HOOKS,
    LATE_AFTER,
    NO_HOOKS,
    RETRY_DELAY,
    Command,
    Hook,
    HookCommand,
    Hooks,
    HostJob,
    NamedAccount,
    Webhook,
)
from kron.jobfile.job_file import HostInfo, expand_placeholders, placeholders_in
from kron.jobfile.keys import IN_DEFAULTS, KEYS, Parts
from kron.jobfile.values import argv_of, is_url
from kron.rules.policy import Concurrency, Policy

LONGEST_NAME = 255  # characters; names are part of URLs and of columns of tables
_UNTIMED = ("window", "distribution", "strategy", "salt", "only", "avoid", "gap", "repeated")
_COMMAND = ("user", "group", "cwd", "umask", "stdin", "timeout", "grace", "stdout", "stderr", "output_limit")
_SAY_HOOKS = {*HOOKS, "late_after", "ping"}
_KEYS = tuple(KEYS)
_PART_NAMES = {"expression": "schedule", "strategy": "seed"}
_ENTRIES = tuple(name for name, key in KEYS.items() if key.entries)
_NO_CLAUSES, _NO_WINDOW, _UNIFORM, _FREE = Clauses(), Window(), Distribution(), Constraints()
_LOSSLESS = ("utf-8", "surrogatepass")

Merged = dict[str, ParsedValue]


@dataclass(slots=True)
class ParseCache:
    """What the jobs of one reading share: many of them say the same in the same words."""

    parts: dict[object, Parts] = field(default_factory=dict)
    schedules: dict[tuple[Any, ...], Schedule] = field(default_factory=dict)
    argvs: dict[object, tuple[str, ...]] = field(default_factory=dict)
    constraints: dict[tuple[int, int], Constraints] = field(default_factory=dict)
    seeds: dict[Seed, Seed] = field(default_factory=dict)
    policies: dict[Policy, Policy] = field(default_factory=dict)
    offsets: dict[tuple[tuple[str, int], ...], Mapping[str, int]] = field(default_factory=dict)


class JobBuilder:
    """Builds the jobs of one file; `timezone` is that of jobs that name none."""

    def __init__(
        self, path: str, report: FileReport, surroundings: HostInfo, timezone: str, memory: ParseCache
    ) -> None:
        self._path = path
        self._report = report
        self._surroundings = surroundings
        self._timezone = timezone
        self._memory = memory
        self._defaults: Merged = {}
        self._origin = blake2b(repr((path, surroundings, timezone)).encode(*_LOSSLESS), digest_size=FINGERPRINT_BYTES)
        self.wanted: list[NamedAccount] = []  # by those that did not become jobs

    def set_defaults(self, draft: JobDraft) -> None:
        """Take what holds for all jobs of the file that do not say otherwise."""
        self._origin.update(repr(draft.entries).encode(*_LOSSLESS))
        self._defaults = parse_draft(draft, IN_DEFAULTS, self._report, self._memory.parts)
        if salt := self._defaults.pop("salt", None):
            with self._telling(draft, "salt", {"salt": salt}):
                expand_placeholders("salt", str(salt.value), self._surroundings)
                self._defaults["salt"] = salt  # a wrong one is reported once, not for every job

    def build(self, draft: JobDraft) -> HostJob | None:
        """Return the job, or report all its errors."""
        errors = self._report.errors
        for mistake in draft.mistakes:
            self._report.errors_of(mistake, draft.line)
        said = parse_draft(draft, _KEYS, self._report, self._memory.parts)
        merged = self._merge(said)
        named = self._check_name(draft)
        for key in ("schedule", "command"):
            if key not in draft.entries:
                fix = f"add {key} = …" if draft.prefix else f"add {key}=… after the name"
                self._report.add("error", f"{draft.prefix}{key}", "is required", fix, draft.line)
        identity = self._identity(draft, merged) if named else None
        timing = self._timing(draft, said, merged, identity)
        command = self._command(draft, merged)
        hooks = self._hooks(draft, merged)
        if self._report.errors != errors or identity is None or command is None:
            self._want(draft, merged)
            return None
        get = _getter(merged)
        policy = Policy(get("concurrency", Concurrency.FORBID), get("deadline", ZERO), get("suspend", False))
        return HostJob(
            draft.name,
            identity,
            str(draft.entries["schedule"]).strip(),
            get("timezone", self._timezone),
            timing,
            self._memory.policies.setdefault(policy, policy),
            command,
            get("retries", 0),
            get("retry_delay", RETRY_DELAY),
            hooks,
            get("description", ""),
            self._report.file,
            draft.line,
            self._offsets(draft, merged),
            draft.prefix,
            placeholders_in(get("identity", ""), get("salt", "")),
            self._origin_of(draft),
        )

    def _origin_of(self, draft: JobDraft) -> bytes:
        origin = self._origin.copy()
        origin.update(repr((draft.name, draft.entries)).encode(*_LOSSLESS))
        return origin.digest()

    def _offsets(self, draft: JobDraft, merged: Merged) -> Mapping[str, int]:
        """Return where the parts stand, from the line of the job on: many jobs look alike."""
        found = tuple((_PART_NAMES.get(part, part), said.line - draft.line) for part, said in merged.items())
        if (shared := self._memory.offsets.get(found)) is None:
            shared = self._memory.offsets[found] = dict(found)
        return shared

    def _want(self, draft: JobDraft, merged: Merged) -> None:
        for part in ("user", "group"):
            if part in merged:
                said = merged[part]
                field = f"{draft.prefix}{said.key}"
                self.wanted.append(NamedAccount(part, str(said.value), field, self._report.file, said.line))

    # --- the parts of a job -------------------------------------------------------------------------------------------

    def _merge(self, said: Merged) -> Merged:
        """Return the parts of a job and those of the defaults that it does not replace."""
        defaults = self._defaults
        if not defaults:
            return said
        merged = {**defaults, **said}
        if "strategy" in said and "salt" not in said and "salt" in defaults and defaults["salt"].key == "seed":
            del merged["salt"]  # the job's seed replaces the whole of the defaults' seed
        for name in _ENTRIES:
            if name in said and name in defaults:
                merged[name] = said[name]._replace(value={**_table(defaults[name]), **_table(said[name])})
        return merged

    def _check_name(self, draft: JobDraft) -> bool:
        name = draft.name
        if name and name.isprintable() and name == name.strip() and len(name) <= LONGEST_NAME:
            return True
        if not name and not draft.prefix:
            self._report.add("error", "name", "is required", "add name=… after the schedule", draft.line)
            return False
        reason = f"must be one printable line of at most {LONGEST_NAME} characters, not empty, without blanks around it"
        error = InvalidDefinitionError(field="name", found=name, reason=reason, fix="choose another name")
        self._report.error(error, draft.line_of("name"), draft.prefix.rstrip(".") or "name")
        return False

    def _identity(self, draft: JobDraft, merged: Merged) -> str | None:
        with self._telling(draft, "identity", merged):
            if "identity" not in merged:
                return require_identity(f"{self._path}:{draft.name}")
            return require_identity(expand_placeholders("identity", str(merged["identity"].value), self._surroundings))
        return None

    def _timing(self, draft: JobDraft, said: Merged, merged: Merged, identity: str | None) -> Timing | None:
        if "expression" not in merged:
            return None
        get = _getter(merged)
        expression = str(merged["expression"].value)
        if expression.lower() == REBOOT:
            for key, word, line in dict.fromkeys(_place(part, said[part]) for part in _UNTIMED if part in said):
                message = f"{word} has no meaning for @reboot"
                self._report.add("error", f"{draft.prefix}{key}", message, "leave it out", line)
            return None
        salt = ""
        with self._telling(draft, "salt", merged):
            salt = expand_placeholders("salt", get("salt", ""), self._surroundings)
        with self._telling(draft, "expression", merged):
            words = (get("dialect", "extended"), get("repeated", "both"), get("gap", "skip"))
            schedule = self._schedule(expression, get("timezone", self._timezone), *words)
            seed = Seed(get("strategy", SeedStrategy.STABLE), salt)
            only, avoid = get("only", _NO_CLAUSES), get("avoid", _NO_CLAUSES)
            constraints = self._constraints(only, avoid)
            window, distribution = get("window", _NO_WINDOW), get("distribution", _UNIFORM)
            seed = self._memory.seeds.setdefault(seed, seed)
            return Timing(identity or "?", schedule, window, distribution, seed, constraints)
        return None

    def _schedule(self, expression: str, timezone: str, dialect: str, repeated: str, gap: str) -> Schedule:
        words = (expression, timezone, dialect, repeated, gap)
        if (found := self._memory.schedules.get(words)) is None:
            found = self._memory.schedules[words] = Schedule(*words)  # type: ignore[arg-type] # words that were read
        return found

    def _constraints(self, only: Clauses, avoid: Clauses) -> Constraints:
        if only is _NO_CLAUSES and avoid is _NO_CLAUSES:
            return _FREE
        if (found := self._memory.constraints.get((id(only), id(avoid)))) is None:
            found = self._memory.constraints[id(only), id(avoid)] = Constraints(only, avoid)  # which keeps both alive
        return found

    def _command(self, draft: JobDraft, merged: Merged) -> Command | None:
        if "command" not in merged:
            return None
        given: Any = merged["command"].value
        with self._telling(draft, "command", merged):
            argv = self._argv("command", given, _getter(merged)("shell", ""))
            settings: dict[str, Any] = {name: merged[name].value for name in _COMMAND if name in merged}
            for name in _ENTRIES:
                if name in merged:
                    settings[name] = tuple(_table(merged[name]).items())
            return Command(argv, **settings)
        return None

    def _hooks(self, draft: JobDraft, merged: Merged) -> Hooks:
        if not merged.keys() & _SAY_HOOKS:
            return NO_HOOKS
        get = _getter(merged)
        found: dict[str, Any] = {}
        for name in HOOKS:
            if name in merged:
                found[name] = []
                for item in get(name, ()):
                    with self._telling(draft, name, merged):
                        found[name].append(self._hook(name, item, get("shell", "")))
                found[name] = tuple(found[name])
        return Hooks(**found, late_after=get("late_after", LATE_AFTER), ping=get("ping", ""))

    def _hook(self, key: str, item: str | tuple[str, ...], shell: str) -> Hook:
        if isinstance(item, str) and is_url(item):
            return Webhook(item)
        return HookCommand(self._argv(key, item, shell if isinstance(item, str) else ""))

    def _argv(self, key: str, command: str | tuple[str, ...], shell: str) -> tuple[str, ...]:
        if (found := self._memory.argvs.get((command, shell))) is None:
            found = self._memory.argvs[command, shell] = argv_of(key, command, shell)
        return found

    @contextmanager
    def _telling(self, draft: JobDraft, part: str, merged: Merged) -> Iterator[None]:
        """Report an error that is raised inside, at the line of the part that it is about."""
        try:
            yield
        except KronError as error:
            said = merged.get(part)
            if isinstance(error, InvalidCronExpressionError) and isinstance(error.remedy, OneOf):
                error.remedy = OneOf((*error.remedy.words, REBOOT), error.remedy.found)  # a job may have it
            key, line = (said.key, said.line) if said else (part, draft.line)
            self._report.errors_of(error, line, draft.prefix + key)


def _place(part: str, said: ParsedValue) -> tuple[str, str, int]:
    """Return the key that says a part, in which words, and where."""
    name = _PART_NAMES.get(part, part)
    return said.key, f"@{KEYS[name].modifier}(…)" if said.key == "schedule" else said.key, said.line


def _table(said: ParsedValue) -> Mapping[str, object]:
    assert isinstance(said.value, dict)
    return said.value


def _getter(merged: Merged) -> Any:
    """Return the function that gives a part's value, or what holds without it; what it gives has the part's type."""

    def get(part: str, default: object) -> Any:
        return merged[part].value if part in merged else default

    return get

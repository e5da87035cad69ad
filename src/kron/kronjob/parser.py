"""parse_kronjob(document) -> KronJob or all that is wrong with it. lint_kronjob: what is probably not meant."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from kron.cron.schedule import Schedule
from kron.decision.bounds import LONGEST_PARAM, MOST_PARAMS, MOST_VALUES
from kron.decision.constraint import Clauses, Constraints
from kron.decision.distribution import DISTRIBUTIONS, Distribution
from kron.decision.seed import Seed
from kron.decision.timing import Timing
from kron.decision.window import Window
from kron.errors import Fix, InvalidDefinitionError, KronError, Remedy, display_text
from kron.errors.diagnostics import Diagnostic, diagnostic_of, unknown_value
from kron.instant import ZERO, format_duration
from kron.kronjob.kronjob import (
    API_VERSION,
    KIND,
    LONGEST_NAME,
    LONGEST_NAMESPACE,
    KronJob,
    is_dns_label,
    is_dns_subdomain,
)
from kron.kronjob.spec_fields import (
    LONGEST_ERRORS,
    MAX_DEPTH,
    MAX_PERIODS,
    MAX_SPEC_BYTES,
    PARAMS,
    SPEC,
    ObjectField,
    ValueField,
    definition_hash,
    exceeds_max_depth,
    exceeds_max_periods,
    is_unsatisfiable,
    json_bytes,
)
from kron.rules.lint import Linter
from kron.rules.policy import Policy

_MOST_ERRORS = 100  # that are listed for one list of constraints: a thousand take too long to read, and to write
DEFAULT_NAMESPACE = "default"  # where kubectl puts what names none

_NAMES = {"name": (is_dns_subdomain, LONGEST_NAME), "namespace": (is_dns_label, LONGEST_NAMESPACE)}
_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "string": ((str,), "must be a text"),
    "boolean": ((bool,), "must be true or false"),
    "integer": ((int,), "must be a whole number"),
    "number": ((int, float), "must be a number"),
    "array": ((list,), "must be a list of texts"),
    "object": ((dict,), "must be an object"),
}


def parse_kronjob(document: Mapping[str, Any]) -> KronJob | list[Diagnostic]:
    """Return the job of a document, plain data as YAML or JSON has it, or all its errors."""
    return _SpecParser().read(document)


def invalid_spec_message(errors: Iterable[Diagnostic]) -> str:
    """Return the message of the condition InvalidSpec: a line for each error, each begins with the field's path.

    Of very many errors the first are listed, and the rest is counted.
    """
    lines = [f"{error.field}: {error.message}{f'; {error.fix}' if error.fix else ''}" for error in errors]
    left = LONGEST_ERRORS
    for number, line in enumerate(lines):
        left -= len(line) + 1
        if left < 0:
            return "\n".join([*lines[:number], f"and {len(lines) - number} more errors"])
    return "\n".join(lines)


class _SpecParser:
    """One document: the values that were read, by path below the spec, and the errors."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._errors: list[Diagnostic] = []

    def read(self, document: Mapping[str, Any]) -> KronJob | list[Diagnostic]:
        for key, right in (("apiVersion", API_VERSION), ("kind", KIND)):
            if document.get(key) != right:
                self._wrong(key, document.get(key), f"must be {right}")
        metadata = self._object("metadata", document.get("metadata"))
        namespace, name = self._name("namespace", metadata.get("namespace") or DEFAULT_NAMESPACE), ""
        if metadata:
            name = self._name("name", metadata.get("name"))
        spec = self._object("spec", document.get("spec"))
        if deep := [key for key, value in spec.items() if exceeds_max_depth(value)]:
            for key in deep:
                self._wrong(f"spec.{key}", None, f"is more than {MAX_DEPTH} levels deep", "write it flatter")
            return self._errors
        if (size := len(json_bytes(spec))) > MAX_SPEC_BYTES:
            reason = f"must have at most {MAX_SPEC_BYTES:,} bytes as JSON, found {size:,}"
            self._wrong("spec", None, reason, "move scripts and data of jobTemplate into a ConfigMap")
            return self._errors
        if spec:
            self._read_table(SPEC, spec, "spec")
        timing = self._timing(f"{namespace}/{name}")
        if self._errors or timing is None:
            return self._errors
        get = self._values.__getitem__
        return KronJob(
            namespace,
            name,
            str(metadata.get("uid") or ""),
            timing,
            Policy(get("spec.policy.concurrency"), get("spec.policy.deadline"), get("spec.policy.suspend")),
            get("spec.successfulJobsHistoryLimit"),
            get("spec.failedJobsHistoryLimit"),
            json_bytes(get("spec.jobTemplate")),
            definition_hash(spec),
        )

    # --- the fields, one by one ---------------------------------------------------------------------------------------

    def _read_table(self, table: ObjectField, given: Mapping[str, Any], where: str) -> None:
        for name, field in table.fields.items():
            found, path = given.get(name), f"{where}.{name}"
            if field is PARAMS:
                self._values[path] = self._object(path, found, optional=True)
            elif isinstance(field, ObjectField):
                self._read_table(field, self._object(path, found, optional=True), path)
            elif field.default is None and found is None:
                self._wrong(path, None, "is required")
            else:
                self._read_leaf(field, field.default if found is None else found, path)

    def _read_leaf(self, leaf: ValueField, found: Any, path: str) -> None:
        if not self._is_a(leaf.kind, found, path):
            return
        if leaf.kind != "array":
            self._try(path, leaf, found)
            return
        errors = len(self._errors)
        if (many := sum(str(item).count(",") + 1 for item in found)) > MOST_VALUES:
            self._wrong(path, None, f"must have at most {MOST_VALUES} values, found {many}", "join them to ranges")
            return
        are_texts = all(isinstance(item, str) for item in found)
        if are_texts and self._try(path, leaf, found):
            return
        whole, self._errors = self._errors[errors:], self._errors[:errors]
        for number, item in enumerate(found):  # something is wrong: with which of them?
            if self._is_a("string", item, f"{path}[{number}]"):
                self._try(f"{path}[{number}]", leaf, [item])
            if len(self._errors) - errors >= _MOST_ERRORS:
                self._wrong(path, None, f"has more errors than the first {_MOST_ERRORS}, which are listed")
                return
        if len(self._errors) == errors:
            self._errors += whole

    def _try(self, path: str, leaf: ValueField, found: Any) -> bool:
        """Read a value; return whether it is right."""
        try:
            self._values[path] = leaf.read(path, found)
        except KronError as error:
            self._errors.append(_finding(error, path))
            return False
        return True

    def _is_a(self, kind: str, found: Any, path: str) -> bool:
        types, reason = _KINDS[kind]
        if isinstance(found, types) and (kind == "boolean" or not isinstance(found, bool)):
            return True
        fix = "write it in quotes" if kind == "string" and not isinstance(found, dict | list) else ""
        self._wrong(path, found, reason, fix)
        return False

    def _object(self, path: str, found: Any, *, optional: bool = False) -> Mapping[str, Any]:
        if isinstance(found, dict) and (found or optional):
            return found
        if found is not None and not isinstance(found, dict):
            self._wrong(path, found, "must be an object")
        elif not optional:
            self._wrong(path, None, "is required")
        return {}

    def _name(self, key: str, found: Any) -> str:
        is_right, longest = _NAMES[key]
        if isinstance(found, str) and is_right(found):
            return found
        reason = f"must be at most {longest} lower-case letters, digits, - {'or . ' if key == 'name' else ''}"
        self._wrong(f"metadata.{key}", found, "is required" if found is None else reason.rstrip())
        return ""

    def _wrong(self, path: str, found: object, reason: str, fix: str = "") -> None:
        text = "" if found is None else f', found "{display_text(_spelled(found))}"'
        self._errors.append(Diagnostic("error", path, f"{reason}{text}", fix))

    # --- what the fields say together ---------------------------------------------------------------------------------

    def _timing(self, identity: str) -> Timing | None:
        get = self._get
        distribution = self._distribution()
        only, avoid = (get(f"spec.constraints.{side}", Clauses()) for side in ("only", "avoid"))
        constraints = Constraints(only, avoid)
        if is_unsatisfiable(constraints):
            self._wrong("spec.constraints", None, "no second of any day satisfies only and avoid", "widen one of them")
        if not self._values.keys() >= {"spec.schedule", "spec.timeZone", "spec.gap", "spec.repeated"}:
            return None
        gap, repeated = get("spec.gap").value, get("spec.repeated").value
        schedule = Schedule(get("spec.schedule"), get("spec.timeZone"), repeated=repeated, gap=gap)
        duration, deadline = get("spec.window.duration"), get("spec.policy.deadline")
        if duration is not None and deadline is not None and exceeds_max_periods(schedule, duration + deadline):
            span = f"{format_duration(duration)} with spec.policy.deadline {format_duration(deadline)}"
            reason = f"{span} spans more than {MAX_PERIODS} periods"
            self._wrong("spec.window.duration", None, reason, "shorten one of them, or schedule fewer periods")
        if self._errors or distribution is None:
            return None
        window = Window(get("spec.window.mode"), duration)
        return Timing(
            identity,
            schedule,
            window,
            distribution,
            Seed(get("spec.seed.strategy"), get("spec.seed.salt")),
            constraints,
        )

    def _get(self, path: str, default: object = None) -> Any:
        return self._values.get(path, default)

    def _distribution(self) -> Distribution | None:
        name, params = self._get("spec.distribution.name"), self._get("spec.distribution.params", {})
        if name is None:
            return None
        if name not in DISTRIBUTIONS:
            self._errors.append(_finding(unknown_value("", name, DISTRIBUTIONS), "spec.distribution.name"))
            return None
        longest = max(map(len, params), default=0)
        for number, most, what in (
            (len(params), MOST_PARAMS, "fields"),
            (longest, LONGEST_PARAM, "characters of a name"),
        ):
            if number > most:
                self._wrong("spec.distribution.params", None, f"must have at most {most} {what}, found {number}")
                return None
        good = {}
        for key, value in params.items():
            path = f"spec.distribution.params.{display_text(key)}"
            field = PARAMS.fields.get(key)
            if value is None or (isinstance(field, ValueField) and not self._is_a(field.kind, value, path)):
                continue
            try:
                Distribution(name, {key: value})
                good[key] = value
            except InvalidDefinitionError as error:
                self._errors.append(_finding(error, path))
        return Distribution(name, good)


def in_a_manifest(fix: Remedy) -> str:
    """Return a fix in the words of a manifest: as a field and its value."""
    return fix.worded(f"{fix.key}: {fix.text}") if isinstance(fix, Fix) else str(fix)


def _finding(error: KronError, path: str) -> Diagnostic:
    """Return what an error says, under the path of a field, or of the part of it that the error itself names."""
    found = diagnostic_of(error, file="", line=0)
    found = replace(found, fix=in_a_manifest(found.fix))
    return replace(found, field=found.field if found.field.startswith(path) else path)


def _spelled(found: object) -> str:
    return str(found).lower() if isinstance(found, bool) else str(found)


# --- what is valid and probably not meant -----------------------------------------------------------------------------

_SHORT = 60  # seconds; a Job that is gone before its period is listed could be made a second time
_TAKEN = ("labels", "annotations")
_PATHS = {"window": "spec.window.duration", "constraint": "spec.constraints", "deadline": "spec.policy.deadline"}


def lint_kronjob(kronjob: KronJob, linter: Linter) -> list[Diagnostic]:
    """Return the warnings about a valid KronJob."""
    found = [_of_a_spec(finding) for finding in linter.check(kronjob.timing, kronjob.policy)]
    template = kronjob.read_template()
    ttl = template["spec"].get("ttlSecondsAfterFinished")
    if isinstance(ttl, int) and ttl < _SHORT and kronjob.policy.deadline > ZERO:
        message = f"{ttl} is below {_SHORT}: a Job removed while no operator runs can be created again in its deadline"
        path = "spec.jobTemplate.spec.ttlSecondsAfterFinished"
        found.append(Diagnostic("warning", path, message, f"write {_SHORT} or more"))
    return [*found, *_ignored(kronjob.name, template.get("metadata") or {})]


def _ignored(name: str, metadata: Mapping[str, Any]) -> list[Diagnostic]:
    """Return a warning for each field of the template's metadata that the Job does not get.

    Its own name again means nothing else: `kubectl create cronjob` writes it.
    """
    usual = (None, name)
    said = [key for key, value in metadata.items() if key not in _TAKEN and value not in usual]
    text = f"is ignored: a Job takes {' and '.join(_TAKEN)} from here, and its name from its period"
    return [Diagnostic("warning", f"spec.jobTemplate.metadata.{key}", text, "remove it") for key in said]


def unknown_fields(document: Mapping[str, Any]) -> list[Diagnostic]:
    """Return a warning for each field of a spec that the server drops, or that strict validation refuses."""
    spec = document.get("spec")
    return list(_unknown(SPEC, spec, "spec")) if isinstance(spec, dict) else []


def _unknown(table: ObjectField, given: Mapping[str, Any], where: str) -> Iterator[Diagnostic]:
    for name, value in given.items():
        field = table.fields.get(name)
        if isinstance(field, ObjectField) and isinstance(value, dict):
            yield from _unknown(field, value, f"{where}.{name}")
        elif field is None and not table.is_open:
            error = unknown_value(name, name, table.fields)
            yield Diagnostic("warning", f"{where}.{name}", f"is unknown: {error.reason}", error.fix)


def _of_a_spec(finding: Diagnostic) -> Diagnostic:
    return replace(finding, field=_PATHS.get(finding.field, "spec.schedule"), fix=in_a_manifest(finding.fix))

"""lint_kronjob(kronjob, linter) -> findings: what is valid and yet unlikely to be meant, and unknown fields."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from kron.errors.diagnostics import Diagnostic, unknown_value
from kron.instant import ZERO
from kron.kronjob.kronjob import KronJob
from kron.kronjob.parser import in_a_manifest
from kron.kronjob.spec_fields import SPEC, ObjectField
from kron.rules.lint import Linter

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

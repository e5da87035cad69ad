"""warn(document, kronjob) -> findings: what the server drops, and what is valid and yet unlikely to be meant."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from kron.decision.choices import unknown_word
from kron.instant import ZERO
from kron.rules.finding import Finding
from kron.rules.kronjob.fields import SPEC, Table
from kron.rules.kronjob.kronjob import KronJob
from kron.rules.lint import Linter

_SHORT = 60  # seconds; a Job that is gone before its period is listed could be made a second time
_TAKEN = ("labels", "annotations")
_PATHS = {"window": "spec.window.duration", "constraint": "spec.constraints", "deadline": "spec.policy.deadline"}
_IN_A_LINE = re.compile(r'add @\w+\((\w+)=(\w+)\)(.*?), in TOML \w+ = "\w+",?')  # how lint words a fix


def warn(kronjob: KronJob, linter: Linter) -> list[Finding]:
    """Return the warnings about a valid KronJob."""
    found = [_in_words_of_a_spec(finding) for finding in linter.warnings(kronjob.timing, kronjob.policy)]
    template = kronjob.read_template()
    ttl = template["spec"].get("ttlSecondsAfterFinished")
    if isinstance(ttl, int) and ttl < _SHORT and kronjob.policy.deadline > ZERO:
        message = f"{ttl} is below {_SHORT}: a Job removed while no operator runs can be created again in its deadline"
        path = "spec.jobTemplate.spec.ttlSecondsAfterFinished"
        found.append(Finding("warning", path, message, f"write {_SHORT} or more"))
    return [*found, *_ignored(kronjob.name, template.get("metadata") or {})]


def _ignored(name: str, metadata: Mapping[str, Any]) -> list[Finding]:
    """Return a warning for each field of the template's metadata that the Job does not get.

    Its own name again means nothing else: `kubectl create cronjob` writes it.
    """
    usual = (None, name)
    said = [key for key, value in metadata.items() if key not in _TAKEN and value not in usual]
    text = f"is ignored: a Job takes {' and '.join(_TAKEN)} from here, and its name from its period"
    return [Finding("warning", f"spec.jobTemplate.metadata.{key}", text, "remove it") for key in said]


def unknown_fields(document: Mapping[str, Any]) -> list[Finding]:
    """Return a warning for each field of a spec that the server drops, or that strict validation refuses."""
    spec = document.get("spec")
    return list(_unknown(SPEC, spec, "spec")) if isinstance(spec, dict) else []


def _unknown(table: Table, given: Mapping[str, Any], where: str) -> Iterator[Finding]:
    for name, value in given.items():
        field = table.fields.get(name)
        if isinstance(field, Table) and isinstance(value, dict):
            yield from _unknown(field, value, f"{where}.{name}")
        elif field is None and not table.is_open:
            error = unknown_word(name, name, table.fields)
            yield Finding("warning", f"{where}.{name}", f"is unknown: {error.reason}", error.fix)


def _in_words_of_a_spec(finding: Finding) -> Finding:
    fix = _IN_A_LINE.sub(r"write \1: \2\3", finding.fix)
    return replace(finding, field=_PATHS.get(finding.field, "spec.schedule"), fix=fix)

"""definition_hash(spec) -> hex digits that change if and only if what decides about periods does."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from kron.rules.kronjob.fields import SPEC, Leaf, Table
from kron.rules.kronjob.limits import is_too_deep

_NOT_DEFINING = ("jobTemplate", "successfulJobsHistoryLimit", "failedJobsHistoryLimit")


def definition_hash(spec: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical JSON of a spec, defaults stated, without what changes no decision.

    A spec that is wrong has one, too: becoming wrong is a change.
    """
    defining = {key: value for key, value in spec.items() if key not in _NOT_DEFINING}  # a template may be large
    read = {key: "too deep" if is_too_deep(value) else value for key, value in defining.items()}
    stated = {key: value for key, value in with_defaults(SPEC, read).items() if key not in _NOT_DEFINING}
    if isinstance(policy := stated.get("policy"), dict):
        stated["policy"] = {key: value for key, value in policy.items() if key != "suspend"}
    text = json.dumps(_canonical(stated), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


def with_defaults(table: Table, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the server stores: every default stated, a null where a default is taken as nothing said."""
    stated = {key: value for key, value in given.items() if value is not None}
    for name, field in table.fields.items():
        match field:
            case Leaf(default=default):
                if name not in stated and default is not None:
                    stated[name] = default
            case Table():
                found = stated.get(name, {})
                stated[name] = with_defaults(field, found) if isinstance(found, dict) else found
    return stated


def _canonical(value: object) -> object:
    """Return the value with numbers in one spelling: the server does not keep apart 2 and 2.0."""
    match value:
        case dict():
            return {key: _canonical(item) for key, item in value.items()}
        case list():
            return [_canonical(item) for item in value]
        case float() if value.is_integer():
            return int(value)
    return value

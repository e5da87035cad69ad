"""to_kronjob(cronjob) and to_cronjob(kronjob): documents of one kind in the words of the other, and what that loses."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from kron.errors import InvalidDefinitionError
from kron.instant import SECOND, format_duration, parse_duration
from kron.kronjob.kronjob import API_VERSION, KIND
from kron.kronjob.spec_fields import SPEC, apply_defaults

CRON_JOB = "CronJob"
ASSUMED_DEADLINE = "1h"  # of a CronJob that has none and would start however late
_ALIKE = ("schedule", "timeZone")
_LIMITS = ("successfulJobsHistoryLimit", "failedJobsHistoryLimit")
_NOT_SAID = ("gap", "repeated", "window", "distribution", "seed", "constraints")  # by a CronJob
_POLICIES = {"Allow": "allow", "Forbid": "forbid", "Replace": "replace"}
_BACK = {word: policy for policy, word in _POLICIES.items()}
_OF_THE_SERVER = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink")


@dataclass(frozen=True, slots=True)
class Conversion:
    """The document, the fields that it cannot say, and whether its deadline is an assumption."""

    document: dict[str, Any]
    lost_fields: tuple[str, ...] = ()
    assumes_deadline: bool = False


def to_kronjob(cronjob: Mapping[str, Any]) -> Conversion:
    """Return the KronJob that does what a CronJob does; the parser of KronJobs reports its errors."""
    spec = _spec(cronjob)
    policy: dict[str, Any] = {}
    word = spec.get("concurrencyPolicy") or "Allow"
    policy["concurrency"] = _POLICIES.get(word, word) if isinstance(word, str) else word
    seconds = spec.get("startingDeadlineSeconds")
    policy["deadline"] = ASSUMED_DEADLINE if seconds is None else _duration(seconds)
    if spec.get("suspend") is not None:
        policy["suspend"] = spec["suspend"]
    said = {**_some(spec, _ALIKE), "policy": policy, **_some(spec, (*_LIMITS, "jobTemplate"))}
    return Conversion(_document(API_VERSION, KIND, cronjob, said), assumes_deadline=seconds is None)


def to_cronjob(kronjob: Mapping[str, Any]) -> Conversion:
    """Return the CronJob that comes nearest to a valid KronJob."""
    spec = _spec(kronjob)
    usual, stated = apply_defaults(SPEC, {}), apply_defaults(SPEC, spec)
    policy = stated["policy"]
    deadline = parse_duration(policy["deadline"])
    lost = [f"spec.{name}" for name in _NOT_SAID if stated[name] != usual[name]]
    lost += ["spec.policy.deadline"] if deadline % SECOND else []
    said = {
        **_some(spec, _ALIKE),
        "concurrencyPolicy": _BACK[policy["concurrency"]],
        "startingDeadlineSeconds": deadline // SECOND,
        **_some(spec.get("policy") or {}, ("suspend",)),
        **_some(spec, (*_LIMITS, "jobTemplate")),
    }
    return Conversion(_document("batch/v1", CRON_JOB, kronjob, said), tuple(lost))


def _duration(seconds: object) -> str:
    if not isinstance(seconds, int) or isinstance(seconds, bool) or not 0 <= seconds < 2**63 // 10**9:
        reason = "must be a whole number of seconds from 0"
        raise InvalidDefinitionError(field="spec.startingDeadlineSeconds", found=str(seconds), reason=reason)
    return format_duration(timedelta(seconds=seconds))


def _spec(document: Mapping[str, Any]) -> Mapping[str, Any]:
    spec = document.get("spec")
    if not isinstance(spec, dict):
        raise InvalidDefinitionError(field="spec", found="" if spec is None else str(spec), reason="must be an object")
    return spec


def _some(given: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: given[name] for name in names if given.get(name) is not None}


def _document(api_version: str, kind: str, given: Mapping[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    metadata = given.get("metadata")
    if isinstance(metadata, dict):
        metadata = {key: value for key, value in metadata.items() if key not in _OF_THE_SERVER}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}

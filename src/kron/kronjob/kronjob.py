"""KronJob: what a valid document says, the names that Kubernetes allows, and the Job of a period."""

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from kron.decision.decision import Decision
from kron.decision.seed import period_id
from kron.decision.timing import Timing
from kron.instant import Instant, format_instant
from kron.rules.policy import Policy

GROUP, VERSION, KIND, PLURAL = "kron.io", "v1alpha1", "KronJob", "kronjobs"
API_VERSION = f"{GROUP}/{VERSION}"
LONGEST_NAME, LONGEST_NAMESPACE = 253, 63
_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_NAME = re.compile(rf"{_LABEL}(\.{_LABEL})*", re.ASCII)
_NAMESPACE = re.compile(_LABEL, re.ASCII)
OPERATOR_NAME = "kron-operator"
MANAGED_BY_LABEL, KRONJOB_LABEL = "app.kubernetes.io/managed-by", f"{GROUP}/kronjob"
_LONGEST_STEM = 52  # with - and ten digits a Job's name has 63 characters, as many as the label of its Pods holds
_LONGEST_LABEL = 63
_DIGITS = 10
_UNPUNCTUATED = str.maketrans("", "", "-:")


@dataclass(frozen=True, slots=True)
class KronJob:
    """When, under which policy, how many Jobs are kept, and what is made. Namespace and name identify it."""

    namespace: str
    name: str
    uid: str  # empty where the server has not seen it
    timing: Timing
    policy: Policy
    successful_limit: int
    failed_limit: int
    template: bytes  # the JSON of jobTemplate: as objects it takes up to forty times as much memory
    definition_hash: str

    @property
    def identity(self) -> str:
        """What enters every seed, and stays when the resource is deleted and made again."""
        return self.timing.identity

    def read_template(self) -> dict[str, Any]:
        """Return jobTemplate as plain data; parsed at each call, so that it is not kept."""
        found: dict[str, Any] = json.loads(self.template)
        return found


def is_dns_subdomain(found: object) -> bool:
    """Whether an object may have this name."""
    return isinstance(found, str) and _NAME.fullmatch(found) is not None and len(found) <= LONGEST_NAME


def is_dns_label(found: object) -> bool:
    """Whether a namespace may have this name."""
    return isinstance(found, str) and _NAMESPACE.fullmatch(found) is not None and len(found) <= LONGEST_NAMESPACE


def job_name(identity: str, nominal: Instant) -> str:
    """Return the name of the Job of a KronJob's period: the same in every process."""
    digits = sha256(f"{identity}\n{period_id(nominal)}".encode()).hexdigest()[:_DIGITS]
    return f"{identity.partition('/')[2].replace('.', '-')[:_LONGEST_STEM].rstrip('-')}-{digits}"


def is_canonical_job(identity: str, nominal: Instant, namespace: str, name: str) -> bool:
    """Whether a Job has the name and namespace of a period's Job. Any user can write our annotations on another Job."""
    return identity.partition("/")[0] == namespace and job_name(identity, nominal) == name


def label_value(name: str) -> str:
    """Return a KronJob's name as far as a label can hold it."""
    return name[:_LONGEST_LABEL].rstrip("-._")


def job_labels(kronjob: KronJob, nominal: Instant) -> dict[str, str]:
    """Return the labels by which Jobs are found."""
    return {
        MANAGED_BY_LABEL: OPERATOR_NAME,
        f"{GROUP}/kronjob-uid": kronjob.uid,
        KRONJOB_LABEL: label_value(kronjob.name),
        f"{GROUP}/period": period_id(nominal).translate(_UNPUNCTUATED),  # in characters that a label may have
    }


def job_annotations(decision: Decision) -> dict[str, str]:
    """Return what says exactly which period a Job is, and how its second was chosen."""
    assert decision.chosen_time is not None, "a period without a chosen second has no Job"
    return {
        f"{GROUP}/identity": decision.identity,
        f"{GROUP}/period-id": decision.period_id,
        f"{GROUP}/nominal-time": format_instant(decision.nominal_time),
        f"{GROUP}/chosen-time": format_instant(decision.chosen_time),
        f"{GROUP}/seed-hash": decision.seed_hash,
        f"{GROUP}/algorithm-version": str(decision.algorithm_version),
    }


def build_job(kronjob: KronJob, decision: Decision) -> dict[str, Any]:
    """Return the Job of a decision; labels and annotations win over those of the template, its spec is untouched."""
    template = kronjob.read_template()
    metadata = template.get("metadata") or {}
    nominal = decision.nominal_time
    owner = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "name": kronjob.name,
        "uid": kronjob.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": job_name(kronjob.identity, nominal),
            "namespace": kronjob.namespace,
            "labels": {**(metadata.get("labels") or {}), **job_labels(kronjob, nominal)},
            "annotations": {**(metadata.get("annotations") or {}), **job_annotations(decision)},
            "ownerReferences": [owner],
        },
        "spec": template["spec"],
    }

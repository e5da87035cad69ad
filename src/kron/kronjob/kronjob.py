"""KronJob: what a valid document says; the resource's group, version and kind, and the names that Kubernetes allows."""

import json
import re
from dataclasses import dataclass
from typing import Any

from kron.decision.timing import Timing
from kron.rules.policy import Policy

GROUP, VERSION, KIND = "kron.io", "v1alpha1", "KronJob"
API_VERSION = f"{GROUP}/{VERSION}"


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


LONGEST_NAME, LONGEST_NAMESPACE = 253, 63

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_NAME = re.compile(rf"{_LABEL}(\.{_LABEL})*", re.ASCII)
_NAMESPACE = re.compile(_LABEL, re.ASCII)


def is_dns_subdomain(found: object) -> bool:
    """Whether an object may have this name."""
    return isinstance(found, str) and _NAME.fullmatch(found) is not None and len(found) <= LONGEST_NAME


def is_dns_label(found: object) -> bool:
    """Whether a namespace may have this name."""
    return isinstance(found, str) and _NAMESPACE.fullmatch(found) is not None and len(found) <= LONGEST_NAMESPACE


PLURAL = "kronjobs"

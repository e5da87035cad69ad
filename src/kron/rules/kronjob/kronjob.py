"""KronJob: the job model of one resource."""

import json
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

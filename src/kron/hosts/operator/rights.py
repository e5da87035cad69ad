"""What the operator may do in a cluster, and nothing else: the Roles are written from these tables."""

from collections.abc import Iterable
from typing import NamedTuple

from kron.rules.kronjob.child import MANAGER
from kron.rules.kronjob.crd import PLURAL
from kron.rules.kronjob.kronjob import GROUP

LEASE = MANAGER  # the name that the lease has unless a flag says otherwise


class Right(NamedTuple):
    """Verbs on a resource; where names are given, on those objects alone."""

    group: str  # empty: core
    resource: str
    verbs: tuple[str, ...]
    names: tuple[str, ...] = ()

    def to_rule(self) -> dict[str, list[str]]:
        """Return the right as a rule of a Role."""
        named = {"resourceNames": [*self.names]} if self.names else {}
        return {"apiGroups": [self.group], "resources": [self.resource], **named, "verbs": [*self.verbs]}


# Where KronJobs are: nothing of a KronJob but its status is ever written.
WORK = (
    Right(GROUP, PLURAL, ("list", "watch")),
    Right(GROUP, f"{PLURAL}/status", ("patch",)),
    Right("batch", "jobs", ("create", "delete", "get", "list", "watch")),
    Right("", "events", ("create", "patch")),
)
# Where the lease is. A right to create cannot be limited by name: the name is not known when it is asked for.
ELECTION = (
    Right("coordination.k8s.io", "leases", ("create",)),
    Right("coordination.k8s.io", "leases", ("get", "update"), (LEASE,)),
)


def rules(rights: Iterable[Right]) -> list[dict[str, list[str]]]:
    """Return rights as the rules of a Role."""
    return [right.to_rule() for right in rights]

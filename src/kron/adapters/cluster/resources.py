"""Resource: a kind of object that a cluster keeps, and where it is asked for."""

from typing import NamedTuple
from urllib.parse import quote

from kron.rules.kronjob.crd import PLURAL
from kron.rules.kronjob.kronjob import GROUP, VERSION


class Resource(NamedTuple):
    """A kind of object, or one part of it that is written by itself; the group "" is the cluster's core."""

    group: str
    version: str
    plural: str
    subresource: str = ""

    def path(self, namespace: str, name: str = "") -> str:
        """Return the path of an object or, without a name, of all; the namespace "" is the whole cluster."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        parts = ["namespaces", namespace] if namespace else []
        parts += [self.plural, name, self.subresource]
        return "/".join([root, *(quote(part, safe="") for part in parts if part)])

    @property
    def label(self) -> str:
        """What numbers and messages call it."""
        return f"{self.plural}/{self.subresource}" if self.subresource else self.plural


KRONJOBS = Resource(GROUP, VERSION, PLURAL)
KRONJOB_STATUS = KRONJOBS._replace(subresource="status")
JOBS = Resource("batch", "v1", "jobs")
EVENTS = Resource("", "v1", "events")
LEASES = Resource("coordination.k8s.io", "v1", "leases")

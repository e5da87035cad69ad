"""Resource: a kind of object that a cluster keeps, and where it is asked for."""

from typing import NamedTuple
from urllib.parse import quote

from kron.kronjob.kronjob import GROUP, PLURAL, VERSION


class Resource(NamedTuple):
    """A kind of object, or one part of it that is written by itself; the group "" is the cluster's core."""

    group: str
    version: str
    plural: str
    subresource: str = ""

    def path(self, namespace: str, name: str = "") -> str:
        """Return the path of an object or, without a name, of all; the namespace "" is the whole cluster."""
        path = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        if namespace:
            path += f"/namespaces/{quote(namespace, safe='')}"
        path += f"/{self.plural}"
        if name:
            path += f"/{quote(name, safe='')}"
        return f"{path}/{self.subresource}" if self.subresource else path

    @property
    def label(self) -> str:
        """What numbers and messages call it."""
        return f"{self.plural}/{self.subresource}" if self.subresource else self.plural


KRONJOBS = Resource(GROUP, VERSION, PLURAL)
KRONJOB_STATUS = KRONJOBS._replace(subresource="status")
JOBS = Resource("batch", "v1", "jobs")
EVENTS = Resource("", "v1", "events")
LEASES = Resource("coordination.k8s.io", "v1", "leases")

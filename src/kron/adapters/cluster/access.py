"""Access: where a cluster is asked, and as whom."""

from dataclasses import dataclass

from kron.adapters.cluster.credentials import Credential


@dataclass(frozen=True, slots=True)
class Access:
    """What a connection needs to know. The namespace is the one that is meant if none is named."""

    server: str
    credential: Credential
    namespace: str | None = None
    proxy: str | None = None
    server_name: str | None = None  # the name that the server's certificate must have, if not that of `server`

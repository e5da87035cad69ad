"""Connections: the open connections of a server, and which one it closes for a new one."""

from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Generic, NamedTuple, TypeVar

from starlette.types import Scope

_TRUST = "trust"  # the key of a request's state under which its connection can be trusted
_SITE = 64  # bits of an IPv6 address that name a site: one client may have all addresses below them

Connection = TypeVar("Connection")


class ConnectionLimits(NamedTuple):
    """How many connections are allowed, and how long one may be idle."""

    most: int = 100
    for_token: int = 10  # of these, only for clients that have shown the token
    for_client: int = 32  # of the others, for one client
    patience: float = 10.0  # seconds in which a client asks something, or reads something of an answer

    def within(self, most: int) -> "ConnectionLimits":
        """Return the limits of a server that has fewer connections, in the same proportions."""
        if most >= self.most:
            return self
        share = most / self.most
        return self._replace(
            most=most, for_token=int(self.for_token * share), for_client=max(1, min(self.for_client, most))
        )


class Connections(Generic[Connection]):
    """The open connections, oldest first. A new one is always accepted: its client may have the token.

    At the limit, the oldest connection is closed of the client with most connections without the token, also if it is
    busy: otherwise a client could keep all places by being busy.
    """

    def __init__(self, limits: ConnectionLimits, is_busy: Callable[[Connection], bool]) -> None:
        """`is_busy`: whether a connection is being answered."""
        self._limits, self._is_busy = limits, is_busy
        self._trusted: dict[Connection, None] = {}
        self._others: dict[str, dict[Connection, None]] = {}  # by client
        self._clients: dict[Connection, str] = {}  # of the others

    def __len__(self) -> int:
        return len(self._trusted) + len(self._clients)

    def all(self) -> list[Connection]:
        """Return all connections."""
        return [*self._trusted, *self._clients]

    def add(self, connection: Connection, client: str | None) -> Connection | None:
        """Add a connection, and return the one to close for it. A client without an address is trusted."""
        if client is None:
            self._trusted[connection] = None
        else:
            self._others.setdefault(client, {})[connection] = None
            self._clients[connection] = client
        closed = self._surplus(connection, client)
        if closed is not None:
            self.discard(closed)
        return closed

    def trust(self, connection: Connection) -> None:
        """Note that the client of a connection has shown the token."""
        if connection in self._clients:
            self.discard(connection)
            self._trusted[connection] = None

    def discard(self, connection: Connection) -> None:
        """Forget a connection."""
        self._trusted.pop(connection, None)
        client = self._clients.pop(connection, None)
        if client is not None:
            del self._others[client][connection]
            if not self._others[client]:
                del self._others[client]

    def _surplus(self, new: Connection, client: str | None) -> Connection | None:
        most, for_token, for_client, _ = self._limits
        if client is not None and len(self._others[client]) > for_client:
            return next(iter(self._others[client]))
        if len(self) <= most and len(self._clients) <= most - for_token:
            return None
        # Of clients with equally many connections, the first one has the oldest.
        crowd = max(self._others.values(), key=lambda group: len(group), default={})
        oldest = next(iter(crowd), new)
        if oldest != new:
            return oldest
        return next((each for each in self._trusted if each != new and not self._is_busy(each)), new)


def client_of(address: str) -> str:
    """Return the name of a client by its address: one for an IPv6 site, and one for all loopback addresses."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        found = found.ipv4_mapped or found
    if found.is_loopback:
        return "loopback"
    return str(found) if isinstance(found, IPv4Address) else str(int(found) >> (128 - _SITE))


def state_of_requests(trust: Callable[[], object]) -> dict[str, object]:
    """Return the state that the requests of a connection carry."""
    return {_TRUST: trust}


def trust_client(scope: Scope) -> None:
    """Note that the client of a request has shown the token."""
    trust: Callable[[], object] | None = scope.get("state", {}).get(_TRUST)
    if trust is not None:
        trust()

"""lively_socket(address) -> a socket that notices within half a minute that the host at its other end is gone."""

import socket
from typing import Any

_OPTIONS = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 15),  # seconds of silence, then
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 5),  # a question every so many seconds,
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),  # and after so many without an answer the end
    (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 30_000),  # milliseconds for what was sent to be acknowledged
)


def lively_socket(address: Any) -> socket.socket:
    """Return a socket for an address as `getaddrinfo` tells it."""
    family, kind, protocol, *_ = address
    made = socket.socket(family, kind, protocol)
    for level, option, value in _OPTIONS:
        made.setsockopt(level, option, value)
    return made

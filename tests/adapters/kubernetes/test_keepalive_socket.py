"""Tests of the keepalive options: a connection to a vanished peer fails."""

import socket

from kron.adapters.kubernetes.client import keepalive_socket


def test_a_socket_asks_whether_its_host_is_still_there() -> None:
    with keepalive_socket((socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("127.0.0.1", 1))) as made:
        asks = made.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        options = (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT, socket.TCP_USER_TIMEOUT)
        limits = [made.getsockopt(socket.IPPROTO_TCP, option) for option in options]

    assert (asks, limits) == (1, [15, 5, 3, 30_000])

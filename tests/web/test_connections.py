"""Tests of Connections: which one is closed for a new one. Connections are numbers here, busy ones are odd."""

import pytest

from kron.web.connections import ConnectionLimits, Connections, client_of

LIMITS = ConnectionLimits(6, for_token=2, for_client=3)


@pytest.fixture
def connections() -> Connections[int]:
    return Connections(LIMITS, lambda number: number % 2 == 1)


def test_a_client_closes_its_own_oldest_connection_for_one_too_many(connections: Connections[int]) -> None:
    assert [connections.add(number, "a") for number in range(1, 4)] == [None] * 3

    assert connections.add(4, "a") == 1
    assert connections.add(5, "a") == 2
    assert connections.all() == [3, 4, 5]


def test_clients_without_a_token_leave_places_for_those_with_one(connections: Connections[int]) -> None:
    for number in range(1, 4):
        connections.add(number, "a")
    assert connections.add(4, "b") is None

    assert connections.add(5, "c") == 1  # of the client that has most
    assert len(connections) == 4


def test_of_clients_with_one_connection_each_the_oldest_goes(connections: Connections[int]) -> None:
    assert [connections.add(number, f"client {number}") for number in range(1, 6)] == [None] * 4 + [1]


def test_a_client_that_has_shown_the_token_counts_as_none_of_its_address(connections: Connections[int]) -> None:
    for number in range(1, 7):
        assert connections.add(number, "a") is None
        connections.trust(number)

    assert connections.add(7, "a") == 2  # all have shown it, and the oldest is being answered
    connections.trust(7)
    assert connections.all() == [1, 3, 4, 5, 6, 7]


def test_one_without_a_token_goes_before_one_with_it(connections: Connections[int]) -> None:
    for number in range(1, 6):
        connections.add(number, "a")
        connections.trust(number)
    connections.add(6, "b")

    assert connections.add(7, "c") == 6


def test_if_all_who_have_shown_the_token_are_being_answered_a_new_one_goes(connections: Connections[int]) -> None:
    for number in range(1, 12, 2):
        connections.add(number, None)

    assert connections.add(20, "a") == 20
    assert connections.add(21, None) == 21


def test_a_connection_that_is_gone_makes_room(connections: Connections[int]) -> None:
    for number in range(1, 4):
        connections.add(number, "a")
    connections.discard(1)
    connections.discard(1)

    assert connections.add(4, "a") is None


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("127.0.0.1", "127.255.3.4", True),
        ("127.0.0.1", "::1", True),
        ("127.0.0.1", "::ffff:127.0.0.2", True),
        ("10.0.0.1", "::ffff:10.0.0.1", True),
        ("10.0.0.1", "10.0.0.2", False),
        ("2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%eth0", "fe80::2", True),
    ],
)
def test_addresses_that_one_client_can_have_are_one_client(one: str, other: str, is_same: bool) -> None:  # noqa: FBT001
    assert (client_of(one) == client_of(other)) is is_same


def test_a_server_with_few_descriptors_has_its_limits_in_proportion() -> None:
    assert ConnectionLimits().within(1000) == ConnectionLimits()
    assert ConnectionLimits().within(50) == ConnectionLimits(50, for_token=5, for_client=32)
    assert ConnectionLimits().within(8) == ConnectionLimits(8, for_token=0, for_client=8)

"""Tests of ListenSocket: where a daemon listens, which host names it accepts, and what prevents it."""

import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from kron.errors import AddressInUseError, ListenError
from kron.web.listener import ListenSocket, bind
from tests.attacks.squatter import with_full_backlog


@pytest.fixture
def door(request: pytest.FixtureRequest) -> Iterator[ListenSocket]:
    found = bind(request.param)
    yield found
    found.close()


loopback = pytest.mark.parametrize("door", ["127.0.0.1:0"], indirect=True)
everywhere = pytest.mark.parametrize("door", ["0.0.0.0:0"], indirect=True)


@loopback
def test_port_0_is_any_port_and_the_name_has_the_real_one(door: ListenSocket) -> None:
    assert door.name == f"127.0.0.1:{door.port}"
    assert door.port > 0
    assert not door.is_exposed


@loopback
@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:80", "localhost", "LOCALHOST:9", "[::1]:9"])
def test_a_loopback_door_is_known_by_every_name_of_it(door: ListenSocket, host: str) -> None:
    assert door.accepts_host(host)


@loopback
@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example:80",
        "10.0.0.1",
        "127.0.0.1.evil.example",
        "[",
        ":",
        "localhost:80@evil",
        "localhost:",
        "[::1]x",
    ],
)
def test_a_foreign_name_is_not_known(door: ListenSocket, host: str) -> None:
    assert not door.accepts_host(host)


@everywhere
def test_a_door_to_all_is_exposed_and_known_by_addresses_and_the_name_of_the_host(door: ListenSocket) -> None:
    assert door.is_exposed
    assert all(door.accepts_host(host) for host in ("10.0.0.1:80", "[fe80::1]", "localhost", socket.gethostname()))
    assert not door.accepts_host("evil.example")


@loopback
def test_an_address_in_use_is_refused(door: ListenSocket) -> None:
    with pytest.raises(AddressInUseError, match="Address already in use; choose another"):
        bind(door.name)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("192.0.2.1:0", "Cannot assign requested address; name an address of this host"),
        ("does.not.exist.invalid:0", "does.not.exist.invalid: "),
        ("unix:/does/not/exist", "No such file or directory; make its folder first"),
    ],
    ids=["of another host", "unknown", "no folder"],
)
def test_an_address_that_cannot_be_had_says_why(address: str, reason: str) -> None:
    with pytest.raises(ListenError) as caught:
        bind(address)

    assert reason in caught.value.message


def test_a_path_is_for_its_owner_alone_needs_no_token_and_is_gone_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / ("long" * 40) / "socket"
    path.parent.mkdir()

    door = bind(f"unix:{path}")

    assert (stat.S_IMODE(path.stat().st_mode), door.is_exposed) == (0o600, False)
    assert door.name == f"unix:{path}"
    assert door.accepts_host("any.host")
    door.close()
    assert not path.exists()


def test_the_socket_of_a_crashed_process_is_removed_and_one_in_use_is_not(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    left = bind(f"unix:{path}")
    left.socket.close()
    door = bind(f"unix:{path}")

    with pytest.raises(AddressInUseError, match="Address already in use"):
        bind(f"unix:{path}")

    assert path.is_socket()
    door.close()


def test_a_path_whose_owner_accepts_nothing_is_in_use_and_not_waited_for(tmp_path: Path) -> None:
    with with_full_backlog(tmp_path / "state"), pytest.raises(AddressInUseError, match="Address already in use"):
        bind(f"unix:{tmp_path}/state/control.sock")


@pytest.mark.parametrize("what", ["file", "link"])
def test_a_path_with_another_kind_of_file_is_refused_and_left(tmp_path: Path, what: str) -> None:
    path = tmp_path / "precious"
    if what == "file":
        path.write_text("mine")
    else:
        os.symlink(tmp_path / "elsewhere", path)  # noqa: PTH211

    with pytest.raises(ListenError, match="not a socket"):
        bind(f"unix:{path}")

    assert path.is_symlink() == (what == "link")
    assert not (tmp_path / "elsewhere").exists()

"""open_door(address) -> Door: the socket that a daemon listens on, how it is called, and by which names it is known."""

import errno
import os
import re
import socket
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from kron.errors import AddressInUseError, ListenError
from kron.hosts.listener.address import address_of

_UNIX = "unix:"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"(?:\[(?P<address>[0-9a-z:.%_-]+)\]|(?P<name>[0-9a-z._-]+))(?::[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class Door:
    """A bound socket. Whoever reaches one in the file system may come in; others have to show the token."""

    socket: socket.socket
    name: str  # as `status` has it: HOST:PORT with the real port, or unix:/path
    names: frozenset[str] = field(default_factory=frozenset)  # that a request may call the host by
    is_open: bool = False  # bound to every address: requests may also call it by any of them
    path: Path | None = None

    @property
    def needs_token(self) -> bool:
        """Whether anybody on the host, or beyond, can reach it."""
        return self.path is None

    @property
    def is_exposed(self) -> bool:
        """Whether other hosts can reach it."""
        return self.path is None and not ip_address(self._host).is_loopback

    @property
    def port(self) -> int:
        """The port; 0 in the file system."""
        return 0 if self.path is not None else int(self.socket.getsockname()[1])

    @property
    def _host(self) -> str:
        return str(self.socket.getsockname()[0]).partition("%")[0]

    def knows(self, host: str) -> bool:
        """Whether a Host header means us: a page of somebody else may have its own name lead to our address."""
        if self.path is not None:
            return True
        name = _name(host)
        return bool(name) and (name in self.names or (self.is_open and _is_address(name)))

    def close(self) -> None:
        """Let go of the address."""
        self.socket.close()
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def is_path(address: str) -> bool:
    """Whether an address as job files have it is one in the file system."""
    return address.startswith(_UNIX)


def open_door(address: str) -> Door:
    """Bind an address as job files have it: HOST:PORT, or unix:/path; a ListenError says what is in the way."""
    if is_path(address):
        return _open_path(Path(address.removeprefix(_UNIX)))
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    try:
        found = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ListenError(address=address, reason=f"{host}: {reason}", fix="name an address of this host") from error
    family, kind, protocol, _, where = found[0]
    listening = socket.socket(family, kind | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(where)
        listening.listen()  # two may bind one port until one of them listens
    except OSError as error:
        listening.close()
        raise _failure(address, error) from error
    bound, real_port = listening.getsockname()[:2]
    shown = f"[{bound}]" if ":" in bound else bound
    names = {host.lower(), bound}
    is_open = bound in ("0.0.0.0", "::")  # it is asked for
    if is_open or ip_address(bound.partition("%")[0]).is_loopback:
        names |= _LOOPBACK
    if is_open:
        names |= {socket.gethostname().lower(), socket.gethostname().lower().partition(".")[0]}
    return Door(listening, f"{shown}:{real_port}", frozenset(names), is_open)


def _open_path(path: Path) -> Door:
    address = f"{_UNIX}{path}"
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK)
    try:
        with address_of(path) as short:
            _remove_remains(short)
            os.fchmod(listening.fileno(), 0o600)  # before it has a name: never with other rights, not even for a moment
            listening.bind(short)
            listening.listen()
    except OSError as error:
        listening.close()
        raise _failure(address, error) from error
    return Door(listening, address, path=path)


def _remove_remains(path: str) -> None:
    """Remove a socket on which nobody listens any more; anything else stays."""
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(os.lstat(path).st_mode):  # a link is no socket of ours
            raise FileExistsError(errno.EEXIST, "there is something that is no socket")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as asking:
            try:
                asking.connect(path)
            except ConnectionRefusedError:
                os.unlink(path)  # noqa: PTH108  # the short form of a path is not one for pathlib
                return
            except BlockingIOError:  # its owner accepts no connection: a wait for it would not end
                pass
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))


_FIXES = {
    errno.EADDRINUSE: "choose another, or stop whoever listens there",
    errno.EACCES: "choose a port above 1023, or a folder that is yours",
    errno.EADDRNOTAVAIL: "name an address of this host",
    errno.ENOENT: "make its folder first",
    errno.EEXIST: "choose another path",
}


def _failure(address: str, error: OSError) -> ListenError:
    kind = AddressInUseError if error.errno == errno.EADDRINUSE else ListenError
    return kind(address=address, reason=error.strerror or str(error), fix=_FIXES.get(error.errno or 0, ""))


def _name(host: str) -> str:
    """Return the name of a Host header, without its port, in lower case; nothing if it is no such header."""
    found = _HOST.fullmatch(host.lower())
    return "" if found is None else found["name"] or found["address"]


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True

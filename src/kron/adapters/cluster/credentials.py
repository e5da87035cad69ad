"""Credential: who we are, asked for right before every request, since tokens change while we run."""

import ssl
from pathlib import Path
from typing import NamedTuple, Protocol


class Proof(NamedTuple):
    """What a request carries: the header's text, if any, and the connection it may use."""

    authorization: str | None
    tls: ssl.SSLContext | None  # None: the connection is not encrypted


class CredentialError(Exception):
    """There is no proof at the moment; the text says why."""


class Credential(Protocol):
    """A source of proofs."""

    async def prove(self) -> Proof:
        """Return a proof that is valid now, or raise CredentialError."""

    def forget(self) -> None:
        """Hear that the last proof was not accepted: the next one must not come from memory."""


class Fixed:
    """A proof that never changes."""

    def __init__(self, proof: Proof) -> None:
        self._proof = proof

    async def prove(self) -> Proof:
        """Return it."""
        return self._proof

    def forget(self) -> None:
        """Do nothing: there is no other."""


class TokenFile:
    """A token in a file that somebody else renews; it is read again when the file is another."""

    def __init__(self, path: Path, tls: ssl.SSLContext | None) -> None:
        self._path = path
        self._tls = tls
        self._seen: tuple[int, int, int] | None = None
        self._token = ""

    async def prove(self) -> Proof:
        """Return what the file says now."""
        try:
            found = self._path.stat()
            mark = (found.st_ino, found.st_mtime_ns, found.st_size)
            if mark != self._seen:
                self._token = self._path.read_text("ascii").strip()
                self._seen = mark
        except (OSError, ValueError) as error:
            raise CredentialError(f"token file {self._path}: {error}") from error
        if not self._token:
            raise CredentialError(f"token file {self._path} is empty")
        return Proof(f"Bearer {self._token}", self._tls)

    def forget(self) -> None:
        """Read the file again next time, even if it looks the same."""
        self._seen = None

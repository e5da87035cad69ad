"""Credential: a token, a token file, an exec plugin or a client certificate; the TLS context."""

import asyncio
import json
import os
import re
import ssl
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple, Protocol

from kron.errors import KronError
from kron.errors.base import safe_line
from kron.instant import parse_instant


class RequestAuth(NamedTuple):
    """What a request carries: the header's text, if any, and the connection it may use."""

    authorization: str | None
    tls: ssl.SSLContext | None  # None: the connection is not encrypted


class CredentialError(Exception):
    """There is no proof at the moment; the text says why."""


class Credential(Protocol):
    """A source of proofs."""

    async def authenticate(self) -> RequestAuth:
        """Return a proof that is valid now, or raise CredentialError."""

    def invalidate(self) -> None:
        """Note that the last credential was refused: the next one must not come from memory."""


class StaticCredential:
    """A proof that never changes."""

    def __init__(self, proof: RequestAuth) -> None:
        self._proof = proof

    async def authenticate(self) -> RequestAuth:
        """Return it."""
        return self._proof

    def invalidate(self) -> None:
        """Do nothing: there is no other credential."""


class TokenFileCredential:
    """A token in a file that another process renews; it is read again when the file has changed."""

    def __init__(self, path: Path, tls: ssl.SSLContext | None) -> None:
        self._path = path
        self._tls = tls
        self._seen: tuple[int, int, int] | None = None
        self._token = ""

    async def authenticate(self) -> RequestAuth:
        """Return the present content of the file."""
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
        return RequestAuth(f"Bearer {self._token}", self._tls)

    def invalidate(self) -> None:
        """Read the file again next time, even if it looks the same."""
        self._seen = None


_PATIENCE = 60.0  # seconds that the program may take: it may ask a service on another continent
_LONGEST = 200  # characters of what the program complains about
_SECRET = re.compile(r"[^\s\"',:{}\[\]]{4,}")  # what a word of its answer may be
_AHEAD = 30.0  # seconds before its end in which a credential is no longer used: a request and skew fit into it


@dataclass(frozen=True, slots=True)
class ExecConfig:
    """The command of an exec plugin, its environment and its input."""

    words: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    api_version: str
    cluster: dict[str, Any] | None = None  # passed to the plugin only with provideClusterInfo


class ExecCredential:
    """Runs the plugin when there is no credential or the last one expires soon, and once for all waiting calls."""

    def __init__(
        self,
        command: ExecConfig,
        tls: Callable[[bytes, bytes], ssl.SSLContext | None],
        *,
        wall: Callable[[], float] = time.time,
        patience: float = _PATIENCE,
    ) -> None:
        self._command = command
        self._tls = tls
        self._wall = wall
        self._patience = patience
        self._proof: RequestAuth | None = None
        self._until = float("inf")
        self._turn = asyncio.Lock()

    async def authenticate(self) -> RequestAuth:
        """Return the last proof, or ask the program for another."""
        async with self._turn:
            if self._proof is None or self._wall() >= self._until - _AHEAD:
                self._proof, self._until = self._read(await self._run())
            return self._proof

    def invalidate(self) -> None:
        """Ask the program next time."""
        self._proof = None

    async def _run(self) -> bytes:
        said = {"apiVersion": self._command.api_version, "kind": "ExecCredential", "spec": {"interactive": False}}
        if self._command.cluster is not None:
            said["spec"] = {"interactive": False, "cluster": self._command.cluster}
        env = {**os.environ, **dict(self._command.environment), "KUBERNETES_EXEC_INFO": json.dumps(said)}
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command.words, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, env=env
            )
        except (OSError, ValueError) as error:
            raise self._failed(str(error)) from error
        try:
            async with asyncio.timeout(self._patience):
                out, err = await process.communicate()
        except TimeoutError:
            raise self._failed(f"no answer within {self._patience:g} s") from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            words = _complaint(err, out)
            raise self._failed(f"exit code {process.returncode}{': ' + words if words else ''}")
        return out

    def _read(self, out: bytes) -> tuple[RequestAuth, float]:
        try:
            status = json.loads(out)["status"]
            token, end = status.get("token"), status.get("expirationTimestamp")
            certificate, key = status.get("clientCertificateData", ""), status.get("clientKeyData", "")
            until = parse_instant(end).timestamp() if end else float("inf")
            if not token and not (certificate and key):
                raise self._failed("its answer has neither a token nor a certificate with its key")
            tls = self._tls(certificate.encode(), key.encode())
        except (KeyError, TypeError, AttributeError, ValueError, ssl.SSLError, KronError):
            # Without the cause: its text may repeat what was printed, which is a secret.
            raise self._failed("its answer is no ExecCredential") from None
        return RequestAuth(f"Bearer {token}" if token else None, tls), until

    def _failed(self, reason: str) -> CredentialError:
        return CredentialError(f"credential plugin {self._command.words[0]}: {reason}")


def _complaint(err: bytes, out: bytes) -> str:
    """Return the last line of standard error, cut, without any word that is also on standard output: logs keep it."""
    lines = err.decode("utf-8", "replace").strip().splitlines()
    text = lines[-1].strip() if lines else ""
    for word in sorted(set(_SECRET.findall(out.decode("utf-8", "replace"))), key=len, reverse=True):
        text = text.replace(word, "[…]")
    return safe_line(text)[:_LONGEST]


def tls_context(
    authority: str = "", *, certificate: bytes = b"", key: bytes = b"", is_verified: bool = True
) -> ssl.SSLContext:
    """Return a context that trusts the authority (PEM), or the host's if there is none.

    Raise ssl.SSLError or ValueError for what is no certificate or no key.
    """
    context = ssl.create_default_context(cadata=authority or None)
    # Many clusters made their authority before its extensions were required; the servers' other clients accept it.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not is_verified:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if certificate:
        with NamedTemporaryFile(prefix="kron-") as file:  # the library reads files only; this one is ours alone
            file.write(certificate + b"\n" + key)
            file.flush()
            context.load_cert_chain(file.name, password=_no_password)
    return context


def _no_password() -> str:
    raise ValueError("the key is encrypted, and there is no terminal to ask for its password")

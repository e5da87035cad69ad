"""Plugin: a program of the user that tells who we are (`exec` in a kubeconfig)."""

import asyncio
import json
import os
import re
import ssl
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kron.adapters.cluster.credentials import CredentialError, Proof
from kron.errors import KronError
from kron.instant import parse_instant
from kron.rules.printable import safe_line

_PATIENCE = 60.0  # seconds that the program may take: it may ask a service on another continent
_LONGEST = 200  # characters of what the program complains about
_SECRET = re.compile(r"[^\s\"',:{}\[\]]{4,}")  # what a word of its answer may be
_AHEAD = 30.0  # seconds before its end in which a proof is no longer used: a request and skew fit into it


@dataclass(frozen=True, slots=True)
class Command:
    """What is run, and what it is told."""

    words: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    api_version: str
    cluster: dict[str, Any] | None = None  # told only if the kubeconfig wants it to be


class Plugin:
    """Runs the program when there is no proof or the last one ends soon, and once for all who wait."""

    def __init__(
        self,
        command: Command,
        tls: Callable[[bytes, bytes], ssl.SSLContext | None],
        *,
        wall: Callable[[], float] = time.time,
        patience: float = _PATIENCE,
    ) -> None:
        self._command = command
        self._tls = tls
        self._wall = wall
        self._patience = patience
        self._proof: Proof | None = None
        self._until = float("inf")
        self._turn = asyncio.Lock()

    async def prove(self) -> Proof:
        """Return the last proof, or ask the program for another."""
        async with self._turn:
            if self._proof is None or self._wall() >= self._until - _AHEAD:
                self._proof, self._until = self._read(await self._run())
            return self._proof

    def forget(self) -> None:
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

    def _read(self, out: bytes) -> tuple[Proof, float]:
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
        return Proof(f"Bearer {token}" if token else None, tls), until

    def _failed(self, reason: str) -> CredentialError:
        return CredentialError(f"credential plugin {self._command.words[0]}: {reason}")


def _complaint(err: bytes, out: bytes) -> str:
    """Return the last line of standard error, cut, without any word that is also on standard output: logs keep it."""
    lines = err.decode("utf-8", "replace").strip().splitlines()
    text = lines[-1].strip() if lines else ""
    for word in sorted(set(_SECRET.findall(out.decode("utf-8", "replace"))), key=len, reverse=True):
        text = text.replace(word, "[…]")
    return safe_line(text)[:_LONGEST]

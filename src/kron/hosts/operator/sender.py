"""Sender: what the operator needs of the API to write; the docstring is the specification."""

from collections.abc import Mapping
from typing import Protocol

from kron.adapters.cluster.api import Document, Verb
from kron.adapters.cluster.resources import Resource


class Sender(Protocol):
    """Asks an API server."""

    async def send(
        self,
        verb: Verb,
        resource: Resource,
        namespace: str,
        name: str = "",
        body: Document | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Document:
        """Return the server's document, or raise ApiRefusedError or ApiUnreachableError; nothing is tried twice."""

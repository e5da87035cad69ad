"""Fixtures of the commands' tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.api_server import ApiServer
from tests.cli.manifests import resource


@pytest.fixture
def api(tmp_path: Path) -> Iterator[ApiServer]:
    """A server with one KronJob."""
    server = ApiServer(tmp_path).holds(resource())
    with server.serving():
        yield server

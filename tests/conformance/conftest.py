"""The marker by which a conformance test cites its clauses."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "clause(*ids): the clauses of the contract that this test shows")

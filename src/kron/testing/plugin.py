"""The fixture `kron_simulate` for your own suite: put `pytest_plugins = ["kron.testing.plugin"]` into conftest.py."""

from collections.abc import Callable
from typing import Any

import pytest

from kron.testing.simulation import Simulation, simulate


@pytest.fixture
def kron_simulate() -> Callable[..., Any]:
    """Return `kron.testing.simulate`, which fails the test if the theory is violated."""

    def run(*arguments: Any, **keywords: Any) -> Simulation:
        found = simulate(*arguments, **keywords)
        for finding in found.violations:
            pytest.fail(f"{finding.property.name}, line {finding.line}: {finding.explanation}", pytrace=False)
        return found

    return run

"""The decorator `@clause(id, …)`: a test cites clauses and runs under each contract that makes all of them.

The body gets the contract as argument `contract`, if it has one; a test of one contract alone may do without. If the
body is a coroutine function it runs in an event loop of its own.
"""

import asyncio
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from kron.rules.contract import PRESETS
from tests.conformance.clauses import CATALOGUE

Body = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Citation:
    """A test, the clauses that it shows and the contracts under which it does."""

    test: str
    clauses: tuple[str, ...]
    contracts: tuple[str, ...]


CITATIONS: list[Citation] = []


def clause(*ids: str, under: tuple[str, ...] | None = None) -> Callable[[Body], Body]:
    """Mark a test; `under` narrows the contracts where a clause can be shown in one way here and in another there."""
    cited = [CATALOGUE[name] for name in ids]
    wanted = cited[0].revisions if under is None else under
    contracts = tuple(name for name in wanted if all(name in each.revisions for each in cited))
    assert contracts, f"no contract makes all of {ids}"

    def mark(body: Body) -> Body:
        CITATIONS.append(Citation(f"{body.__module__}::{body.__qualname__}", ids, contracts))
        test = _in_a_loop(body) if inspect.iscoroutinefunction(body) else body
        if "contract" in inspect.signature(body).parameters:
            values = [pytest.param(PRESETS[name], id=name) for name in contracts]
            test = pytest.mark.parametrize("contract", values)(test)
        else:
            assert len(contracts) == 1, f"{body.__qualname__} cites clauses of {contracts} and runs under none of them"
        marked: Body = pytest.mark.clause(*ids)(test)
        return marked

    return mark


def _in_a_loop(body: Body) -> Body:
    @functools.wraps(body)
    def test(**arguments: Any) -> None:
        asyncio.run(body(**arguments))

    return test

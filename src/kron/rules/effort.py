"""Effort: how much of a long calculation is done at a time, counted in draws, so that it is the same on every machine.

A calculation that may take long is a generator: it yields the work that it has done since the last time, and returns
its result. The loop of a host does a part of it, lets others have a turn, and does the next part.
"""

from collections.abc import Generator
from typing import Generic, TypeAlias, TypeVar

from kron.decision.decision import Decision

Result = TypeVar("Result")
Parts: TypeAlias = Generator[int, None, Result]

PERIOD = 8  # the work of naming, hashing and comparing one period, in draws
PART = 10_000  # the work of one turn of a loop: 140 periods that find no second, some 10 ms
AT_ONCE = 1_000  # the work that is done without asking: a job without constraints and with short windows takes less


def work_of(decision: Decision) -> int:
    """Return the work that a decision took."""
    return PERIOD + decision.attempts


class Effort:
    """The work that may still be done in this turn. The last piece may exceed it: a decision is not divided."""

    __slots__ = ("left",)

    def __init__(self, most: int = PART) -> None:
        self.left = most

    @property
    def is_spent(self) -> bool:
        """Whether the rest has to wait for another turn."""
        return self.left <= 0


class Ongoing(Generic[Result]):
    """A calculation in parts, as far as it is done."""

    __slots__ = ("_parts",)

    def __init__(self, parts: Parts[Result]) -> None:
        self._parts = parts

    def advance(self, effort: Effort) -> Result | None:
        """Return the result, or None if the effort is spent before. A result is returned once."""
        while not effort.is_spent:
            try:
                effort.left -= next(self._parts)
            except StopIteration as done:
                result: Result = done.value
                return result
        return None


def finish(parts: Generator[object, None, Result]) -> Result:
    """Return the result of a calculation in parts, at once."""
    while True:
        try:
            next(parts)
        except StopIteration as done:
            result: Result = done.value
            return result

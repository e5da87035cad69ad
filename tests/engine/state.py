"""Take a snapshot of a planner and its runs, as a value that can be compared."""

import asyncio
import itertools
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import is_dataclass
from datetime import date, timedelta
from enum import Enum
from types import FunctionType, GeneratorType, MethodType
from typing import Any, cast

from kron.adapters.virtual_clock import VirtualClock
from kron.engine.clock_watch import WakeUp
from kron.engine.emitter import Emitter

_PLAIN = (bool, int, float, bytes, date, timedelta, Enum, re.Pattern, type, type(None))
_RUN_ID = re.compile(r"life\d+-\d+")
# The environment of the state, what a loop waits for, and the numbers of run ids, which are never used twice.
_LEAVES: tuple[type, ...] = (VirtualClock, Emitter, WakeUp, asyncio.Future, itertools.count)


def snapshot(*roots: object, leaves: tuple[type, ...] = ()) -> object:
    """Return the state of some objects and of all that they refer to, but for what is in `leaves`.

    Two are equal if their objects have equal states and refer to each other in the same way. Run ids have numbers in
    the order in which they are found, so that a host which has taken others is not in another state.
    """
    return _Snapshot(leaves).of(roots)


class _Snapshot:
    """One walk. Objects have numbers in the order in which they are found."""

    def __init__(self, leaves: tuple[type, ...]) -> None:
        self._leaves = (*_LEAVES, *leaves)
        self._numbers: dict[int, int] = {}
        self._run_ids: dict[str, str] = {}

    def of(self, value: object) -> object:
        if isinstance(value, str):
            return _RUN_ID.sub(lambda found: self._run_ids.setdefault(found[0], f"run {len(self._run_ids)}"), value)
        if isinstance(value, _PLAIN):
            return value
        if isinstance(value, self._leaves):
            return type(value).__name__
        if isinstance(value, FunctionType | MethodType):
            return value.__qualname__
        if isinstance(value, tuple | frozenset | set):  # values: who else refers to them does not matter
            return self._contents(value)
        if is_dataclass(value) and cast("Any", type(value)).__dataclass_params__.frozen:
            return value
        if id(value) in self._numbers:
            return f"object {self._numbers[id(value)]}"
        self._numbers[id(value)] = len(self._numbers)
        return type(value).__name__, self._contents(value)

    def _contents(self, value: object) -> object:
        if isinstance(value, tuple | list | deque):
            return [self.of(each) for each in value]
        if isinstance(value, set | frozenset):
            return sorted(repr(self.of(each)) for each in value)
        if isinstance(value, Mapping):
            return [(self.of(key), self.of(each)) for key, each in value.items()]
        if isinstance(value, GeneratorType):
            frame = value.gi_frame
            place = None if frame is None else (frame.f_lasti, self.of(frame.f_locals))
            return value.__qualname__, place, self.of(value.gi_yieldfrom)
        return [(name, self.of(getattr(value, name))) for name in _fields(value)]


def _fields(value: object) -> list[str]:
    """Return the names of what an object has."""
    slots = [name for cls in type(value).__mro__ for name in getattr(cls, "__slots__", ())]
    found = [name for name in (*slots, *getattr(value, "__dict__", ())) if hasattr(value, name)]
    assert found or slots, f"the state of a {type(value).__name__} cannot be seen"
    return found

"""Callbacks: which callables a registration accepts."""

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from functools import partial
from unittest.mock import AsyncMock

import pytest

from kron.cron.schedule import Schedule
from kron.errors import RegistrationShapeError
from kron.rules.due import Occurrences
from kron.rules.registration import TaskSpec, is_async_callable, parse_registrations


async def work() -> None: ...


async def work_on(what: str, *, again: bool = False) -> None: ...


def plain() -> None: ...


def generator() -> Iterator[int]:
    yield 1


async def async_generator() -> AsyncIterator[int]:
    yield 1


class CallbackMethods:
    """Has every kind of method that may be handed over."""

    async def __call__(self) -> None: ...

    async def work(self) -> None: ...

    @staticmethod
    async def work_statically() -> None: ...

    @classmethod
    async def work_for_all(cls) -> None: ...

    def plain(self) -> None: ...


class SyncCallable:
    """Can be called, but does not wait."""

    def __call__(self) -> None: ...


class AsyncOnlyInItsDict:
    """Has an attribute that looks like an async `__call__`, where Python does not look for it."""

    def __init__(self) -> None:
        self.__call__ = work


class AsyncInit:
    """A class that waits where no class can."""

    async def __init__(self) -> None:  # type: ignore[misc] # the mistake itself
        ...


def check(*callbacks: object) -> list[TaskSpec]:
    """Check a list of tasks that differ in name and callback only."""
    items = [(f"task {index}", "0 3 * * *", callback, timedelta()) for index, callback in enumerate(callbacks)]
    return parse_registrations(items, lambda cron, _: Occurrences(Schedule(cron)))


ACCEPTED = {
    "a coroutine function": work,
    "a partial": partial(work_on, "a", again=True),
    "a partial of a partial": partial(partial(work_on, "a"), again=True),
    "a bound method": CallbackMethods().work,
    "a partial of a bound method": partial(CallbackMethods().work),
    "a static method": CallbackMethods.work_statically,
    "a class method": CallbackMethods.work_for_all,
    "an object with an async call": CallbackMethods(),
    "its bound call": CallbackMethods().__call__,
    "a mock": AsyncMock(),
}
REFUSED = {
    "None": None,
    "a text": "work",
    "a lambda": lambda: None,
    "a lambda that makes a coroutine": lambda: work(),
    "a function": plain,
    "a bound function": CallbackMethods().plain,
    "a partial of a function": partial(plain),
    "a generator function": generator,
    "an async generator function": async_generator,
    "an object with a call": SyncCallable(),
    "an object that lies": AsyncOnlyInItsDict(),
    "a class whose objects have an async call": CallbackMethods,
    "a class with an async init": AsyncInit,
    "a class": SyncCallable,
    "a builtin": print,
}


@pytest.mark.parametrize("callback", ACCEPTED.values(), ids=ACCEPTED)
def test_a_callable_that_returns_a_coroutine_is_a_callback(callback: object) -> None:
    assert is_async_callable(callback)
    assert check(callback)[0].callback is callback


@pytest.mark.parametrize("callback", REFUSED.values(), ids=REFUSED)
def test_anything_else_is_no_callback(callback: object) -> None:
    with pytest.raises(RegistrationShapeError) as caught:
        check(work, callback)

    assert not is_async_callable(callback)
    assert caught.value.details["registrationIndex"] == 1


def test_a_coroutine_that_runs_already_is_no_callback() -> None:
    coroutine = work()

    with pytest.raises(RegistrationShapeError):
        check(coroutine)

    coroutine.close()


def test_one_callback_may_serve_many_tasks() -> None:
    assert [task.callback for task in check(work, work, work)] == [work] * 3

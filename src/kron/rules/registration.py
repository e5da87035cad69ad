"""check_registrations(registrations, read) -> tasks: what `initialize` was given; the first error wins."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from inspect import iscoroutinefunction
from typing import Any, NamedTuple

from kron.errors import (
    InvalidRegistrationError,
    NegativeRetryDelayError,
    RegistrationShapeError,
    RegistrationsNotArrayError,
    ScheduleDuplicateTaskError,
)
from kron.instant import ZERO
from kron.rules.due import Due

Callback = Callable[[], Awaitable[Any]]
_MILLISECOND = timedelta(milliseconds=1)
_FINE = timedelta(days=36500)
_LISTS = (list, tuple)


class Registration(NamedTuple):
    """A task as its author declares it: a unique name, when, what to call, and how long a retry waits."""

    name: str
    cron: str
    callback: Callback
    retry_delay: timedelta


class Task(NamedTuple):
    """A registration that was checked, with its due instants ready for searching."""

    name: str
    cron: str
    callback: Callback
    retry_delay: timedelta
    due: Due


def check_registrations(registrations: object, read: Callable[[str, str], Due]) -> list[Task]:
    """Return the tasks, or raise the first error; in an item: shape, name, callback, duplicate, cron, delay.

    `read(cron, name)` gives the due instants that the second element names; its error is raised as it is.
    """
    if not isinstance(registrations, _LISTS):
        raise RegistrationsNotArrayError
    tasks: list[Task] = []
    seen: set[str] = set()
    known: set[int] = set()  # one callback may serve a million tasks; looking into it once is enough
    for index, item in enumerate(registrations):
        if not isinstance(item, _LISTS) or len(item) != 4:
            raise RegistrationShapeError(registration_index=index, received=item)
        name, cron, callback, retry_delay = item
        if not isinstance(name, str):
            raise RegistrationShapeError(registration_index=index, received=item)
        if not name or not name.isascii():
            _check_name(name)
        if id(callback) not in known:
            if not is_async_callable(callback):
                raise RegistrationShapeError(registration_index=index, received=item)
            known.add(id(callback))
        if name in seen:
            raise ScheduleDuplicateTaskError(task_name=name)
        seen.add(name)
        if not isinstance(cron, str):
            raise RegistrationShapeError(registration_index=index, received=item)
        due = read(cron, name)
        if not isinstance(retry_delay, timedelta):
            raise RegistrationShapeError(registration_index=index, received=item)
        if retry_delay < ZERO or retry_delay > _FINE:
            retry_delay = _check_delay(retry_delay)
        tasks.append(Task(name, cron, callback, retry_delay, due))
    return tasks


def is_async_callable(value: object) -> bool:
    """Whether it is a coroutine function, a partial or a bound method of one, or an object with an async `__call__`."""
    while isinstance(value, partial):
        value = value.func
    return iscoroutinefunction(value) or (callable(value) and iscoroutinefunction(type(value).__call__))


def _check_delay(delay: timedelta) -> timedelta:
    if delay < ZERO:
        raise NegativeRetryDelayError(retry_delay_ms=delay // _MILLISECOND)
    # As a number of milliseconds it would not come back from a ledger to the microsecond.
    return delay - delay % _MILLISECOND


def _check_name(name: str) -> None:
    if not name:
        raise InvalidRegistrationError(field="name", value=name, reason="must not be empty")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise InvalidRegistrationError(
            field="name", value=ascii(name), reason="must be a text that UTF-8 can hold"
        ) from error

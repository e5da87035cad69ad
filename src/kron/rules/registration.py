"""Registrations and their checks, and the reader of their schedules: text to due instants under a contract."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from functools import partial
from inspect import iscoroutinefunction
from typing import Any, Literal, NamedTuple

from kron.cron.schedule import RepeatedPolicy, Schedule
from kron.decision.line import parse_line
from kron.decision.timing import Timing
from kron.errors import (
    CronExpressionInvalidError,
    InvalidCronExpressionError,
    InvalidDefinitionError,
    InvalidRegistrationError,
    NegativeRetryDelayError,
    RegistrationShapeError,
    RegistrationsNotArrayError,
    ScheduleDuplicateTaskError,
    UnknownTimezoneError,
)
from kron.instant import MILLISECOND, ZERO
from kron.rules.contract import Contract
from kron.rules.due import ChosenTimes, Due, Occurrences

Callback = Callable[[], Awaitable[Any]]
_FINE = timedelta(days=36500)
_LISTS = (list, tuple)


class Registration(NamedTuple):
    """A task as its author declares it: a unique name, when, what to call, and how long a retry waits."""

    name: str
    cron: str
    callback: Callback
    retry_delay: timedelta


class TaskSpec(NamedTuple):
    """A registration that was checked, with its due instants ready for searching."""

    name: str
    cron: str
    callback: Callback
    retry_delay: timedelta
    due: Due


def parse_registrations(registrations: object, read: Callable[[str, str], Due]) -> list[TaskSpec]:
    """Return the tasks, or raise the first error; in an item: shape, name, callback, duplicate, cron, delay.

    `read(cron, name)` gives the due instants that the second element names; its error is raised as it is.
    """
    if not isinstance(registrations, _LISTS):
        raise RegistrationsNotArrayError
    tasks: list[TaskSpec] = []
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
        tasks.append(TaskSpec(name, cron, callback, retry_delay, due))
    return tasks


def is_async_callable(value: object) -> bool:
    """Whether it is a coroutine function, a partial or a bound method of one, or an object with an async `__call__`."""
    while isinstance(value, partial):
        value = value.func
    return iscoroutinefunction(value) or (callable(value) and iscoroutinefunction(type(value).__call__))


def _check_delay(delay: timedelta) -> timedelta:
    if delay < ZERO:
        raise NegativeRetryDelayError(retry_delay_ms=delay // MILLISECOND)
    # As a number of milliseconds it would not come back from a ledger to the microsecond.
    return delay - delay % MILLISECOND


def _check_name(name: str) -> None:
    if not name:
        raise InvalidRegistrationError(field="name", value=name, reason="must not be empty")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise InvalidRegistrationError(
            field="name", value=ascii(name), reason="must be a text that UTF-8 can hold"
        ) from error


class ScheduleReader:
    """Reads cron expressions and, in the extended dialect, whole schedule lines; equal expressions are one schedule.

    The identity that enters the seeds of a task is its name, unless `identities` has another one.
    """

    def __init__(
        self,
        contract: Contract,
        dialect: Literal["extended", "posix"],
        timezone: str,
        *,
        identities: Mapping[str, str] | None = None,
    ) -> None:
        repeated = contract.repeated_minute or RepeatedPolicy.BOTH
        self._defaults = {"timezone": timezone, "dialect": dialect, "repeated": repeated.value}
        self._blanks = {ord(blank): " " for blank in contract.cron_blanks}
        self._known: dict[str, Occurrences] = {}
        self._identities = {} if identities is None else identities
        self._schedule("* * * * *")  # a wrong dialect or zone is refused here, before any registration is looked at

    def __call__(self, text: str, name: str) -> Due:
        """Return the due instants; what is wrong with the text is raised as an error of the registration."""
        known = self._known.get(text)
        if known is not None:
            return known
        found = self.read(text, name)
        if isinstance(found, Timing):
            return ChosenTimes(found)
        due = self._known[text] = Occurrences(found)
        return due

    def read(self, text: str, name: str) -> Schedule | Timing:
        """Return what the text says: a schedule, or a timing if it has modifiers; errors as above."""
        try:
            return self._read(text.translate(self._blanks), name)
        except InvalidCronExpressionError as error:
            raise CronExpressionInvalidError(expression=text, field=error.field, reason=error.reason) from error
        except UnknownTimezoneError as error:
            raise InvalidRegistrationError(field="timezone", value=text, reason=error.message) from error
        except InvalidDefinitionError as error:
            if error.field == "identity":  # that of a task is its name
                raise InvalidRegistrationError(field="name", value=name, reason=error.reason) from error
            raise InvalidRegistrationError(field=error.field, value=text, reason=error.reason) from error

    def _read(self, text: str, name: str) -> Schedule | Timing:
        if self._defaults["dialect"] == "posix" or "@" not in text[1:]:
            return self._schedule(text)
        line = parse_line(text)
        if "policy" in line.modifiers:
            position = line.modifiers["policy"].position
            reason = "does not apply here: a task never runs beside itself, and a missed run is made up for once"
            raise InvalidDefinitionError(field="policy", found="@policy", reason=reason, position=position)
        return Timing.from_line(line, identity=self._identities.get(name, name), **self._defaults)

    def _schedule(self, text: str) -> Schedule:
        return Schedule(text, **self._defaults)  # type: ignore[arg-type] # it checks each of them

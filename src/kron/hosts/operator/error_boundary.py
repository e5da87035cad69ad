"""ErrorBoundary: an error that one object causes is logged and counted, and does not reach the others."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from kron.errors.base import describe_exception
from kron.hosts.operator.log import ERROR, OperatorLog

_QUIET = 60.0  # seconds between two lines about the same object
_MOST_REMEMBERED = 1_000  # objects that were in a line; of more, some are in two lines within a minute


class SetAsideCounter(Protocol):
    """Counts the errors of objects."""

    def on_set_aside(self, resource: str, /) -> None:
        """An object of a resource was set aside."""


class ErrorBoundary:
    """Surrounds the work on one object. Each error is a bug of Kron; the object that causes it is set aside."""

    def __init__(self, log: OperatorLog, counter: SetAsideCounter, monotonic: Callable[[], float]) -> None:
        self._log, self._counter, self._monotonic = log, counter, monotonic
        self._logged: dict[tuple[str, str, str], float] = {}  # when an object was last in a line

    @contextmanager
    def around(
        self, resource: str, namespace: str, name: str, *, then: Callable[[str], object] | None = None
    ) -> Iterator[None]:
        """Keep an error of this block inside of it; `then` gets its text."""
        try:
            yield
        except Exception as error:
            text = describe_exception(error)
            self._counter.on_set_aside(resource)
            if self._is_due((resource, namespace, name)):
                self._log.write(ERROR, "set aside", resource=resource, namespace=namespace, name=name, error=text)
            if then is not None:
                then(text)

    def _is_due(self, key: tuple[str, str, str]) -> bool:
        """Whether a line about an object is to be written, which is noted."""
        now = self._monotonic()
        if now - self._logged.get(key, -_QUIET) < _QUIET:
            return False
        if len(self._logged) >= _MOST_REMEMBERED:
            self._logged.clear()
        self._logged[key] = now
        return True

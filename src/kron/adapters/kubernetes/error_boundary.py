"""ErrorBoundary: an error that one object causes is logged and counted, and does not reach the others."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kron.errors.base import describe_exception

_QUIET = 60.0  # seconds between two lines about the same object
_MOST_REMEMBERED = 1_000  # objects that were in a line; of more, some are in two lines within a minute


class ErrorBoundary:
    """Surrounds the work on one object. Each error is a bug of Kron; the object that causes it is set aside."""

    def __init__(
        self,
        log_error: Callable[[str, str, str, str], object],
        count_error: Callable[[str], object],
        monotonic: Callable[[], float],
    ) -> None:
        """`log_error` gets resource, namespace, name and text, `count_error` the resource."""
        self._log_error, self._count_error, self._monotonic = log_error, count_error, monotonic
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
            self._count_error(resource)
            if self._is_due((resource, namespace, name)):
                self._log_error(resource, namespace, name, text)
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

"""ErrorBoundary, NamespaceBackoff: an error, or a refusal, of one object or namespace stays with it."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kron.adapters.kubernetes.responses import MAX_RETRY_DELAY, ErrorClass, classify
from kron.errors import ApiRefusedError
from kron.errors.base import describe_exception

_QUIET = 60.0  # seconds between two lines about the same object
_MOST_REMEMBERED = 1_000  # objects that were in a line; of more, some are in two lines within a minute
_FIRST, _LONGEST = 0.25, 120.0  # seconds; doubled after every refusal
_PROBED = 1.0  # seconds until writes that wait for the answer to a probe ask again
_REMEMBERED = 10_000  # namespaces, and KronJobs of each
_SEVERAL = 3  # KronJobs of a namespace that are refused for its sake before all of them rest
_REFUSED = frozenset({403, 404})  # quota, admission and rights; a namespace that is not there
_OF_A_NAMESPACE = ("exceeded quota", "cannot create resource")  # in the message of 403: quota and rights


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


class _Rest:
    """The rest of one KronJob or of one namespace: one creation at a time is tried, later each time."""

    __slots__ = ("is_probed", "reason", "seconds", "until")

    def __init__(self) -> None:
        self.seconds, self.until, self.is_probed, self.reason = 0.0, 0.0, False, ""

    def refuse(self, error: ApiRefusedError, now: float) -> None:
        if self.is_probed or now >= self.until:  # several that were under way together are refused once
            self.seconds = min(_LONGEST, max(_FIRST, 2 * self.seconds))
            self.until = now + max(self.seconds, min(error.retry_after or 0.0, _LONGEST))
            self.is_probed = False
        self.reason = error.message


class _Namespace:
    """What was refused in a namespace since the last Job was created there."""

    __slots__ = ("denied", "rest", "short")

    def __init__(self) -> None:
        self.rest: _Rest | None = None  # of all
        self.short: dict[str, _Rest] = {}  # KronJobs that were refused for the namespace's sake, before all rest
        self.denied: OrderedDict[str, _Rest] = OrderedDict()  # KronJobs that were refused for their own sake

    def rests(self, identity: str) -> list[_Rest]:
        """Return the rests that hold a KronJob."""
        found = (self.denied.get(identity), self.short.get(identity) if self.rest is None else self.rest)
        return [rest for rest in found if rest is not None]


class NamespaceBackoff:
    """A KronJob whose Job is denied, by an admission webhook say, rests alone: the others may be unlike it.

    When several of a namespace are over its quota, or may not be created there, the namespace rests: one creation at a
    time is tried, however many wait.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._namespaces: OrderedDict[str, _Namespace] = OrderedDict()

    def wait(self, identity: str) -> float:
        """Return after how many seconds to ask again; 0: the caller may create a Job now, and reports the answer.

        It is never more than a few seconds: a Job that waits is checked against its deadline meanwhile.
        """
        rests = self._rests(identity)
        left = max((rest.until for rest in rests), default=0.0) - self._monotonic()
        if rests and left > 0:
            return min(left, MAX_RETRY_DELAY)
        if any(rest.is_probed for rest in rests):
            return _PROBED
        for rest in rests:
            rest.is_probed = True
        return 0.0

    def reason(self, identity: str) -> str:
        """Return why the server refused the last Job of a KronJob that rests, or of its namespace."""
        return next((rest.reason for rest in self._rests(identity)), "")

    def on_answer(self, identity: str, error: Exception | None) -> None:
        """Take note of the answer to a creation, or that there is none; None: the Job was created."""
        name = identity.partition("/")[0]
        refusal = error if isinstance(error, ApiRefusedError) else None
        if error is None or (
            refusal is not None and classify(refusal) in (ErrorClass.ALREADY_EXISTS, ErrorClass.NAMESPACE_TERMINATING)
        ):
            self._accept(name, identity)
        elif refusal is not None and refusal.code in _REFUSED:
            self._refuse(name, identity, refusal)
        else:  # it says nothing about the refusals: the next one may try
            for rest in self._rests(identity):
                rest.is_probed = False

    def on_change(self, name: str) -> None:
        """Take note that a Job ended or is gone: a namespace may have room for one more, which is tried soon."""
        found = self._namespaces.get(name)
        if found is not None:
            for rest in found.short.values() if found.rest is None else (found.rest,):
                rest.until = min(rest.until, self._monotonic() + _PROBED)

    def _rests(self, identity: str) -> list[_Rest]:
        found = self._namespaces.get(identity.partition("/")[0])
        return [] if found is None else found.rests(identity)

    def _accept(self, name: str, identity: str) -> None:
        found = self._namespaces.get(name)
        if found is not None:
            found.rest, found.short = None, {}
            found.denied.pop(identity, None)
            if not found.denied:
                del self._namespaces[name]

    def _refuse(self, name: str, identity: str, error: ApiRefusedError) -> None:
        found = self._namespaces.setdefault(name, _Namespace())
        others, rest = found.rests(identity), self._at_rest(found, identity, error)
        for other in others:
            other.is_probed = other.is_probed and other is rest
        rest.refuse(error, self._monotonic())
        if len(found.denied) > _REMEMBERED:
            found.denied.popitem(last=False)
        if len(self._namespaces) > _REMEMBERED:
            self._namespaces.popitem(last=False)

    def _at_rest(self, found: _Namespace, identity: str, error: ApiRefusedError) -> _Rest:
        """Return the backoff that a refusal begins or prolongs."""
        if not _is_of_a_namespace(error):
            return found.denied.setdefault(identity, _Rest())
        if found.rest is None:
            short = found.short.setdefault(identity, _Rest())
            if len(found.short) < _SEVERAL:
                return short
            found.rest, found.short = _Rest(), {}
        return found.rest


def _is_of_a_namespace(error: ApiRefusedError) -> bool:
    """Whether any other Job would be refused there as well; what a webhook says is its own affair."""
    if error.code != 403:
        return True
    return "admission webhook" not in error.message and any(text in error.message for text in _OF_A_NAMESPACE)

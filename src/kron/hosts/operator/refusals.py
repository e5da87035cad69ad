"""Refusals: how long no Job is created in a namespace after the server refused one there: quota, admission, rights."""

from collections import OrderedDict
from collections.abc import Callable

from kron.errors import ApiError, ApiRefusedError
from kron.hosts.operator.answers import LONGEST_PAUSE, Meaning, meaning

_FIRST, _LONGEST = 0.25, 120.0  # seconds; doubled after every refusal
_PROBED = 1.0  # seconds until those who wait for the answer to a probe ask again
_REMEMBERED = 10_000  # namespaces
_OF_A_NAMESPACE = frozenset({403, 404})  # quota, admission and rights; a namespace that is not there


class _Rest:
    """The rest of one namespace."""

    __slots__ = ("is_probed", "reason", "seconds", "until")

    def __init__(self) -> None:
        self.seconds, self.until, self.is_probed, self.reason = 0.0, 0.0, False, ""


class Refusals:
    """While a namespace rests, one creation at a time is tried there, however many wait: the others are like it."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._rests: OrderedDict[str, _Rest] = OrderedDict()

    def wait(self, namespace: str) -> float:
        """Return after how many seconds to ask again; 0: the caller may create a Job now, and reports the answer.

        It is never more than a few seconds: a Job that waits is checked against its deadline meanwhile.
        """
        rest = self._rests.get(namespace)
        if rest is None:
            return 0.0
        left = rest.until - self._monotonic()
        if left > 0:
            return min(left, LONGEST_PAUSE)
        if rest.is_probed:
            return _PROBED
        rest.is_probed = True
        return 0.0

    def reason(self, namespace: str) -> str:
        """Return why the server refused the last Job of a namespace that rests."""
        rest = self._rests.get(namespace)
        return "" if rest is None else rest.reason

    def on_answer(self, namespace: str, error: ApiError | None) -> None:
        """Take note of the answer to a creation; None: the Job was created."""
        if error is None or meaning(error) in (Meaning.EXISTS, Meaning.ENDING):
            self._rests.pop(namespace, None)
        elif isinstance(error, ApiRefusedError) and error.code in _OF_A_NAMESPACE:
            self._refuse(namespace, error)
        elif namespace in self._rests:  # it says nothing about the namespace: the next one may try
            self._rests[namespace].is_probed = False

    def on_change(self, namespace: str) -> None:
        """Take note that a Job ended or is gone: there may be room for one more, so that one is tried soon."""
        rest = self._rests.get(namespace)
        if rest is not None:
            rest.until = min(rest.until, self._monotonic() + _PROBED)

    def _refuse(self, namespace: str, error: ApiRefusedError) -> None:
        rest, now = self._rests.setdefault(namespace, _Rest()), self._monotonic()
        if rest.is_probed or now >= rest.until:  # several that were under way together are refused once
            rest.seconds = min(_LONGEST, max(_FIRST, 2 * rest.seconds))
            rest.until = now + max(rest.seconds, min(error.retry_after or 0.0, _LONGEST))
            rest.is_probed = False
        rest.reason = error.message
        if len(self._rests) > _REMEMBERED:
            self._rests.popitem(last=False)

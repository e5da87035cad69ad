"""Sessions: what a browser keeps in its cookie after it has shown the token."""

import secrets
from collections.abc import Callable
from hashlib import sha256
from time import monotonic

_MOST = 100  # sessions; for one more the oldest ends
_LASTING = 12 * 3600.0  # seconds
_LONGEST = 64  # characters of a value that can be one


class Sessions:
    """The sessions of one krond, in memory: they end with it, and so with its token.

    A cookie must not be the token. Browsers send it to every port of a host, also to the services of other users.
    """

    def __init__(
        self, *, most: int = _MOST, lasting: float = _LASTING, monotonic: Callable[[], float] = monotonic
    ) -> None:
        """`lasting`: seconds from the beginning of a session to its end."""
        self._most, self._lasting, self._monotonic = most, lasting, monotonic
        self._ends: dict[bytes, float] = {}  # by digest, oldest first

    def begin(self) -> str:
        """Return the value of a new session."""
        value = secrets.token_urlsafe(32)
        self._ends[_digest(value)] = self._monotonic() + self._lasting
        if len(self._ends) > self._most:
            del self._ends[next(iter(self._ends))]
        return value

    def has(self, value: str) -> bool:
        """Whether a value is that of a session; how long that takes does not tell how much of it is right."""
        return len(value) <= _LONGEST and self._monotonic() < self._ends.get(_digest(value), 0.0)


def _digest(value: str) -> bytes:
    return sha256(value.encode(errors="replace")).digest()

"""Wait until a condition on a real server holds."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

_PAUSE = 0.05  # seconds


def wait_until(condition: Callable[[], Found], timeout: float = 60.0, *, what: str = "") -> Found:
    """Return what the condition answers as soon as that is true; after the time-out (seconds) the test has failed."""
    end = time.monotonic() + timeout
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"{what or 'the condition'} did not come true within {timeout:g} s: {found!r}")
        time.sleep(_PAUSE)

"""kept(), keep(), give_back(): what was made for thousands of jobs is left alone, what it was made from goes."""

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from kron.engine.collector import collector_paused


@contextmanager
def kept() -> Iterator[None]:
    """Let the collector never visit what is made inside: for what is nearly all kept, and does not take long."""
    with collector_paused():
        yield
        keep()


def keep() -> None:
    """Let the collector never visit again what there is now: thousands of jobs would hold the loop for 0.1 s each time.

    What is dropped later goes all the same, unless it refers to itself in a circle: jobs do not.
    """
    gc.freeze()


def give_back() -> None:
    """Return to the system what is not used any more. It takes a while: in a thread."""
    with suppress(AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)

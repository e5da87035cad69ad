"""keep(), give_back(): what was made for thousands of jobs is left alone, what it was made from goes."""

import ctypes
import gc
from contextlib import suppress


def keep() -> None:
    """Let the collector never visit again what there is now: thousands of jobs would hold the loop for 0.1 s each time.

    What is dropped later goes all the same, unless it refers to itself in a circle: jobs do not.
    """
    gc.freeze()


def give_back() -> None:
    """Return to the system what is not used any more. It takes a while: in a thread."""
    with suppress(AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)

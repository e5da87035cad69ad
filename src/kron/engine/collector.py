"""collector_paused(): Python's garbage collector waits while many objects are made that are all kept or soon gone.

It would visit every object of the program again and again in between, and find nothing. Only around code that runs no
callback, so that nobody's garbage has to wait for long.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Hold the collector off as long as the block lasts, unless it is off already."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()

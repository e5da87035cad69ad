"""gc_paused(): Python's garbage collector waits while many objects are made that are all kept or soon gone.

It would visit every object of the program again and again in between, and find nothing. Use it only around code that
runs no callback, so that no other garbage waits for long.
"""

import gc
from collections.abc import Callable, Sized

_FEW = 10  # of so few the collector hardly takes notice


def run_gc_paused(work: Callable[..., object], items: Sized, *more: object) -> None:
    """Do something with items, with the collector held off if they are many."""
    if len(items) < _FEW:
        work(items, *more)
    else:
        with gc_paused():
            work(items, *more)


class gc_paused:  # noqa: N801  # used like a function
    """Hold the collector off as long as the block lasts, unless it is off already."""

    __slots__ = ("_was_enabled",)

    def __enter__(self) -> None:
        self._was_enabled = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self._was_enabled:
            gc.enable()

"""progress(label, length) -> a bar on standard error, where that is a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click


@contextmanager
def progress(label: str, length: int, *, shown: bool = True) -> Iterator[Callable[[int], None]]:
    """Yield what is called with how much more was done; without a terminal it does nothing."""
    if not shown or not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=length, label=label, file=sys.stderr, width=40) as bar:
        yield bar.update

"""address_of(path) -> how a socket in the file system is called, however long its path is."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def address_of(path: Path) -> Iterator[str]:
    """Yield an address of a socket that is short enough, however long its path is."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)

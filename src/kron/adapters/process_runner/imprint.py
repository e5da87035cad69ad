"""Imprint: what a live file held at the last look: whether its job has emptied it since, and what was in it then.

A script's `> /dev/stderr` opens the file anew and cuts it off, as it would any file. The size alone does not tell: it
may have grown again since.
"""

import os
from typing import NamedTuple

_WHOLE = 1 << 14  # bytes up to which all of a file is remembered: a thousand executions at once must fit into memory
_MARK = 64  # bytes at the end of a longer one


class Look(NamedTuple):
    """What the file system says about a file."""

    size: int = 0
    changed: int = -1  # by its own clock; -1: there is none

    @property
    def is_gone(self) -> bool:
        """Whether there is no such file."""
        return self.changed < 0


class Imprint:
    """The bytes of a file up to a place, or the last of them."""

    def __init__(self) -> None:
        self._begin, self._data = 0, b""
        self._last = Look()

    def is_as(self, look: Look) -> bool:
        """Whether nobody has touched the file since the last look."""
        return look == self._last

    def is_kept(self, descriptor: int) -> bool:
        """Whether what was there still is."""
        return os.pread(descriptor, len(self._data), self._begin) == self._data

    def whole(self, size: int) -> bytes | None:
        """Return all that was there, so many bytes, None: it was too much, or before our time."""
        return self._data if len(self._data) == size else None

    def take(self, descriptor: int, look: Look, end: int) -> None:
        """Remember what is there now, up to a place."""
        self._last = look
        self._begin = 0 if end <= _WHOLE else end - _MARK
        self._data = os.pread(descriptor, end - self._begin, self._begin)

"""What a spawner has done, in memory that outlives it: its host reads there what the spawner did not report.

The first number counts the starts begun. A ring of starts and a ring of ends follow; each entry is its number, counted
from 1, and two more: the pid (0: it failed) and start ticks of a process, or its pid and wait status.
"""

import os

_WORD = 8  # bytes of a number
_ENTRY = 3 * _WORD
_ROOM = 256  # entries of a ring: more than a host asks for ahead, and than a spawner collects before it reports
_STARTS, _ENDS = _WORD, _WORD + _ROOM * _ENTRY


class Progress:
    """One file of this form, open in the spawner and in its host."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._starts = self._ends = 0

    # --- in the spawner -----------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Note that the next start is begun. A crash from here on leaves it in doubt until `started`."""
        self._starts += 1
        os.pwrite(self._descriptor, _bytes(self._starts), 0)

    def started(self, pid: int, ticks: int) -> None:
        """Note as which process it is there, 0 if it failed."""
        entry = _bytes(self._starts, pid, ticks)
        os.pwrite(self._descriptor, entry, _STARTS + self._starts % _ROOM * _ENTRY)

    def ended(self, pid: int, status: int) -> None:
        """Note how a process ended, before it is reaped: then no one else can find out."""
        self._ends += 1
        os.pwrite(self._descriptor, _bytes(self._ends, pid, status), _ENDS + self._ends % _ROOM * _ENTRY)

    # --- in the host --------------------------------------------------------------------------------------------------

    def begun(self) -> int:
        """Return how many starts were begun."""
        return int.from_bytes(os.pread(self._descriptor, _WORD, 0), "big")

    def starts(self, after: int) -> list[tuple[int, int]]:
        """Return pid and ticks of the starts after so many, in their order."""
        return self._entries(_STARTS, after)

    def ends(self, after: int) -> list[tuple[int, int]]:
        """Return pid and status of the ends after so many, in their order."""
        return self._entries(_ENDS, after)

    def _entries(self, ring: int, after: int) -> list[tuple[int, int]]:
        data = os.pread(self._descriptor, _ROOM * _ENTRY, ring)
        words = [int.from_bytes(data[at : at + _WORD], "big") for at in range(0, len(data), _WORD)]
        entries = sorted(zip(words[::3], words[1::3], words[2::3], strict=False))
        return [(first, second) for number, first, second in entries if number > after]


def _bytes(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(_WORD, "big") for number in numbers)

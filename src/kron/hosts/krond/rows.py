"""Rows: a long answer of krond, computed in a thread and encoded part by part, so that the loop is never held."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from time import monotonic
from typing import TypeAlias

from kron.errors import ControlError

_TURN = 0.02  # seconds of a part: encoding what is computed meanwhile holds the interpreter for a millisecond or two
LONGEST = 20.0  # seconds of computing an answer, the time that it waits for its turn and for its reader left out
AT_ONCE = 2  # parts that are computed at a time, of all answers

Row: TypeAlias = Mapping[str, object] | None  # None: some work is done, and no row came out of it


class Rows:
    """An answer that is a list. `make` yields its rows; it is called and continued in threads, in one at a time."""

    def __init__(self, make: Callable[[], Iterator[Row]], *, longest: float = LONGEST) -> None:
        self._make, self._longest = make, longest

    async def parts(self, turn: asyncio.Semaphore) -> AsyncGenerator[bytes, None]:
        """Yield the rows as JSON, without the brackets around them; ControlError if that takes too long."""
        rows, spent, is_first = self._make(), 0.0, True
        while True:
            async with turn:
                began = monotonic()
                found, is_over = await asyncio.to_thread(_take, rows, began + _TURN)
                spent += monotonic() - began
            if found:
                yield found if is_first else b", " + found
                is_first = False
            if is_over:
                return
            if spent > self._longest:
                raise ControlError(reason=f"the answer takes krond more than {self._longest:g} s; ask for less")


def _take(rows: Iterator[Row], until: float) -> tuple[bytes, bool]:
    """Return the rows that are computed until an instant, and whether they are all."""
    found = []
    for row in rows:
        if row is not None:
            found.append(row)
        if monotonic() > until:
            return json.dumps(found)[1:-1].encode(), False
    return json.dumps(found)[1:-1].encode(), True

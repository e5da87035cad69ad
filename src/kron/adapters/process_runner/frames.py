"""Values in, length-prefixed bytes out, and back: how starts travel to a spawner. Only that way: a host reads lines."""

import marshal
from collections.abc import Iterator
from typing import Any

_LENGTH = 4  # bytes of the length before each value


def frame(value: Any) -> bytes:
    """Return a value of plain tuples, texts and numbers as bytes."""
    body = marshal.dumps(value)
    return len(body).to_bytes(_LENGTH, "big") + body


class Frames:
    """Collects bytes as they arrive, in whatever pieces."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[Any]:
        """Yield the values that are complete now."""
        rest = self._rest + data
        while len(rest) >= _LENGTH:
            end = _LENGTH + int.from_bytes(rest[:_LENGTH], "big")
            if len(rest) < end:
                break
            body, rest = rest[_LENGTH:end], rest[end:]
            yield marshal.loads(body)
        self._rest = rest

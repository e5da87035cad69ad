"""Window: where around a nominal time an execution may fall, in whole seconds."""

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import NamedTuple

from kron.errors import InvalidDefinitionError
from kron.instant import MICROSECOND, ZERO


class WindowMode(Enum):
    """On which side of the nominal time a window lies."""

    AFTER = "after"
    AROUND = "around"


@dataclass(frozen=True, slots=True)
class Window:
    """A mode and a duration D. `after` is [N, N + D], `around` is [N − D/2, N + D/2], both floored to whole seconds."""

    mode: WindowMode = WindowMode.AFTER
    duration: timedelta = ZERO

    def __post_init__(self) -> None:
        if self.duration < ZERO:
            raise InvalidDefinitionError(field="window", found=str(self.duration), reason="must not be negative")

    @property
    def bounds(self) -> tuple[int, int]:
        """The whole seconds from a nominal time (itself a whole second) to the window's first and last second."""
        microseconds = self.duration // MICROSECOND
        if self.mode is WindowMode.AFTER:
            return 0, microseconds // 1_000_000
        return -microseconds // 2_000_000, microseconds // 2_000_000


class WindowFrame(NamedTuple):
    """What a distribution may know of a window: its mode, its length and the nominal time's place in it, in seconds."""

    mode: WindowMode
    width: int
    nominal: int

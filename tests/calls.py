"""Count function calls, for cost tests that do not depend on time."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType


@contextmanager
def counted(*functions: Callable[..., object]) -> Iterator[Counter[str]]:
    """Count the calls of some functions."""
    found: Counter[str] = Counter()
    codes: dict[CodeType, str] = {each.__code__: each.__name__ for each in functions}

    def on_event(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code in codes:
            found[codes[frame.f_code]] += 1

    before = sys.getprofile()
    sys.setprofile(on_event)
    try:
        yield found
    finally:
        sys.setprofile(before)

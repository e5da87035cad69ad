"""counted(functions): how often functions are called, for claims about cost. on_a_loop: a test that is a coroutine."""

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import wraps
from types import CodeType, FrameType
from typing import Any


def on_a_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Let an async function be a test."""

    @wraps(test)
    def run(*args: Any, **keywords: Any) -> None:
        asyncio.run(test(*args, **keywords))

    return run


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

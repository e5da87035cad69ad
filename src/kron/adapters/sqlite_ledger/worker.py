"""Worker: one thread that calls functions in turn, and hands everything written meanwhile to one call of its writer."""

import asyncio
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from itertools import groupby
from typing import Any, Generic, NamedTuple, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class _Work(NamedTuple):
    call: Callable[[], object] | None  # None: write the item
    item: Any
    done: "asyncio.Future[Any]"


class Worker(Generic[Item]):
    """The thread ends with the process, or when told; it keeps neither alive."""

    def __init__(self, name: str, write: Callable[[list[Item]], object]) -> None:
        self._write = write
        self._pending: list[_Work] = []
        self._ending = False
        self._changed = threading.Condition()
        threading.Thread(target=self._serve, name=name, daemon=True).start()

    def call(self, function: Callable[[], Result]) -> "asyncio.Future[Result]":
        """Call a function in the thread."""
        return self._put(function, None)

    def write(self, item: Item) -> "asyncio.Future[None]":
        """Write an item, together with those of others who wait at the same time: all or none."""
        return self._put(None, item)

    def end(self) -> None:
        """End the thread when it has done all that it was asked to."""
        with self._changed:
            self._ending = True
            self._changed.notify()

    def _put(self, call: Callable[[], object] | None, item: Item | None) -> "asyncio.Future[Any]":
        work = _Work(call, item, asyncio.get_running_loop().create_future())
        with self._changed:
            self._pending.append(work)
            self._changed.notify()
        return work.done

    def _serve(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._pending or self._ending)
                pending, self._pending = self._pending, []
            if not pending:
                return
            for call, group in groupby(pending, key=lambda work: work.call):
                works = list(group)
                _answer(works, call or partial(self._write, [work.item for work in works]))


def _answer(works: Iterable[_Work], call: Callable[[], object]) -> None:
    result, error = None, None
    try:
        result = call()
    except BaseException as raised:
        error = raised
    for work in works:
        with suppress(RuntimeError):  # nobody waits any more: the event loop is closed
            work.done.get_loop().call_soon_threadsafe(_resolve, work.done, result, error)


def _resolve(future: "asyncio.Future[Any]", result: object, error: BaseException | None) -> None:
    if future.done():  # whoever waited was cancelled
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)

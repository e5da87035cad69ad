"""DiskCall: a call that a disk may never answer. It has a time limit, and the end of krond does not wait for it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Thread
from typing import Generic, TypeVar

from kron.errors import ControlError

LONGEST = 60.0  # seconds for reading all job files: a hundred thousand jobs take some ten

_Result = TypeVar("_Result")


def late_error(limit: float) -> ControlError:
    """Return the error of job files that were not read in time."""
    reason = f"the job files could not be read within {limit:g} s: a disk or a network may not answer"
    return ControlError(reason=reason)


class DiskCall(Generic[_Result]):
    """One call, in a thread of its own: asyncio's threads are few, and the end of its loop waits for them."""

    def __init__(self, function: Callable[[], _Result]) -> None:
        self._function = function
        self._future: Future[_Result] = Future()
        self._future.set_running_or_notify_cancel()  # from now on it cannot be cancelled, only abandoned
        Thread(target=self._run, name="kron disk", daemon=True).start()

    def _run(self) -> None:
        try:
            self._future.set_result(self._function())
        except BaseException as error:  # the waiting call raises it
            self._future.set_exception(error)

    @property
    def is_over(self) -> bool:
        """Whether the disk has answered."""
        return self._future.done()

    def result(self, limit: float = LONGEST) -> _Result:
        """Return the answer, or raise an error after so many seconds. It blocks."""
        if not wait([self._future], limit).done:
            raise late_error(limit)
        return self._future.result()

    async def answer(self, limit: float = LONGEST) -> _Result:
        """Return the answer, or raise an error after so many seconds. If the caller is cancelled, nothing waits."""
        answer = asyncio.wrap_future(self._future)
        try:
            done, _ = await asyncio.wait([answer], timeout=limit)
            if not done:
                raise late_error(limit)
            return answer.result()
        finally:
            answer.cancel()  # else the loop would report a later error as never retrieved

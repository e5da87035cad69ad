"""WakeUp: a flag that says that the engine should look, and the wait for it."""

from asyncio import Future, get_running_loop


class WakeUp:
    """Set by whoever has news; one loop waits for it at a time. Smaller and quicker than an event of asyncio."""

    __slots__ = ("_is_set", "_waiting")

    def __init__(self) -> None:
        self._is_set = False
        self._waiting: Future[None] | None = None

    def is_set(self) -> bool:
        """Whether there is news."""
        return self._is_set

    def set(self) -> None:
        """Say that there is."""
        self._is_set = True
        if self._waiting is not None:
            set_if_pending(self._waiting)

    def clear(self) -> None:
        """Say that it was looked at."""
        self._is_set = False

    def waiting(self) -> "Future[None]":
        """Return a future that is done as soon as there is news; a clock may finish it before."""
        self._waiting = get_running_loop().create_future()
        if self._is_set:
            self._waiting.set_result(None)
        return self._waiting


def set_if_pending(waiting: "Future[None]") -> None:
    """End a wait, if it has not ended yet."""
    if not waiting.done():
        waiting.set_result(None)

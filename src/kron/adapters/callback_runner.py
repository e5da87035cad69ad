"""CallbackRunner: runs are coroutines on this event loop; whatever one raises is the failure of that run alone."""

from asyncio import AbstractEventLoop, CancelledError, Task, get_running_loop
from collections.abc import Collection, Sequence
from functools import partial
from inspect import CORO_CREATED, getcoroutinestate
from types import CoroutineType

from kron.engine.ports import RunListener
from kron.engine.runs import RunResult, TaskRun

_SUCCESS = RunResult(exit_code=0)


class CallbackRunner:
    """Starts callbacks as tasks.

    Of the port it lacks four clauses. Survival: a crash of the process ends all callbacks. Handles: for that reason
    none is reported. Start failures: to call a callback is to start it, so what the call raises is the failure of the
    run. Force: a callback that ignores its cancellation runs to its own end.
    """

    def __init__(self) -> None:
        self._tasks: dict[TaskRun, Task[None]] = {}  # also keeps them from being collected while they run
        self._loop: AbstractEventLoop | None = None
        self._listener: RunListener[TaskRun] | None = None

    def start(self, runs: Sequence[TaskRun], listener: RunListener[TaskRun]) -> None:
        """Begin the runs at the next turn of the event loop."""
        if self._loop is None:
            self._loop = get_running_loop()
        self._listener = listener
        for run in runs:
            self._tasks[run] = self._loop.create_task(self._execute(run, listener), name=run.run_id)

    def stop(self, run: TaskRun) -> None:
        """Cancel the run; it lasts until the callback has really ended."""
        task = self._tasks.get(run)
        if task is None:
            return
        coroutine = task.get_coro()
        if isinstance(coroutine, CoroutineType) and getcoroutinestate(coroutine) == CORO_CREATED:
            # Cancelled before its first turn, it never gets one, and so does not report its end.
            task.add_done_callback(partial(self._end_unbegun, run))
        task.cancel()

    async def reattach(self, runs: Sequence[TaskRun], listener: RunListener[TaskRun]) -> Collection[str]:  # noqa: ARG002
        """Return nothing: the process that they ran in is gone."""
        return ()

    async def catch_up(self, *, stood_still: bool) -> None:
        """Nothing is late: callbacks stand still together with the loop."""

    def detach(self) -> None:
        """Cancel all runs and forget them."""
        tasks = list(self._tasks.values())
        self._tasks.clear()
        for task in tasks:
            task.cancel()

    def _end_unbegun(self, run: TaskRun, _: Task[None]) -> None:
        if self._tasks.pop(run, None) is not None and self._listener is not None:
            self._listener.on_ended(run, RunResult(error=CancelledError()))

    async def _execute(self, run: TaskRun, listener: RunListener[TaskRun]) -> None:
        result = _SUCCESS
        try:
            await run.callback()
        except BaseException as raised:  # the callback's own affair, whatever it is
            result = RunResult(error=raised)
        if self._tasks.pop(run, None) is not None:
            listener.on_ended(run, result)

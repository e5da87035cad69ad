"""CallbackRunner: runs are coroutines on this event loop; whatever one raises is the failure of that run alone."""

from asyncio import AbstractEventLoop, Task, get_running_loop

from kron.engine.ports import Ended, Run


class CallbackRunner:
    """Starts callbacks as tasks. A crash of the process ends them all, so none ever survives."""

    start_is_idempotent = False

    def __init__(self) -> None:
        self._tasks: dict[Run, Task[None]] = {}  # also keeps them from being collected while they run
        self._loop: AbstractEventLoop | None = None

    def start(self, run: Run, ended: Ended) -> None:
        """Begin the run at the next turn of the event loop."""
        if self._loop is None:
            self._loop = get_running_loop()
        self._tasks[run] = self._loop.create_task(self._execute(run, ended), name=run.name)

    def terminate(self, run: Run) -> None:
        """Cancel the run; it lasts until the callback has really ended."""
        if task := self._tasks.get(run):
            task.cancel()

    def abandon(self) -> None:
        """Cancel all runs and forget them."""
        tasks = list(self._tasks.values())
        self._tasks.clear()
        for task in tasks:
            task.cancel()

    async def _execute(self, run: Run, ended: Ended) -> None:
        error: BaseException | None = None
        try:
            await run.callback()
        except BaseException as raised:  # the callback's own affair, whatever it is
            error = raised
        if self._tasks.pop(run, None) is not None:
            ended(run, error)

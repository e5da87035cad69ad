"""The runner of callbacks passes the part of the port's suite that covers what it keeps itself."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count

import pytest

from kron.adapters.callback_runner import CallbackRunner
from kron.engine.runs import TaskRun
from tests.hosts.scheduler_harness import NOON
from tests.ports.runner_suite import RunnerCheck, RunnerClause, runner_suite

LACKING = {RunnerClause.START_FAILURES, RunnerClause.HANDLES, RunnerClause.SURVIVAL, RunnerClause.FORCE}
TURNS = 1_000


class CallbackTrial:
    """Callbacks that last until they are finished."""

    def __init__(self) -> None:
        self.runner = CallbackRunner()
        self._begun: list[str] = []
        self._over: set[str] = set()
        self._verdicts: dict[str, asyncio.Future[None]] = {}
        self._names = (f"task {number}" for number in count(1))

    def run(self) -> TaskRun:
        name = next(self._names)

        async def callback() -> None:
            self._begun.append(name)
            self._verdicts[name] = asyncio.get_running_loop().create_future()
            try:
                await self._verdicts[name]
            finally:
                self._over.add(name)

        return TaskRun(name, callback, NOON, NOON)

    def unheeding_run(self) -> TaskRun:
        raise AssertionError("it lacks the clause")

    def unstartable_run(self) -> TaskRun:
        def raise_at_once() -> asyncio.Future[None]:
            raise OSError("it cannot be called")

        return TaskRun(next(self._names), raise_at_once, NOON, NOON)

    def begun(self) -> list[str]:
        return self._begun

    async def finish(self, run: TaskRun, *, succeeded: bool = True) -> None:
        verdict = self._verdicts[run.run_id]
        if not verdict.done():
            verdict.set_result(None) if succeeded else verdict.set_exception(ValueError("it has failed"))
        await self.until(lambda: run.run_id in self._over)

    async def until(self, claim: Callable[[], bool]) -> None:
        for _ in range(TURNS):
            if claim():
                return
            await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
        raise TimeoutError

    async def settle(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)  # noqa: TID251  # a turn, no time

    async def crash(self) -> None:
        self.runner.detach()

    async def revive(self) -> None:
        self.runner = CallbackRunner()


@asynccontextmanager
async def trial() -> AsyncIterator[CallbackTrial]:
    found = CallbackTrial()
    yield found
    found.runner.detach()
    await found.settle()


@pytest.mark.parametrize("check", runner_suite(lacking=LACKING), ids=lambda check: check.__name__)
def test_callbacks(check: RunnerCheck) -> None:
    asyncio.run(check(trial))

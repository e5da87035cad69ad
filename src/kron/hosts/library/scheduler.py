"""Scheduler: the asyncio library. Declare tasks with `initialize`, end with `stop`; there is nothing else to call."""

import asyncio
import os
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any, Literal, TypeAlias, cast

from kron.adapters.callback_runner import CallbackRunner
from kron.adapters.memory_ledger import MemoryTaskLedger
from kron.adapters.sinks import LoggingSink
from kron.adapters.sqlite.task_ledger import SqliteTaskLedger
from kron.adapters.system_clock import SystemClock
from kron.adapters.system_time import system_timezone
from kron.engine.active_runs import ActiveRuns
from kron.engine.emitter import Emitter, Observers
from kron.engine.gc_pause import gc_paused
from kron.engine.loop import Engine
from kron.engine.ports import Clock, SchedulerObserver, Sink, TaskBatch, TaskLedger
from kron.engine.runs import TaskRun
from kron.engine.tasks.declaration import TasksApplied
from kron.engine.tasks.events import failure_text
from kron.engine.tasks.planner import ObligationPlanner
from kron.errors import (
    InvalidDefinitionError,
    KronError,
    LedgerError,
    SchedulerAlreadyActiveError,
    SchedulerStepError,
    ScheduleTaskError,
    StopSchedulerError,
    TaskTryDeserializeError,
)
from kron.instant import ZERO, Instant
from kron.rules.contract import DEFAULT, PRESETS, CatchUp, ConcurrentInitialize, Contract, InitializeWhileActive
from kron.rules.events import EVENTS
from kron.rules.lifecycle import SchedulerState, StateMachine, scheduler_table
from kron.rules.registration import Registration, ScheduleReader, TaskSpec, parse_registrations
from kron.rules.task_record import TaskRecord

_S = SchedulerState
_Engine: TypeAlias = Engine[TaskBatch, Mapping[str, TaskRecord], TaskRun]


class Scheduler:
    """Runs each declared task when it owes a run, and never otherwise, whatever happens in between.

    `ledger` is a path (SQLite), a ledger, or None (memory). `sink` takes each event. `timezone` is an IANA name, the
    host's if None. In the `extended` dialect a registration's second element may be a whole schedule line.
    """

    def __init__(
        self,
        *,
        ledger: str | os.PathLike[str] | TaskLedger | None = None,
        contract: str | Contract = DEFAULT,
        clock: Clock | None = None,
        sink: Sink | None = None,
        timezone: str | None = None,
        dialect: Literal["extended", "posix"] = "posix",
        max_concurrent_runs: int | None = None,
        run_timeout: timedelta | None = None,
    ) -> None:
        self._contract = resolve_contract(contract)
        self._ledger = _read_ledger(ledger)
        self._clock: Clock = SystemClock() if clock is None else clock
        self._max_active, self._run_timeout = _read_limits(max_concurrent_runs, run_timeout)
        self._read = ScheduleReader(self._contract, dialect, system_timezone() if timezone is None else timezone)
        self._emitter = Emitter(LoggingSink() if sink is None else sink)
        self._observers = Observers[TaskRun]([])
        self._machine = StateMachine(scheduler_table(self._contract), _S.UNINITIALIZED)
        self._turn = asyncio.Lock()  # initialisations and stops come one after the other
        self._engine: _Engine | None = None
        self._book: ObligationPlanner | None = None  # that of the engine
        self._joinable: tuple[object, asyncio.Future[None]] | None = None
        self._stopping: asyncio.Task[Exception | None] | None = None
        self._put_aside: _Engine | None = None  # by a failure or a stop, until nothing of it runs
        self._draining: asyncio.Task[Exception | None] | None = None

    # --- the two methods ----------------------------------------------------------------------------------------------

    async def initialize(self, registrations: Sequence[Registration | tuple[Any, ...] | list[Any]]) -> None:
        """Declare the tasks and begin. The first mistake in the list is raised before anything has happened."""
        self._refuse_if_active()
        if self._joinable is not None and self._joinable[0] == registrations:
            await asyncio.shield(self._joinable[1])
            return
        try:
            with gc_paused():
                checked: list[TaskSpec] | KronError = parse_registrations(registrations, self._read)
        except KronError as error:
            checked = error
        async with self._turn:
            await self._join(registrations, checked)

    async def stop(self) -> None:
        """Start no more runs, wait until none is active, and close the ledger. Stopping twice is harmless."""
        if self._stopping is None:
            if self._machine.state is _S.UNINITIALIZED and not self._turn.locked() and self._draining is None:
                return
            self._begin_stop()
        assert self._stopping is not None
        if (failure := await asyncio.shield(self._stopping)) is not None:
            if self._contract.wraps_step_errors:
                raise StopSchedulerError(cause=failure) from failure
            step = "stop scheduler: recording how the last runs ended"
            raise SchedulerStepError(step=step, cause=failure) from failure

    # --- initialising -------------------------------------------------------------------------------------------------

    def _refuse_if_active(self) -> None:
        if self._contract.initialize_while_active is not InitializeWhileActive.REJECT:
            return
        state = self._machine.state
        if state is _S.UNINITIALIZED and self._stopping is not None:
            state = _S.STOPPING  # asked for while an initialisation, since failed, was on its way
        if state is not _S.UNINITIALIZED:
            raise SchedulerAlreadyActiveError(current_state=str(state.value).lower())

    async def _join(self, registrations: object, checked: list[TaskSpec] | KronError) -> None:
        """Initialise; a concurrent call with the same list shares the result, if the contract says so."""
        if self._contract.overlapping_initialize is not ConcurrentInitialize.JOIN:
            await self._initialize(registrations, checked)
            return
        result: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._joinable = registrations, result
        try:
            await self._initialize(registrations, checked)
            result.set_result(None)
        except BaseException as error:
            result.set_exception(error)
            result.exception()  # if no call has joined, it would be reported as never retrieved
            raise
        finally:
            self._joinable = None

    async def _initialize(self, registrations: object, checked: list[TaskSpec] | KronError) -> None:
        total = len(registrations) if isinstance(registrations, list | tuple) else 0
        if self._engine is not None:
            self._engine.look()
        called = partial(self._observers.report, SchedulerObserver.on_initialize, registrations)
        self._fire("initialize() called", None, called, totalRegistrations=total)
        try:
            if isinstance(checked, KronError):
                raise checked
            declared = await self._declare(checked)
        except BaseException as error:
            failed = partial(self._observers.report, SchedulerObserver.on_initialize_failed, error)
            self._fire("initialization fails", None, failed, error=failure_text(error))
            self._after_failure()
            raise
        counts = {"scheduledCount": declared.scheduled, "skippedCount": declared.skipped}
        completed = partial(self._observers.report, SchedulerObserver.on_initialized, declared.at, declared.found)
        self._fire("all tasks scheduled", declared.at, completed, totalRegistrations=total, **counts)

    async def _declare(self, tasks: list[TaskSpec]) -> TasksApplied:
        engine, book = self._engine, self._book
        if engine is not None and book is not None:
            return await self._declare_to(engine, book, tasks)
        if self._draining is not None:
            await self._draining
            self._draining = None
        runs = ActiveRuns(self._clock, CallbackRunner(), max_active=self._max_active)
        book = ObligationPlanner(
            runs.running, self._emitter, self._contract, secrets.token_hex(8), run_timeout=self._run_timeout
        )
        engine = Engine(self._clock, self._ledger, book, runs, self._emitter, self._observers)
        try:
            declared = await self._declare_to(engine, book, tasks, opening=True)
        except BaseException:
            await engine.crash()
            raise
        self._engine, self._book = engine, book
        if self._stopping is None:  # an initialisation that a stop has overtaken never becomes active
            engine.arm()
        return declared

    async def _declare_to(
        self, engine: _Engine, book: ObligationPlanner, tasks: list[TaskSpec], *, opening: bool = False
    ) -> TasksApplied:
        step = "opening the ledger"
        try:
            if opening:
                await engine.open()
            step = "recording the registered tasks"
            return await engine.apply(partial(book.declare, tasks))
        except Exception as error:
            if isinstance(error, TaskTryDeserializeError):
                raise  # it says which record is damaged, and how
            if self._contract.wraps_step_errors:
                if not tasks:
                    raise  # there is no task whose scheduling could fail
                raise _schedule_error(tasks, error) from error
            if step.startswith("opening") and isinstance(error, KronError):
                raise  # it says itself what is wrong with the ledger
            raise SchedulerStepError(step=f"initialize scheduler: {step}", cause=error) from error

    def _after_failure(self) -> None:
        """Do with the running engine what the contract says after a failed re-initialisation."""
        if self._machine.state is _S.STOPPING:
            self._begin_stop()
        elif self._machine.state is _S.UNINITIALIZED and self._engine is not None:
            self._engine.pause_starts()
            self._draining = asyncio.create_task(self._engine.drain(), name="kron drain")
            self._put_aside, self._engine = self._engine, None

    # --- stopping -----------------------------------------------------------------------------------------------------

    def _begin_stop(self) -> None:
        if self._engine is not None:
            self._engine.pause_starts()
        if self._machine.state is _S.RUNNING:
            self._fire("stop() called", None, partial(self._observers.report, SchedulerObserver.on_stop))
        self._stopping = asyncio.create_task(self._stop(), name="kron stop")

    async def _stop(self) -> Exception | None:
        """Return what could not be recorded, if anything. The error of an initialisation is its caller's affair."""
        async with self._turn:
            if self._machine.state is _S.RUNNING:
                self._fire("stop() called", None, partial(self._observers.report, SchedulerObserver.on_stop))
            engine, self._engine = self._engine, None
            self._put_aside = engine or self._put_aside
            draining, self._draining = self._draining, None
            try:
                failure = await engine.drain() if engine is not None else None
                if draining is not None:
                    failure = await draining or failure
            finally:
                self._stopping = None
                if self._machine.state is _S.STOPPING:
                    stopped = partial(self._observers.report, SchedulerObserver.on_stopped)
                    self._fire("all runs have ended", None, stopped)
                    self._fire("initialize() is possible again")
            return failure

    def _fire(
        self, trigger: str, at: Instant | None = None, report: Callable[[], object] = list, /, **fields: object
    ) -> None:
        """Follow a transition; what it shows is reported to the observers and then emitted."""
        events = self._machine.fire(trigger).events
        if events:
            report()
        for name in events:
            named = {field: fields[field] for field in EVENTS[name].required}
            self._emitter.tell(name, at, **named)


@asynccontextmanager
async def running(
    registrations: Sequence[Registration | tuple[Any, ...] | list[Any]], **keywords: Any
) -> AsyncIterator[Scheduler]:
    """Run the tasks as long as the block lasts; the keywords are those of `Scheduler`."""
    scheduler = Scheduler(**keywords)
    await scheduler.initialize(registrations)
    try:
        yield scheduler
    finally:
        await scheduler.stop()


def _schedule_error(tasks: list[TaskSpec], cause: Exception) -> ScheduleTaskError:
    """Return the error that names the task to blame, or none if the ledger failed as a whole."""
    name = cause.task if isinstance(cause, LedgerError) else None
    cron = next((task.cron for task in tasks if task.name == name), None)
    return ScheduleTaskError(name=name, cron_expression=cron, cause=cause)


def resolve_contract(contract: str | Contract) -> Contract:
    """Return the contract of a name, or itself; only those that the library can keep."""
    found = PRESETS.get(contract) if isinstance(contract, str) else contract
    if not isinstance(found, Contract) or found.catch_up is not CatchUp.RUN_ONCE:
        names = [name for name, preset in PRESETS.items() if preset.catch_up is CatchUp.RUN_ONCE]
        raise InvalidDefinitionError(
            field="contract", found=str(contract), reason=f"must be one of {', '.join(names)}, or a Contract like them"
        )
    return found


def _read_ledger(ledger: object) -> TaskLedger:
    if ledger is None:
        return MemoryTaskLedger()
    if isinstance(ledger, str | os.PathLike):
        return SqliteTaskLedger(ledger)
    if not hasattr(ledger, "append"):
        raise InvalidDefinitionError(field="ledger", found=repr(ledger), reason="must be a path or a ledger")
    return cast(TaskLedger, ledger)


def _read_limits(max_concurrent_runs: object, run_timeout: object) -> tuple[int, timedelta | None]:
    """Return how many runs may run at once, 0 for any number, and how long each may take."""
    runs, timeout = max_concurrent_runs, run_timeout
    if runs is not None and (not isinstance(runs, int) or isinstance(runs, bool) or runs < 1):
        raise InvalidDefinitionError(field="max_concurrent_runs", found=repr(runs), reason="must be 1 or more, or None")
    if timeout is not None and (not isinstance(timeout, timedelta) or timeout <= ZERO):
        raise InvalidDefinitionError(
            field="run_timeout", found=repr(timeout), reason="must be a timedelta above zero, or None"
        )
    return runs or 0, timeout


def observe(scheduler: Scheduler, observer: SchedulerObserver) -> None:
    """Report to an observer what the scheduler commits, from now on."""
    scheduler._observers.add(observer)


async def crash(scheduler: Scheduler) -> None:
    """Crash the scheduler: it records and reports nothing more, drops its runs, and leaves its ledger to the next."""
    engines = [scheduler._engine, scheduler._put_aside]
    scheduler._engine = scheduler._put_aside = None
    scheduler._machine = StateMachine(scheduler_table(scheduler._contract), SchedulerState.UNINITIALIZED)
    if scheduler._draining is not None:
        scheduler._draining.cancel()
    for engine in engines:
        if engine is not None:
            await engine.crash()

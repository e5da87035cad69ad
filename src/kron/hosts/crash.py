"""crash(scheduler): end a scheduler as the death of its process would."""

from kron.hosts.library import Scheduler
from kron.rules.lifecycle import Machine, SchedulerState, scheduler_table


async def crash(scheduler: Scheduler) -> None:
    """Cut everything off: nothing more is recorded or told, its runs are gone, and its ledger is free for the next."""
    engines = [scheduler._engine, scheduler._put_aside]
    scheduler._engine = scheduler._put_aside = None
    scheduler._machine = Machine(scheduler_table(scheduler._contract), SchedulerState.UNINITIALIZED)
    if scheduler._draining is not None:
        scheduler._draining.cancel()
    for engine in engines:
        if engine is not None:
            await engine.abandon()

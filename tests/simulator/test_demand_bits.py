"""The scheduler starts what the theory's demand bits demand, at the same second, in every scenario."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

import pytest
from hypothesis import given, settings, strategies as st

from kron import Scheduler
from kron.rules.contract import PRESETS, CatchUp, ChangedTaskHistory, Contract, InterruptedRun
from kron.rules.events import Event
from kron.testing import MemoryTaskLedger, VirtualClock, crash
from tests.simulator.demand_oracle import MINUTE, Config, DemandOracle

ORIGIN = datetime(2026, 3, 1, tzinfo=UTC)
CONTRACTS = [preset for preset in PRESETS.values() if preset.catch_up is CatchUp.RUN_ONCE]
LONGEST_RUN = 40 * MINUTE

Configs: TypeAlias = dict[str, Config]
Step: TypeAlias = tuple[str, int, Configs]
Runs: TypeAlias = list[tuple[bool, int]]
Starts: TypeAlias = list[tuple[int, str]]

config = st.builds(
    Config, st.frozensets(st.sampled_from([0, 1, 2, 7, 30, 59]), min_size=1), st.sampled_from([1, 59, 60, 90, 3600])
)
configs = st.dictionaries(st.sampled_from("ab"), config, max_size=2)
pauses = st.one_of(st.integers(0, 130), st.integers(0, 90 * MINUTE))
steps = st.lists(st.tuples(st.sampled_from(["crash", "stop", "wait", "wait"]), pauses, configs), max_size=6)
runs = st.lists(st.tuples(st.booleans(), st.sampled_from([0, 0, 1, 59, 60, LONGEST_RUN])), min_size=1, max_size=4)


async def lived(contract: Contract, begin: int, first: Configs, life: list[Step], outcomes: Runs) -> Starts:
    """Live the life with a real scheduler on a virtual clock; return who started when."""
    clock, ledger = VirtualClock(ORIGIN + timedelta(seconds=begin)), MemoryTaskLedger()
    starts: Starts = []
    counts = dict.fromkeys("ab", 0)
    events: list[Event] = []

    def task(name: str, config: Config) -> tuple[object, ...]:
        async def callback() -> None:
            succeeds, seconds = outcomes[counts[name] % len(outcomes)]
            counts[name] += 1
            starts.append((round((clock.now() - ORIGIN) / timedelta(seconds=1)), name))
            await clock.sleep(timedelta(seconds=seconds))
            if not succeeds:
                raise ValueError(name)

        minutes = ",".join(map(str, sorted(config.minutes)))
        return (name, f"{minutes} * * * *", callback, timedelta(seconds=config.delay))

    async def begun(configs: Configs) -> Scheduler:
        scheduler = Scheduler(clock=clock, ledger=ledger, contract=contract, timezone="UTC", sink=events.append)
        await scheduler.initialize([task(name, config) for name, config in configs.items()])
        await clock.advance(timedelta(0))
        return scheduler

    scheduler = await begun(first)
    for what, seconds, configs in life:
        if what == "crash":
            await crash(scheduler)
            await clock.advance(timedelta(seconds=seconds))
            scheduler = await begun(configs)
        elif what == "stop":
            stopping = asyncio.ensure_future(scheduler.stop())
            await clock.advance(timedelta(seconds=seconds + LONGEST_RUN))
            await stopping
            scheduler = await begun(configs)
        else:
            await clock.advance(timedelta(seconds=seconds))
    await crash(scheduler)
    return starts


def demanded(contract: Contract, begin: int, first: Configs, life: list[Step], outcomes: Runs) -> Starts:
    """Simulate the same scenario with the oracle alone."""
    oracle = DemandOracle(
        begin,
        lambda _, n: outcomes[n % len(outcomes)],
        resets=contract.changed_task_history is ChangedTaskHistory.RESET,
        restarts=contract.interrupted_run is InterruptedRun.RESTART,
    )
    oracle.initialize(first)
    for what, seconds, configs in life:
        if what == "crash":
            oracle.crash()
            oracle.advance(seconds)
            oracle.initialize(configs)
        elif what == "stop":
            oracle.stop()
            oracle.advance(seconds + LONGEST_RUN)
            oracle.initialize(configs)
        else:
            oracle.advance(seconds)
    return oracle.starts


@pytest.mark.slow
@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.name)
@settings(max_examples=60, deadline=None)
@given(begin=st.integers(0, 7200), first=configs, life=steps, outcomes=runs)
def test_each_task_that_owes_a_run_starts_at_that_second_and_no_other(
    contract: Contract, begin: int, first: Configs, life: list[Step], outcomes: Runs
) -> None:
    starts = asyncio.run(lived(contract, begin, first, life, outcomes))

    assert sorted(starts) == sorted(demanded(contract, begin, first, life, outcomes))

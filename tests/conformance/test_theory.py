"""The formal theory: eventful schedulers are recorded and judged property by property."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

from kron import Scheduler
from kron.errors import KronError, ScheduleDuplicateTaskError
from kron.hosts.library.scheduler import observe
from kron.rules.contract import Contract
from kron.testing import crash
from kron.theory.checker import Checker
from kron.theory.formula import TruthValue
from kron.theory.trace_format import TraceEvent, TraceHeader
from kron.trace.recorder import TraceRecorder
from tests.conformance.citing import clause
from tests.conformance.contract_harness import HOUR, MINUTE, ContractHarness, at, disk_full


class TracedHarness(ContractHarness):
    """A harness that records its schedulers into one trace."""

    def __init__(self, contract: Contract, now: str = "10:59:30") -> None:
        super().__init__(contract, now)
        self.positions: list[TraceEvent] = []

    def scheduler(self, ledger: Path | None = None) -> Scheduler:
        last = self.positions[-1].time_ms if self.positions else None
        recorder = TraceRecorder(self.clock.now, self.positions.append, last=last)
        scheduler = Scheduler(
            ledger=ledger or self.disk,
            contract=self.contract.name,
            clock=self.clock,
            sink=self.events.append,
            timezone=self.timezone,
        )
        observe(scheduler, recorder)
        return scheduler

    async def crash(self, scheduler: Scheduler) -> None:
        """Let a scheduler die, and note it."""
        await crash(scheduler)
        self.positions.append(TraceEvent(self.positions[-1].time_ms, "UnexpectedShutdown", {}))

    def violated(self, *names: str) -> dict[str, str]:
        """Return which of the properties are violated, each with the explanation; all of them must be decided."""
        checker = Checker(TraceHeader(self.contract.name))
        for position in self.positions:
            checker.read(position)
        found = {finding.property.name: finding for finding in checker.report().findings}
        assert {found[name].verdict for name in names} <= {TruthValue.HOLDS, TruthValue.VIOLATED}
        return {name: found[name].explanation for name in names if found[name].verdict is TruthValue.VIOLATED}


# --- the lives --------------------------------------------------------------------------------------------------------


async def ordinary(harness: TracedHarness) -> None:
    """Runs that succeed, fail, are tried again, last too long; a stop and a start after it."""
    tasks = [
        harness.task("quick", "0,10,20,30,40,50 * * * *"),
        harness.task("failing", "0 * * * *", fails=3, retry=7 * MINUTE),
        harness.task("long", "0,15,30,45 * * * *", takes=40 * MINUTE),
        harness.task("preempted", "5,25 * * * *", fails=2, retry=2 * HOUR),
    ]
    scheduler = await harness.start(*tasks)
    await harness.until("14:20")
    stopping = asyncio.create_task(scheduler.stop())
    await harness.until("15:07:10")
    await stopping
    scheduler = await harness.start(*tasks)
    await harness.until("16:00")
    await _end(harness, scheduler)


async def crashing(harness: TracedHarness) -> None:
    """Crashes while tasks run, while they wait for a retry, and while nothing happens."""
    tasks = [
        harness.task("long", "0,30 * * * *", takes=20 * MINUTE),
        harness.task("failing", "0 * * * *", fails=1, retry=30 * MINUTE),
        harness.task("rare", "0 12 * * *"),
    ]
    for moment, back in (("11:10", "11:12:20"), ("11:21", "13:05"), ("13:06", "13:06:30"), ("13:50", "15:40:15")):
        scheduler = await harness.start(*tasks)
        await harness.until(moment)
        await harness.crash(scheduler)
        await harness.until(back)
    scheduler = await harness.start(*tasks)
    await harness.until("16:59")
    await _end(harness, scheduler)


async def lists(harness: TracedHarness) -> None:
    """Lists that are wrong, refused or changed, a disk that fails, a stop that overtakes an initialisation."""
    report, other = harness.task(), harness.task("other", "30 * * * *", takes=5 * MINUTE)
    with suppress(KronError):
        await harness.start(report, report)
    harness.disk.fail_next(error=disk_full())
    with suppress(KronError):
        await harness.start(report)
    scheduler = await harness.start(report, other)
    with suppress(KronError):
        await scheduler.initialize([report])
    await harness.until("11:31")
    await _end(harness, scheduler)
    scheduler = await harness.start(harness.task(cron="20 * * * *"), harness.task("third"))
    await harness.until("12:40")
    await _end(harness, scheduler)
    scheduler = harness.scheduler()
    await asyncio.gather(scheduler.initialize([report, other]), scheduler.stop())
    await harness.until("13:40")


async def _end(harness: TracedHarness, scheduler: Scheduler) -> None:
    stopping = asyncio.create_task(scheduler.stop())
    await harness.clock.advance(HOUR)
    await stopping


LIVES: list[Callable[[TracedHarness], Awaitable[None]]] = [ordinary, crashing, lists]
in_every_life = pytest.mark.parametrize("life", LIVES, ids=lambda life: life.__name__)
Life = Callable[[TracedHarness], Awaitable[None]]


@cache  # a life is judged by many tests
def lived(contract: Contract, life: Life) -> TracedHarness:
    """Return the harness after a life."""
    harness = TracedHarness(contract)
    asyncio.run(life(harness))  # type: ignore[arg-type] # the lives are coroutines
    assert {"InitStart", "RunStart", "RunSuccess", "StopEnd"} <= {each.kind for each in harness.positions}
    return harness


# --- safety -----------------------------------------------------------------------------------------------------------


@in_every_life
@clause("theory.start-safety")
def test_nothing_starts_without_an_obligation(contract: Contract, life: Life) -> None:
    assert lived(contract, life).violated("S1") == {}


@in_every_life
@clause("theory.conservation")
def test_of_the_starts_for_one_due_instant_at_most_one_succeeds(contract: Contract, life: Life) -> None:
    assert lived(contract, life).violated("S2") == {}


@in_every_life
@clause("theory.stop-end")
def test_a_stop_never_returns_while_a_task_runs(contract: Contract, life: Life) -> None:
    assert lived(contract, life).violated("S3") == {}


@in_every_life
@clause("theory.ends-follow-starts", "world.no-end-after-crash")
def test_every_recorded_end_belongs_to_a_run_in_flight(contract: Contract, life: Life) -> None:
    assert lived(contract, life).violated("S4", "E6") == {}


@in_every_life
@clause("theory.registrations")
def test_valid_lists_are_accepted_and_invalid_ones_refused(contract: Contract, life: Life) -> None:
    assert lived(contract, life).violated("S6") == {}


@clause("theory.duplicates", "theory.registrations")
async def test_a_list_with_the_same_task_twice_is_refused_and_nothing_of_it_starts(contract: Contract) -> None:
    harness = TracedHarness(contract)

    with pytest.raises(ScheduleDuplicateTaskError):
        await harness.start(harness.task(), harness.task("other"), harness.task())
    await harness.until("11:30")

    assert [position.kind for position in harness.positions] == ["InitStart", "InitFailure"]
    assert harness.began == []


@in_every_life
@clause("theory.no-overlap")
def test_a_task_never_starts_beside_its_own_run(contract: Contract, life: Life) -> None:
    assert lived(contract, life).violated("T2") == {}


@in_every_life
@clause("theory.quiet-after-crash")
def test_after_a_crash_nothing_starts_before_a_successful_initialisation(contract: Contract, life: Life) -> None:
    assert lived(contract, life).violated("T1") == {}


@in_every_life
@clause("theory.quiet-after-stop")
def test_after_a_stop_nothing_starts_before_a_successful_initialisation(contract: Contract, life: Life) -> None:
    assert lived(contract, life).violated("T3") == {}


@clause("theory.crash-dominates")
async def test_at_a_crash_and_after_it_nothing_is_recorded_emitted_or_called(contract: Contract) -> None:
    harness = TracedHarness(contract)
    scheduler = await harness.start(harness.task(takes=10 * MINUTE), harness.task("due at the crash", "5 * * * *"))
    await harness.until("11:04:59")

    crashing = asyncio.create_task(crash(scheduler))
    before = len(harness.positions), len(harness.events), dict(harness.store.records)
    await harness.until("11:30")
    await crashing

    assert (len(harness.positions), len(harness.events), harness.store.records) == before
    assert (harness.began, harness.ended) == ([("report", at("11:00"))], [])


# --- liveness ---------------------------------------------------------------------------------------------------------


@in_every_life
@clause("theory.obligations")
def test_every_obligation_is_met_within_the_bound(contract: Contract, life: Life) -> None:
    assert lived(contract, life).violated("L1") == {}


@in_every_life
@clause("theory.initialization-ends")
def test_every_initialisation_returns_within_the_bound(contract: Contract, life: Life) -> None:
    harness = lived(contract, life)

    begun = [each.fields["call"] for each in harness.positions if each.kind == "InitStart"]
    ended = [each.fields["call"] for each in harness.positions if each.kind in ("InitSuccess", "InitFailure")]
    assert harness.violated("L2") == {}
    assert sorted(map(str, begun)) == sorted(map(str, ended))


@in_every_life
@clause("theory.stop-ends")
def test_every_stop_returns_when_all_runs_have_ended(contract: Contract, life: Life) -> None:
    harness = lived(contract, life)

    events = [each.kind for each in harness.positions]
    assert harness.violated("L3") == {}
    assert events.count("StopStart") == events.count("StopEnd") > 0


@clause("theory.linear")
async def test_a_list_twice_as_long_costs_twice_the_evaluations_and_writes(contract: Contract) -> None:
    costs = [await _cost(contract, number) for number in (200, 400, 800)]

    assert [evaluated for evaluated, _ in costs] == [200, 400, 800]
    assert costs[2][1] - costs[1][1] <= 2 * (costs[1][1] - costs[0][1])


async def _cost(contract: Contract, number: int) -> tuple[int, int]:
    """Return how many tasks were evaluated and how often was written for one due instant of so many tasks."""
    harness = ContractHarness(contract, "10:59:30")
    await harness.start(*(harness.task(f"task {each}") for each in range(number)))
    await harness.until("11:00")
    assert len(harness.began) == number
    evaluated = sum(int(str(event.fields["tasksEvaluated"])) for event in harness.events_named("PollCompleted"))
    return evaluated, harness.disk.appends

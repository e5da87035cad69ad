"""Tests of JobEngine.apply: the given jobs are declared, at the start and later, with other calls in between."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from kron.decision.decide import decide
from kron.errors import LedgerWriteError
from kron.rules.job_spec import JobSpec
from tests.calls import counted
from tests.engine.jobs.restartable_host import HOUR, MINUTE, NOON, SECOND, work
from tests.engine.jobs.scripted_host import ScriptedHost

HOURLY, SALTED = work("0 * * * *"), work("0 * * * * @seed(stable,salt=x)")
OTHER, HALF_HOURLY = work("0 * * * *", "b"), work("30 * * * *", "b")
WIDE, WIDER = "0 * * * * @win(after,50m)", "0 * * * * @win(after,52m)"


async def test_a_declared_job_starts_when_it_is_due() -> None:
    host = ScriptedHost()
    await host.begin(HOURLY)
    assert host.runner.started == []

    await host.clock.advance(MINUTE)

    assert host.runner.started == ["a"]


@pytest.mark.parametrize("starts", [False, True])
async def test_apply_declares_the_jobs_given_now_before_and_after_the_start(*, starts: bool) -> None:
    host = ScriptedHost()
    await host.engine.open()
    await host.engine.apply([HOURLY, OTHER, work(name="same")])
    if starts:
        host.engine.start()

    applied = await host.engine.apply([work("0 * * * *", "new"), HALF_HOURLY, work(name="same")])

    assert applied == (NOON - MINUTE, ["new"], ["b"], ["a"], ["same"])
    assert set(host.engine.specs()) == {"new", "b", "same"}


@pytest.mark.parametrize("starts", [False, True])
async def test_a_declaration_whose_append_fails_changes_nothing(*, starts: bool) -> None:
    host = ScriptedHost()
    await host.engine.open()
    await host.engine.apply([HOURLY, OTHER])
    before, recorded = host.engine.specs(), dict(host.ledger.jobs)
    if starts:
        host.engine.start()
    host.ledger.is_full = True

    with pytest.raises(LedgerWriteError):
        await host.engine.apply([SALTED, work(name="c")])

    host.ledger.is_full = False
    assert (host.engine.specs(), host.ledger.jobs) == (before, recorded)
    if not starts:
        host.engine.start()
    await host.clock.advance(MINUTE)
    assert host.runner.started == ["a", "b"]


async def test_a_run_starts_while_a_declaration_is_prepared() -> None:
    host = ScriptedHost()
    await host.begin(HOURLY, OTHER)
    host.ledger.looking_up.close()
    applying = asyncio.ensure_future(host.engine.apply([SALTED, OTHER]))
    await host.ledger.looking_up.reached.wait()

    await host.engine.trigger("b")

    assert not applying.done()
    assert host.runner.started == ["b"]
    host.ledger.looking_up.opened.set()
    assert (await applying).changed == ["a"]


async def test_new_definitions_are_written_ahead_of_their_declaration_in_parts() -> None:
    host = ScriptedHost()
    await host.begin()
    host.ledger.batches.clear()

    await host.engine.apply([work("0 0 1 1 *", f"job {number}", command=str(number)) for number in range(501)])

    ahead, declaration = host.ledger.batches[:-1], host.ledger.batches[-1]
    assert [(len(each.definitions), len(each.jobs)) for each in ahead] == [(500, 0), (1, 0)]
    assert len(declaration.jobs) == 501


async def test_the_objects_of_a_declaration_are_made_under_the_guard_of_the_host() -> None:
    entered: list[bool] = []

    @contextmanager
    def guard() -> Iterator[None]:
        entered.append(True)
        yield
        entered.append(False)

    host = ScriptedHost(gc_guard=guard)
    await host.begin(HOURLY)
    assert entered == [True, False]

    await host.engine.apply([SALTED])

    assert entered == [True, False] * 3  # to prepare and to declare


@pytest.mark.parametrize("starts", [False, True])
async def test_a_recorded_job_is_spared_if_a_file_that_may_define_it_could_not_be_read(*, starts: bool) -> None:
    host = ScriptedHost()
    await host.begin(HOURLY, OTHER)
    await host.crash()
    await host.engine.open()
    if starts:
        await host.engine.apply([HOURLY], spares_absent=True)
        host.engine.start()

    spared = await host.engine.apply([HOURLY], spares_absent=True)
    assert (spared.removed, host.ledger.jobs["b"].is_declared) == ([], True)

    removed = await host.engine.apply([HOURLY])
    assert (removed.removed, host.ledger.jobs["b"].is_declared) == (["b"], False)


async def test_a_period_that_starts_while_a_declaration_is_prepared_is_not_owed_again() -> None:
    host = ScriptedHost()
    await host.begin(work(WIDE))
    chosen = host.engine.expected_starts()["a"]
    await host.clock.advance_to(chosen - SECOND)
    host.ledger.looking_up.close()
    applying = asyncio.ensure_future(host.engine.apply([work(WIDER)]))
    await host.ledger.looking_up.reached.wait()

    host.clock.delay(2 * SECOND)
    host.engine.apply_settings(slack=30 * SECOND, max_active=0)  # it wakes the loop up, which waits for an instant
    await host.runner.has_started.wait()
    host.ledger.looking_up.opened.set()
    await applying
    host.runner.end(next(iter(host.runner.running)))

    assert host.engine.expected_starts()["a"] >= NOON + HOUR
    await host.clock.advance_to(NOON + HOUR - SECOND)
    assert (host.runner.started, host.refused) == (["a"], [])


@pytest.mark.parametrize("after", [[work(WIDER, str(number)) for number in range(20)], []], ids=["changed", "removed"])
async def test_no_second_is_chosen_on_the_loop_while_jobs_are_declared(after: Sequence[JobSpec]) -> None:
    host = ScriptedHost()
    with counted(decide) as calls:
        await host.engine.open()
        await host.engine.apply([work(WIDE, str(number)) for number in range(20)])
    assert not calls
    host.engine.start()
    await host.clock.advance(2 * MINUTE)

    with counted(decide) as calls:
        await host.engine.apply(after)

    assert not calls

"""Work prepared before a declaration does not change its result: it is used if still valid, and dropped if not."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from kron.decision.timing import Timing
from kron.engine.jobs.declaration import jobs_needing_history
from kron.engine.jobs.preparation import Basis, prepare_in_parts, still_valid
from kron.errors import JobActiveError
from kron.rules.due import ChosenTimes
from kron.rules.effort import finish
from tests.engine.jobs.restartable_host import HOUR, MINUTE, SECOND, RestartableHost, work
from tests.rules.test_period_queue import LINES

MEANWHILE = ("nothing", "trigger", "suspend", "max_active")
SUSPENDED = ("no", "by command", "by its file")


async def live(old: str, new: str, *, before: int, after: int, meanwhile: str, suspended: str, ahead: bool) -> Any:
    """Change a host's definition, and return its log, its ledger and its events."""
    host = RestartableHost()
    jobs = [work(old, deadline="20m", suspend=suspended == "by its file"), work("0 * * * *", name="other")]
    await host.begin(*jobs)
    if suspended == "by command":
        await host.suspend("a")
    host.runner.lasts = 7 * SECOND
    await host.clock.advance(before * SECOND)
    changed = [work(new, deadline="20m"), jobs[1], work(old, name="more")]
    prepared = await host.prepare(*changed) if ahead else {}
    if meanwhile == "trigger":
        with suppress(JobActiveError):  # a period of it may have begun just before
            await host.trigger("a")
    elif meanwhile == "suspend":
        await host.suspend("a")
    elif meanwhile == "max_active":
        host.runs.max_active = 1
    await host.clock.advance(after * SECOND)
    await host.declare(*changed, prepared=prepared)
    host.runs.max_active = 0
    await host.clock.advance(5 * HOUR)
    await host.engine.crash()
    ledger = host.ledger
    return host.log, ledger.jobs, ledger.closed, ledger.runs, ledger.ends, ledger.definitions


@pytest.mark.slow
@settings(max_examples=25)
@given(
    st.sampled_from([*LINES, "@reboot"]),
    st.sampled_from([*LINES, "@reboot"]),
    st.integers(0, 4 * 3600),
    st.sampled_from([0, 1, 2, 30, 60, 600]),
    st.sampled_from(MEANWHILE),
    st.sampled_from(SUSPENDED),
)
@example("0 * * * *", "* * * * *", 10, 60, "nothing", "no")
@example("0 * * * * @win(after,1h)", "0 * * * * @win(around,1h)", 3600, 60, "nothing", "no")
@example("* * * * * @win(after,30m)", "*/5 * * * * @win(around,2h)", 4000, 2, "trigger", "no")
@example("* * * * * @win(after,30m)", "*/5 * * * * @win(around,2h)", 4000, 30, "nothing", "by command")
@example("*/3 * * * * @win(after,30m)", "0 0 * * *", 4000, 60, "nothing", "by its file")
def test_a_declaration_is_the_same_with_and_without(
    old: str, new: str, before: int, after: int, meanwhile: str, suspended: str
) -> None:
    def lived_through(*, ahead: bool) -> Any:
        return asyncio.run(
            live(old, new, before=before, after=after, meanwhile=meanwhile, suspended=suspended, ahead=ahead)
        )

    assert lived_through(ahead=True) == lived_through(ahead=False)


async def test_a_valid_preparation_is_used() -> None:
    host = RestartableHost()
    await host.begin(work("0 * * * *"))
    changed, more = work("30 * * * *"), work(name="more")
    prepared = await host.prepare(changed, more)
    await host.clock.advance(30 * SECOND)
    await host.declare(changed, more, prepared=prepared)
    assert [host.planner.jobs[name] for name in ("a", "more")] == [prepared[name].job for name in ("a", "more")]
    assert host.planner.jobs["a"].record.declared_at == host.clock.now()
    await host.engine.crash()


@pytest.mark.parametrize("line", ["30 * * * *", "1 12 * * *"], ids=["the old came", "the new came"])
async def test_a_preparation_that_a_period_has_overtaken_is_not_used(line: str) -> None:
    host = RestartableHost()
    await host.begin(work("0 12 * * *" if line.startswith("30") else "0 11 * * *"))
    prepared = await host.prepare(work(line))
    assert still_valid(host.planner, prepared, host.clock.now()) == prepared
    await host.clock.advance(2 * MINUTE)
    assert still_valid(host.planner, prepared, host.clock.now()) == {}
    await host.engine.crash()


async def test_the_preparation_of_a_suspended_job_is_valid_until_its_next_period() -> None:
    host = RestartableHost()
    old = "0 * * * * @win(after,50m)"
    await host.begin(work(old), work(old, name="b", suspend=True))
    await host.suspend("a")
    await host.clock.advance(5 * HOUR + MINUTE)  # in the middle of a window
    first = {name: ChosenTimes(Timing.parse(old, identity=name)).next(host.clock.now()) for name in "ab"}
    prepared = await host.prepare(work("0 0 1 1 *"), work("0 0 1 1 *", name="b", suspend=True))
    for name, came in first.items():
        assert came is not None
        assert came < host.clock.now() + 50 * MINUTE
        assert name in still_valid(host.planner, prepared, came - SECOND)
        assert name not in still_valid(host.planner, prepared, came)
    await host.engine.crash()


async def test_the_preparation_of_a_job_with_a_waiting_run_is_valid_until_another_run_waits() -> None:
    host = RestartableHost()
    await host.begin(work("* * * * *", concurrency="replace"))
    host.runner.lasts, host.runner.obeys_sigterm = HOUR, False
    await host.clock.advance(3 * MINUTE)
    assert host.planner.jobs["a"].queue
    prepared = await host.prepare(work("0 0 1 1 *", concurrency="replace"))
    assert still_valid(host.planner, prepared, host.clock.now()) == prepared
    await host.clock.advance(MINUTE)
    assert still_valid(host.planner, prepared, host.clock.now()) == {}
    await host.engine.crash()


async def test_a_preparation_from_history_that_a_start_has_overtaken_is_not_used() -> None:
    host = RestartableHost()
    old, new = "0 * * * * @win(after,50m)", "0 * * * * @win(after,52m)"
    await host.begin(work(old))
    started = ChosenTimes(Timing.parse(old, identity="a")).next(host.clock.now() + MINUTE)
    assert started is not None
    await host.clock.advance(started - SECOND - host.clock.now())
    asked = jobs_needing_history(host.planner, [work(new)], host.clock.now())
    bases = {identity: Basis.of(host.planner, identity) for identity in asked}
    now, handled = host.clock.now(), await host.store.handled(asked)

    await host.clock.advance(2 * SECOND)  # the period starts while other jobs are prepared
    prepared = finish(prepare_in_parts(host.planner, [work(new)], now, handled, bases=bases))

    assert set(prepared) == {"a"}
    assert still_valid(host.planner, prepared, host.clock.now()) == {}
    await host.engine.crash()


async def test_other_settings_of_a_job_that_was_set_aside_let_it_run_again() -> None:
    host = RestartableHost()
    await host.begin(work("0 * * * *"))
    host.planner.set_aside("a", ValueError("a bug"))

    changed = work("0 * * * *", command="other")
    await host.declare(changed, prepared=await host.prepare(changed))
    await host.clock.advance(HOUR + SECOND)

    assert [f"{each.nominal:%H:%M}" for each in host.ledger.runs.values()] == ["12:00"]
    await host.engine.crash()

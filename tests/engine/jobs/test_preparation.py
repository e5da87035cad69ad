"""What is computed before a declaration changes nothing of it: used if it still holds, and left if it does not."""

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
from tests.engine.jobs.world import HOUR, MINUTE, SECOND, RestartableHost, lived, work
from tests.rules.test_period_queue import LINES

MEANWHILE = ("nothing", "trigger", "suspend", "max_active")
SUSPENDED = ("no", "by command", "by its file")


async def live(old: str, new: str, *, before: int, after: int, meanwhile: str, suspended: str, ahead: bool) -> Any:
    """Let a host go from one definition to another, and return all that became of it."""
    world = RestartableHost()
    jobs = [work(old, deadline="20m", suspend=suspended == "by its file"), work("0 * * * *", name="other")]
    await world.begin(*jobs)
    if suspended == "by command":
        await world.suspend("a")
    world.runner.lasts = 7 * SECOND
    await world.clock.advance(before * SECOND)
    changed = [work(new, deadline="20m"), jobs[1], work(old, name="more")]
    prepared = await world.prepare(*changed) if ahead else {}
    if meanwhile == "trigger":
        with suppress(JobActiveError):  # a period of it may have begun just before
            await world.trigger("a")
    elif meanwhile == "suspend":
        await world.suspend("a")
    elif meanwhile == "max_active":
        world.runs.max_active = 1
    await world.clock.advance(after * SECOND)
    await world.declare(*changed, prepared=prepared)
    world.runs.max_active = 0
    await world.clock.advance(5 * HOUR)
    await world.engine.crash()
    ledger = world.ledger
    return world.told, ledger.jobs, ledger.closed, ledger.runs, ledger.ends, ledger.definitions


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


def test_what_still_holds_is_used() -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(work("0 * * * *"))
        changed, more = work("30 * * * *"), work(name="more")
        prepared = await world.prepare(changed, more)
        await world.clock.advance(30 * SECOND)
        await world.declare(changed, more, prepared=prepared)
        assert [world.book.jobs[name] for name in ("a", "more")] == [prepared[name].job for name in ("a", "more")]
        assert world.book.jobs["a"].record.declared_at == world.clock.now()

    lived(story)


@pytest.mark.parametrize("line", ["30 * * * *", "1 12 * * *"], ids=["the old came", "the new came"])
def test_what_a_period_has_overtaken_is_not_used(line: str) -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(work("0 12 * * *" if line.startswith("30") else "0 11 * * *"))
        prepared = await world.prepare(work(line))
        assert still_valid(world.book, prepared, world.clock.now()) == prepared
        await world.clock.advance(2 * MINUTE)
        assert still_valid(world.book, prepared, world.clock.now()) == {}

    lived(story)


def test_what_is_prepared_of_a_suspended_job_holds_until_a_period_of_it_comes() -> None:
    async def story(world: RestartableHost) -> None:
        old = "0 * * * * @win(after,50m)"
        await world.begin(work(old), work(old, name="b", suspend=True))
        await world.suspend("a")
        await world.clock.advance(5 * HOUR + MINUTE)  # in the middle of a window
        first = {name: ChosenTimes(Timing.parse(old, identity=name)).next(world.clock.now()) for name in "ab"}
        prepared = await world.prepare(work("0 0 1 1 *"), work("0 0 1 1 *", name="b", suspend=True))
        for name, came in first.items():
            assert came is not None
            assert came < world.clock.now() + 50 * MINUTE
            assert name in still_valid(world.book, prepared, came - SECOND)
            assert name not in still_valid(world.book, prepared, came)

    lived(story)


def test_what_is_prepared_of_a_job_whose_next_run_waits_holds_until_something_else_waits() -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(work("* * * * *", concurrency="replace"))
        world.runner.lasts, world.runner.heeds = HOUR, False
        await world.clock.advance(3 * MINUTE)
        assert world.book.jobs["a"].queue
        prepared = await world.prepare(work("0 0 1 1 *", concurrency="replace"))
        assert still_valid(world.book, prepared, world.clock.now()) == prepared
        await world.clock.advance(MINUTE)
        assert still_valid(world.book, prepared, world.clock.now()) == {}

    lived(story)


def test_what_is_prepared_from_an_answer_that_a_start_has_overtaken_is_not_used() -> None:
    async def story(world: RestartableHost) -> None:
        old, new = "0 * * * * @win(after,50m)", "0 * * * * @win(after,52m)"
        await world.begin(work(old))
        started = ChosenTimes(Timing.parse(old, identity="a")).next(world.clock.now() + MINUTE)
        assert started is not None
        await world.clock.advance(started - SECOND - world.clock.now())
        asked = jobs_needing_history(world.book, [work(new)], world.clock.now())
        bases = {identity: Basis.of(world.book, identity) for identity in asked}
        now, handled = world.clock.now(), await world.store.handled(asked)

        await world.clock.advance(2 * SECOND)  # the period starts while other jobs are prepared
        prepared = finish(prepare_in_parts(world.book, [work(new)], now, handled, bases=bases))

        assert set(prepared) == {"a"}
        assert still_valid(world.book, prepared, world.clock.now()) == {}

    lived(story)


def test_other_settings_of_a_job_that_was_set_aside_let_it_run_again() -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(work("0 * * * *"))
        world.book.set_aside("a", ValueError("a bug"))

        changed = work("0 * * * *", command="other")
        await world.declare(changed, prepared=await world.prepare(changed))
        await world.clock.advance(HOUR + SECOND)

        assert [f"{each.nominal:%H:%M}" for each in world.ledger.runs.values()] == ["12:00"]

    lived(story)

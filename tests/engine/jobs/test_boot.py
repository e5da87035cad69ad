"""Boot jobs run once after each boot of the machine, whatever happens in between, and never because of an edit."""

from collections.abc import Awaitable, Callable

import pytest

from tests.engine.jobs.restartable_host import HOUR, MINUTE, SECOND, RestartableHost, drained, work


async def test_a_job_of_the_boot_runs_once_for_each_boot() -> None:
    host = RestartableHost()
    await host.begin(work("@reboot"))
    await host.crash(down=HOUR)
    await host.begin(work("@reboot"))
    host.options["boot_id"] = "another"
    await host.crash(down=HOUR)
    await host.begin(work("@reboot"))
    await host.engine.crash()

    assert host.log == ["11:59:00 a boot", "13:59:00 a boot"]


async def test_a_new_file_is_no_boot() -> None:
    host = RestartableHost()
    await host.begin()
    await host.declare(work("@reboot"))
    await host.clock.advance(HOUR)
    await host.engine.crash()

    assert host.log == []


@pytest.mark.parametrize("end", [drained, RestartableHost.crash], ids=["stopped", "crashed"])
async def test_a_job_of_the_boot_that_waits_is_left_to_the_next_life(
    end: Callable[[RestartableHost], Awaitable[None]],
) -> None:
    works = (work("@reboot", "a"), work("@reboot", "b"))

    host = RestartableHost(max_active=1)
    host.runner.lasts = HOUR
    await host.begin(*works)
    await end(host)
    await host.begin(*works)
    await host.clock.advance(2 * HOUR)
    await host.engine.crash()

    log = [line.partition(" ")[2] for line in host.log]
    assert (log.count("a boot"), log.count("b boot")) == (1, 1)


async def test_a_waiting_boot_job_does_not_begin_while_it_is_suspended() -> None:
    host = RestartableHost(max_active=1)
    host.runner.lasts = HOUR
    await host.begin(work("@reboot", "a"), work("@reboot", "b"))
    await host.suspend("b")
    await host.clock.advance(3 * HOUR)
    await host.engine.crash()

    assert host.log == ["11:59:00 a boot"]


async def test_a_job_of_the_boot_that_is_replaced_before_it_begins_does_not_come_again() -> None:
    host = RestartableHost(max_active=1)
    host.runner.lasts = HOUR
    await host.begin(work("@reboot", "b"), work("@reboot", "a", concurrency="replace"))
    await host.trigger("a")
    await host.clock.advance(3 * HOUR)

    await host.crash()
    await host.begin(work("@reboot", "b"), work("@reboot", "a", concurrency="replace"))
    await host.clock.advance(3 * HOUR)
    await host.engine.crash()

    log = [line.partition(" ")[2] for line in host.log]
    assert log == ["b boot", "a replaced", "a trigger"]


async def test_a_job_of_the_boot_that_could_not_be_recorded_is_started_later() -> None:
    host = RestartableHost()
    await host.engine.open()
    await host.declare(work("@reboot"))
    host.ledger.failures = 1
    host.engine.arm()
    await host.clock.advance(MINUTE)
    await host.engine.crash()

    assert host.log == ["11:59:01 a boot"]


@pytest.mark.parametrize("log", [[], ["12:00:00 a boot"]], ids=["held", "resumed"])
async def test_a_job_of_the_boot_that_was_held_is_started_when_it_is_let_go_and_not_by_a_reload(
    log: list[str],
) -> None:
    host = RestartableHost()
    await host.engine.open()
    await host.declare(work("@reboot"))
    await host.suspend("a")
    host.engine.arm()
    await host.clock.advance(MINUTE)
    if log:
        await host.resume("a")
    await host.clock.advance(SECOND)
    await host.declare(work("@reboot"))
    await host.clock.advance(MINUTE)
    await host.engine.crash()

    assert host.log == log


async def test_a_job_that_becomes_one_of_the_boot_is_not_started_by_that() -> None:
    host = RestartableHost()
    await host.begin(work())
    await host.declare(work("@reboot"))
    await host.clock.advance(MINUTE)
    await host.engine.crash()

    assert host.log == []


async def test_a_job_of_the_boot_that_waits_and_becomes_another_does_not_begin() -> None:
    host = RestartableHost(max_active=1)
    host.runner.lasts = HOUR
    await host.begin(work("@reboot", "a"), work("@reboot", "b"))
    await host.declare(work("@reboot", "a"), work("0 0 1 1 *", "b"))
    await host.clock.advance(3 * HOUR)
    await host.engine.crash()

    assert host.log == ["11:59:00 a boot"]


async def test_a_job_of_the_boot_that_was_removed_and_is_back_at_a_start_does_not_run_again() -> None:
    host = RestartableHost()
    await host.begin(work("@reboot"))
    await host.declare()
    await host.crash(down=HOUR)
    await host.begin(work("@reboot"))
    await host.clock.advance(HOUR)
    await host.engine.crash()

    assert host.log == ["11:59:00 a boot"]

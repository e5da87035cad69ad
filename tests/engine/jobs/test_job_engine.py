"""The verbs of JobEngine, on a ledger in memory, a virtual clock and runs that last as long as a test says."""

import asyncio
from datetime import timedelta
from typing import cast

import pytest

from kron.errors import LedgerWriteError, SchedulerNotRunningError, UnknownJobError
from kron.rules.job_record import ResultCode
from kron.rules.periods import HandledPeriods
from tests.engine.jobs.restartable_host import DAY, HOUR, MINUTE, NOON, SECOND, work
from tests.engine.jobs.scripted_host import ScriptedHost

HOURLY, SALTED = work("0 * * * *"), work("0 * * * * @seed(stable,salt=x)")
OTHER, HALF_HOURLY = work("0 * * * *", "b"), work("30 * * * *", "b")
LONG, WEEK = "* * * * * @avoid(dow=MON)", 7 * DAY  # a week of it takes long to judge


# --- recover ----------------------------------------------------------------------------------------------------------


async def test_a_survivor_that_is_found_again_is_not_started_twice_and_its_end_is_recorded() -> None:
    host = ScriptedHost()
    await host.begin(HOURLY)
    await host.clock.advance(MINUTE)
    await host.crash(down=MINUTE)
    (run_id,) = host.runner.running

    await host.begin(HOURLY)

    assert (list(host.engine.running), host.runner.started) == ([run_id], ["a"])
    host.runner.end(run_id)
    await host.settle()
    assert host.ledger.ends[run_id].result is ResultCode.SUCCEEDED


async def test_a_run_that_did_not_survive_is_recorded_as_unknown() -> None:
    host = ScriptedHost()
    await host.begin(HOURLY)
    await host.clock.advance(MINUTE)
    await host.crash()
    (run_id,) = host.runner.running
    host.runner.running.clear()

    await host.begin(HOURLY)

    assert not host.engine.running
    assert host.ledger.ends[run_id].result is ResultCode.UNKNOWN


async def test_a_job_that_cannot_be_judged_at_recovery_is_set_aside_and_the_others_go_on() -> None:
    jobs = [work(LONG, name, deadline="9000h") for name in ("bad", "good")]
    host = ScriptedHost()
    await host.begin(*jobs)
    await host.crash(down=WEEK)
    await host.engine.open()
    await host.engine.apply(jobs)
    host.engine.planner.jobs["bad"].handled = cast("HandledPeriods", None)

    await host.engine.recover()

    assert list(host.engine.set_aside) == ["bad"]
    assert [event.fields["name"] for event in host.events] == ["bad"]
    assert set(host.ledger.outcomes) == {"good"}
    host.engine.start()
    await host.settle()
    assert host.runner.started == ["good"]


async def test_a_full_disk_during_recovery_is_an_error_of_the_ledger() -> None:
    job = work(LONG, deadline="9000h")
    host = ScriptedHost()
    await host.begin(job)
    await host.crash(down=WEEK)
    await host.engine.open()
    await host.engine.apply([job])
    host.ledger.is_full = True

    with pytest.raises(LedgerWriteError):
        await host.engine.recover()

    assert not host.engine.set_aside


async def test_a_stop_leaves_the_rest_of_a_recovery_to_the_next_life() -> None:
    job = work(LONG, deadline="9000h")
    host = ScriptedHost()
    await host.begin(job)
    await host.crash(down=WEEK)
    await host.engine.open()
    await host.engine.apply([job])

    host.engine.pause_starts()
    await host.engine.recover()

    assert host.ledger.outcomes == {}


# --- suspend, resume, trigger -----------------------------------------------------------------------------------------


async def test_a_suspended_job_starts_nothing_until_it_is_resumed() -> None:
    host = ScriptedHost()
    await host.begin(HOURLY)
    await host.engine.suspend(["a"])
    await host.clock.advance(HOUR)
    assert host.runner.started == []

    await host.engine.resume(["a"])

    await host.clock.advance(HOUR)
    assert host.runner.started == ["a"]


async def test_many_jobs_are_suspended_and_resumed_in_parts() -> None:
    jobs = [work("0 0 1 1 *", f"job {number}") for number in range(201)]
    host = ScriptedHost()
    await host.begin(*jobs)
    host.ledger.batches.clear()
    names = [job.identity for job in jobs]

    await host.engine.suspend(names)
    await host.engine.resume(names)

    assert [len(each.jobs) for each in host.ledger.batches] == [200, 1, 200, 1]


async def test_a_suspension_that_cannot_be_recorded_changes_nothing() -> None:
    host = ScriptedHost()
    await host.begin(HOURLY)
    host.ledger.is_full = True

    with pytest.raises(LedgerWriteError):
        await host.engine.suspend(["a"])

    host.ledger.is_full = False
    await host.clock.advance(MINUTE)
    assert host.runner.started == ["a"]


async def test_a_trigger_starts_a_run_now_and_returns_its_id() -> None:
    host = ScriptedHost()
    await host.begin(HOURLY)

    run_id = await host.engine.trigger("a")

    assert list(host.runner.running) == [run_id]
    assert host.ledger.attempts[run_id].nominal is None


async def test_verbs_name_a_job_that_they_do_not_know() -> None:
    host = ScriptedHost()
    await host.begin(HOURLY)

    for verb in (host.engine.trigger("b"), host.engine.suspend(["b"]), host.engine.resume(["b"])):
        with pytest.raises(UnknownJobError):
            await verb


async def test_a_trigger_that_waits_while_a_stop_is_asked_for_starts_nothing() -> None:
    host = ScriptedHost()
    await host.begin(HOURLY, OTHER)
    host.ledger.appending.close()
    suspending = asyncio.ensure_future(host.engine.suspend(["b"]))
    await host.ledger.appending.reached.wait()
    triggering = asyncio.ensure_future(host.engine.trigger("a"))

    host.engine.pause_starts()
    host.ledger.appending.opened.set()

    await suspending
    with pytest.raises(SchedulerNotRunningError):
        await triggering
    assert host.runner.started == []


# --- settings, and the end --------------------------------------------------------------------------------------------


async def test_a_higher_limit_starts_what_waits_at_once() -> None:
    host = ScriptedHost(max_active=1)
    await host.begin(HOURLY, OTHER)
    await host.clock.advance(MINUTE)
    assert host.runner.started == ["a"]

    host.engine.apply_settings(slack=30 * SECOND, max_active=2)

    await host.settle()
    assert host.runner.started == ["a", "b"]


@pytest.mark.parametrize(("slack", "started"), [(30 * SECOND, ["a"]), (5 * SECOND, [])])
async def test_another_slack_decides_from_then_on_which_start_is_late(slack: timedelta, started: list[str]) -> None:
    host = ScriptedHost()
    await host.begin(work(deadline="0s"))

    host.engine.apply_settings(slack=slack, max_active=0)
    await host.settle()
    host.clock.freeze(MINUTE + 10 * SECOND)
    await host.settle()

    assert host.runner.started == started


async def test_drain_waits_for_what_runs_and_starts_nothing() -> None:
    host = ScriptedHost()
    await host.begin(HOURLY)
    run_id = await host.engine.trigger("a")

    draining = asyncio.ensure_future(host.engine.drain())
    await host.clock.advance(2 * HOUR)
    assert not draining.done()

    host.runner.end(run_id)
    assert await draining is None
    assert host.runner.started == ["a"]
    assert host.ledger.ends[run_id].result is ResultCode.SUCCEEDED


async def test_runs_that_are_stopped_let_a_drain_end() -> None:
    host = ScriptedHost()
    await host.begin(HOURLY)
    run_id = await host.engine.trigger("a")
    draining = asyncio.ensure_future(host.engine.drain())
    await host.settle()

    host.engine.stop_runs()

    assert await draining is None
    assert host.ledger.ends[run_id].result is ResultCode.STOPPED


async def test_after_a_crash_nothing_is_recorded_and_what_runs_goes_on() -> None:
    host = ScriptedHost()
    await host.begin(HOURLY)
    run_id = await host.engine.trigger("a")

    await host.engine.crash()

    assert list(host.runner.running) == [run_id]
    assert host.ledger.ends == {}


# --- what is asked of it ----------------------------------------------------------------------------------------------


async def test_the_expected_start_of_a_job_is_its_next_one_and_none_while_it_is_suspended() -> None:
    host = ScriptedHost()
    await host.begin(HOURLY, OTHER)
    await host.engine.suspend(["b"])

    assert host.engine.expected_starts() == {"a": NOON}


async def test_a_job_that_is_gone_is_named_by_the_end_of_its_identity() -> None:
    host = ScriptedHost()
    await host.begin(work(name="host:a"))

    assert [host.engine.name_of(each) for each in ("host:a", "host:gone")] == ["host:a", "gone"]


async def test_a_ledger_that_fails_is_known_until_it_recovers() -> None:
    host = ScriptedHost()
    await host.begin(HOURLY)
    host.ledger.is_full = True
    await host.clock.advance(MINUTE)
    assert host.engine.failed_ledger is not None

    host.ledger.is_full = False
    await host.clock.advance(MINUTE)

    assert host.engine.failed_ledger is None
    assert (host.engine.is_running, host.engine.is_draining) == (True, False)

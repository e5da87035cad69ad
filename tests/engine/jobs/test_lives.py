"""Jobs over restarts of their host: the effects of a crash, a stop, an edit and a suspension."""

from dataclasses import replace
from datetime import timedelta

import pytest

from kron.engine.runs import RunResult
from kron.errors import JobActiveError
from kron.rules.contract import JOB_CONTRACT, FirstMinute, InterruptedRun
from tests.engine.jobs.restartable_host import DAY, HOUR, MINUTE, NOON, SECOND, RestartableHost, Runner, lived, work

# --- downtime ---------------------------------------------------------------------------------------------------------


async def test_after_downtime_the_latest_period_in_time_runs_and_the_others_are_closed() -> None:
    host = RestartableHost()
    job = work(deadline="2h")
    await host.begin(job)
    await host.crash(down=5 * HOUR)
    await host.begin(job)
    await host.engine.crash()

    assert host.log == [
        "16:59:00 a 02 14:00 missed: downtime x3",
        "16:59:00 a 02 15:00 skipped: superseded",
        "16:59:00 a 02 16:00 executed",
    ]


async def test_downtime_gets_no_slack() -> None:
    host = RestartableHost()
    await host.begin(work())
    await host.crash(down=MINUTE + SECOND)
    await host.begin(work())
    await host.engine.crash()

    assert host.log == ["12:00:01 a 02 12:00 missed: downtime"]


async def test_a_year_of_downtime_is_one_record() -> None:
    host = RestartableHost()
    await host.begin(work("* * * * *"))
    await host.crash(down=365 * DAY)
    await host.begin(work("* * * * *"))
    await host.engine.crash()
    assert [each.period_count for each in host.ledger.closed] == [365 * 24 * 60 - 1]


async def test_a_run_with_an_unobserved_end_is_unknown_and_is_not_run_again() -> None:
    host = RestartableHost()
    host.runner.lasts = None
    await host.begin(work())
    await host.clock.advance(MINUTE)
    await host.crash(down=MINUTE)
    await host.begin(work())
    await host.clock.advance(MINUTE)
    await host.engine.crash()

    assert host.log == ["12:00:00 a 02 12:00 executed", "12:01:00 a 02 12:00 unknown"]


async def test_a_run_that_survived_is_active_and_its_time_counts_from_its_start() -> None:
    host = RestartableHost()
    host.runner.lasts = None
    job = work("0 * * * *", timeout=90 * MINUTE)
    await host.begin(job)
    await host.clock.advance(MINUTE)
    running = dict(host.runner.running)
    await host.crash(down=10 * MINUTE)
    host.runner.running = running
    await host.begin(job, alive=["life1-1"])
    await host.clock.advance(2 * HOUR)
    await host.engine.crash()

    assert host.log == [
        "12:00:00 a 02 12:00 executed",
        "13:00:00 a 02 13:00 skipped: active",
        "13:30:00 a 02 12:00 timeout",
        "14:00:00 a 02 14:00 executed",
    ]


async def test_a_retry_is_not_forgotten_by_a_crash() -> None:
    host = RestartableHost()
    host.runner.codes = [1, 0]
    job = work(retries=1, retry_delay=10 * MINUTE)
    await host.begin(job)
    await host.clock.advance(MINUTE)
    await host.crash(down=5 * MINUTE)
    await host.begin(job)
    await host.clock.advance(10 * MINUTE)
    await host.engine.crash()

    assert host.log[2:] == ["12:10:00 a 02 12:00 attempt 2"]


async def test_a_stop_leaves_nothing_to_explain() -> None:
    host = RestartableHost()
    await host.begin(work())
    await host.clock.advance(MINUTE)
    await host.stop()
    await host.begin(work())
    await host.clock.advance(HOUR)
    await host.engine.crash()

    assert host.log == ["12:00:00 a 02 12:00 executed", "13:00:00 a 02 13:00 executed"]


# --- edits ------------------------------------------------------------------------------------------------------------


async def test_an_edit_runs_nothing_and_owns_what_is_chosen_after_it() -> None:
    host = RestartableHost()
    await host.begin(work("0 * * * *", deadline="1h"))
    await host.clock.advance(30 * MINUTE)
    declared = await host.declare(work("15,45 * * * *", deadline="1h"))
    assert declared.changed == ["a"]
    await host.clock.advance(HOUR)
    await host.engine.crash()

    assert host.log == [
        "12:00:00 a 02 12:00 executed",
        "12:45:00 a 02 12:45 executed",
        "13:15:00 a 02 13:15 executed",
    ]


async def test_a_period_that_was_run_is_not_run_again_by_a_definition_that_would_choose_it_later() -> None:
    host = RestartableHost()
    await host.begin(work("0 12 * * *"))
    await host.clock.advance(2 * MINUTE)
    await host.declare(work("0 12 * * * @win(after,3h)"))
    await host.clock.advance(5 * HOUR)
    await host.engine.crash()

    assert host.log == ["12:00:00 a 02 12:00 executed"]


async def test_a_window_that_had_begun_is_skipped_by_an_edit_that_takes_it_away() -> None:
    host = RestartableHost()
    await host.begin(work("0 12 * * * @win(after,3h)"))
    await host.clock.advance(2 * MINUTE)
    await host.declare(work("0 18 * * *"))
    await host.engine.crash()

    assert host.log == ["12:01:00 a 02 12:00 skipped: definition changed"]


async def test_an_edit_of_the_command_alone_changes_no_decision() -> None:
    host = RestartableHost()
    await host.begin(work("0 12 * * * @win(after,3h)"))
    await host.clock.advance(2 * MINUTE)
    declared = await host.declare(work("0 12 * * * @win(after,3h)", command="other"))
    assert declared.changed == ["a"]
    await host.clock.advance(4 * HOUR)
    await host.engine.crash()

    log = host.log
    assert len(log) == 1
    assert log[0].endswith("executed")


async def test_a_removed_job_leaves_its_run_to_finish() -> None:
    host = RestartableHost()
    host.runner.lasts = None
    await host.begin(work(), work(name="b"))
    await host.clock.advance(MINUTE)
    declared = await host.declare(work(name="b"))
    assert declared.removed == ["a"]
    host.runner.end("life1-1", RunResult(exit_code=3))
    await host.clock.advance(MINUTE)
    await host.engine.crash()

    assert "12:00:00 a 02 12:00 failed" in host.log


async def test_a_job_that_comes_back_does_not_own_what_came_while_it_was_gone() -> None:
    host = RestartableHost()
    await host.begin(work(deadline="5h"))
    await host.declare()
    await host.clock.advance(3 * HOUR)
    declared = await host.declare(work(deadline="5h"))
    assert declared.added == ["a"]
    await host.clock.advance(SECOND)
    await host.engine.crash()

    assert host.log == []


async def test_an_edit_while_the_host_was_down_is_an_edit_at_its_start() -> None:
    host = RestartableHost()
    await host.begin(work("0 * * * *", deadline="90m"))
    await host.crash(down=3 * HOUR + 2 * MINUTE)
    await host.begin(work("30 * * * *", deadline="90m"))
    await host.clock.advance(HOUR)
    await host.engine.crash()

    assert host.log == [
        "15:01:00 a 02 13:00 missed: downtime x2",
        "15:01:00 a 02 15:00 skipped: definition changed x2",
        "15:30:00 a 02 15:30 executed",
    ]


# --- pauses, triggers, boots ------------------------------------------------------------------------------------------


async def test_a_suspended_job_handles_nothing_and_is_judged_by_its_deadline_when_it_goes_on() -> None:
    host = RestartableHost()
    await host.begin(work(deadline="90m"))
    await host.suspend("a")
    await host.clock.advance(4 * HOUR)
    assert host.log == []
    await host.resume("a")
    await host.clock.advance(SECOND)
    await host.engine.crash()

    assert host.log == [
        "15:59:00 a 02 14:00 missed: deadline x3",
        "15:59:00 a 02 15:00 executed",
    ]


async def test_a_suspension_may_end_by_itself_and_survives_a_crash() -> None:
    host = RestartableHost()
    await host.begin(work())
    await host.suspend("a", until=NOON + 90 * MINUTE)
    await host.crash(down=MINUTE)
    await host.begin(work())
    await host.clock.advance(2 * HOUR)
    await host.engine.crash()

    assert host.log == [
        "13:30:00 a 02 13:00 missed: deadline x2",
        "14:00:00 a 02 14:00 executed",
    ]


async def test_a_file_that_suspends_no_more_lets_deadlines_decide() -> None:
    host = RestartableHost()
    await host.begin(work(deadline="90m", suspend=True))
    await host.clock.advance(2 * HOUR)
    await host.declare(work(deadline="90m"))
    await host.clock.advance(SECOND)
    await host.engine.crash()

    assert host.log == ["13:59:00 a 02 12:00 missed: deadline", "13:59:00 a 02 13:00 executed"]


async def test_a_triggered_run_belongs_to_no_period_and_moves_none() -> None:
    host = RestartableHost()
    await host.begin(work())
    assert await host.trigger("a") == "life1-1"
    await host.clock.advance(MINUTE)
    await host.engine.crash()

    assert host.log == ["11:59:00 a trigger", "12:00:00 a 02 12:00 executed"]


async def test_a_triggered_run_is_an_execution_like_any_other() -> None:
    host = RestartableHost()
    host.runner.lasts = None
    await host.begin(work())
    await host.trigger("a")
    await host.clock.advance(MINUTE)
    with pytest.raises(JobActiveError):
        await host.trigger("a")
    await host.engine.crash()

    assert host.log == ["11:59:00 a trigger", "12:00:00 a 02 12:00 skipped: active"]


async def test_a_suspended_job_can_be_triggered() -> None:
    host = RestartableHost()
    await host.begin(work(suspend=True))
    await host.trigger("a")
    await host.clock.advance(HOUR)
    await host.engine.crash()

    assert host.log == ["11:59:00 a trigger"]


async def test_a_run_that_survived_its_job_has_its_timeout_and_its_grace() -> None:
    grace: list[timedelta] = []

    host = RestartableHost()
    host.runner.lasts = None
    job = work("0 * * * *", timeout=90 * MINUTE, command={"timeout": "90m", "grace": "7s"})
    await host.begin(job)
    await host.clock.advance(MINUTE)
    running = dict(host.runner.running)
    await host.crash(down=10 * MINUTE)
    host.runner.running = running
    await host.begin(alive=["life1-1"])
    grace.extend(run.work.grace for run in host.planner.running.values())
    await host.clock.advance(2 * HOUR)
    await host.engine.crash()

    assert host.log[-1] == "13:30:00 a 02 12:00 timeout"
    assert grace == [7 * SECOND]


def test_a_host_whose_loop_has_died_says_so_at_once(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Runner):
        def start(self, *_: object) -> None:
            raise ZeroDivisionError

    async def story(host: RestartableHost) -> None:
        host.use_runner(Broken(host.clock))
        await host.begin(work())
        await host.clock.advance(HOUR)

    with caplog.at_level("CRITICAL"):
        lived(story)

    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [ZeroDivisionError]


# --- what the contract says -------------------------------------------------------------------------------------------


async def test_under_the_contract_of_jobs_a_run_that_a_crash_cut_off_is_lost() -> None:
    host = RestartableHost()
    host.runner.lasts = HOUR
    await host.begin(work("0 12 * * *"))
    await host.clock.advance_to(NOON)
    await host.crash(down=MINUTE)
    await host.begin(work("0 12 * * *"))
    await host.engine.crash()

    assert host.log == ["12:00:00 a 02 12:00 executed", "12:01:00 a 02 12:00 unknown"]


async def test_under_a_contract_that_restarts_a_run_that_a_crash_cut_off_begins_again() -> None:
    restarts = replace(JOB_CONTRACT, interrupted_run=InterruptedRun.RESTART)

    host = RestartableHost(contract=restarts)
    host.runner.lasts = HOUR
    await host.begin(work("0 12 * * *"))
    await host.clock.advance_to(NOON)
    await host.crash(down=MINUTE)
    await host.begin(work("0 12 * * *"))
    (execution,) = host.planner.running.values()
    assert (execution.attempt.nominal, execution.attempt.attempt) == (NOON, 2)
    await host.engine.crash()


@pytest.mark.parametrize("is_prepared", [False, True], ids=["at once", "prepared"])
@pytest.mark.parametrize(
    ("first_minute", "log"),
    [(FirstMinute.NOT_OWNED, []), (FirstMinute.RUN, ["12:00:20 a 02 12:00 executed"])],
    ids=lambda value: getattr(value, "name", ""),
)
def test_the_contract_says_who_owns_the_minute_in_which_a_job_is_declared(
    first_minute: FirstMinute, log: list[str], *, is_prepared: bool
) -> None:
    noon = work("0 12 * * *", deadline="1m")

    async def story(host: RestartableHost) -> None:
        await host.begin()
        prepared = await host.prepare(noon) if is_prepared else {}
        await host.declare(noon, prepared=prepared)
        await host.clock.advance(MINUTE)

    contract = replace(JOB_CONTRACT, first_minute=first_minute)
    assert lived(story, start=NOON + 20 * SECOND, contract=contract).log == log

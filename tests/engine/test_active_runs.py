"""Tests of ActiveRuns: active runs, unrecorded ends, and free slots."""

import asyncio
from collections.abc import Collection, Sequence
from datetime import timedelta

from kron.adapters.virtual_clock import VirtualClock
from kron.engine.active_runs import ActiveRuns
from kron.engine.ports import RunListener
from kron.engine.runs import Run, RunNews, RunResult
from kron.instant import parse_instant
from kron.rules.job_record import ResultCode, RunHandle

NOON = parse_instant("2026-03-02T12:00:00Z")
SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)
SUCCESS = RunResult(exit_code=0)


class HeldRunner:
    """Runs last until the test ends them."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.stopped: list[str] = []
        self.is_detached = False

    def start(self, runs: Sequence[Run], _: RunListener[Run]) -> None:
        self.started += [run.run_id for run in runs]

    def stop(self, run: Run) -> None:
        self.stopped.append(run.run_id)

    async def reattach(self, _: Sequence[Run], __: RunListener[Run]) -> Collection[str]:
        return ()

    async def catch_up(self, *, stood_still: bool) -> None: ...

    def detach(self) -> None:
        self.is_detached = True


class ActiveRunsHarness:
    """Active runs on a virtual clock."""

    def __init__(self, *, max_active: int = 0) -> None:
        self.clock, self.runner = VirtualClock(NOON), HeldRunner()
        self.active = ActiveRuns[Run](self.clock, self.runner, max_active=max_active)

    def pass_by(self, span: timedelta) -> None:
        asyncio.run(self.clock.advance(span))


def a_run(name: str = "a", timeout: timedelta | None = None) -> Run:
    return Run(name, NOON, timeout)


def test_a_run_is_running_from_its_start_to_its_end() -> None:
    bench, run = ActiveRunsHarness(), a_run()

    bench.active.start([run])
    was_running = dict(bench.active.running)
    bench.active.on_ended(run, SUCCESS)

    assert (bench.runner.started, was_running, bench.active.running) == (["a"], {"a": run}, {})


def test_an_end_has_its_instant_and_its_duration_and_wakes_the_loop() -> None:
    bench, run = ActiveRunsHarness(), a_run()
    bench.active.start([run])
    bench.pass_by(3 * SECOND)

    bench.active.on_ended(run, SUCCESS)

    assert (run.result, run.ended_at, run.seconds) == (SUCCESS, NOON + 3 * SECOND, 3.0)
    assert bench.active.wake.is_set()
    assert bench.active.take_news() == ([run], [])


def test_news_is_taken_once_and_comes_again_before_what_follows_if_it_could_not_be_recorded() -> None:
    bench, first, second = ActiveRunsHarness(), a_run("first"), a_run("second")
    handle = RunHandle("first", 7, 70)
    bench.active.start([first, second])
    bench.active.on_started(first, handle)
    bench.active.on_ended(first, SUCCESS)

    news = bench.active.take_news()
    had_news = bench.active.has_news()
    bench.active.on_ended(second, SUCCESS)
    bench.active.put_back(news)

    assert (news, had_news) == (RunNews([first], [handle]), False)
    assert bench.active.take_news() == ([first, second], [handle])
    assert first.handle == handle


def test_an_end_is_news_once() -> None:
    bench, run = ActiveRunsHarness(), a_run()
    bench.active.start([run])

    for _ in range(2):
        bench.active.on_ended(run, SUCCESS)

    assert bench.active.take_news().ended == [run]


def test_so_many_runs_as_there_are_slots_may_start() -> None:
    bench = ActiveRunsHarness(max_active=2)
    bench.active.start([a_run("first")])
    one_left = bench.active.free_slots()
    bench.active.start([a_run("second"), a_run("third")])  # of an earlier limit

    assert (one_left, bench.active.free_slots()) == (1, 0)
    assert ActiveRunsHarness().active.free_slots() > 1_000_000


def test_a_run_whose_time_is_over_is_asked_to_end_and_the_first_reason_counts() -> None:
    bench, run, other = ActiveRunsHarness(), a_run(timeout=HOUR), a_run("other", timeout=2 * HOUR)
    bench.active.start([run, other])
    assert bench.active.next_timeout(NOON) == NOON + HOUR
    bench.pass_by(HOUR)

    bench.active.stop_overdue()
    bench.active.stop(run, ResultCode.STOPPED)

    assert bench.runner.stopped == ["a", "a"]
    assert run.stop_reason is ResultCode.TIMEOUT
    bench.active.on_ended(run, RunResult(signal="SIGTERM"))
    assert run.code is ResultCode.TIMEOUT


def test_a_run_that_has_ended_is_not_asked_to_end() -> None:
    bench, run = ActiveRunsHarness(), a_run(timeout=HOUR)
    bench.active.start([run])
    bench.active.on_ended(run, SUCCESS)
    bench.pass_by(2 * HOUR)

    bench.active.stop_overdue()
    bench.active.stop_all(ResultCode.STOPPED)
    bench.active.stop(run, ResultCode.STOPPED)

    assert bench.runner.stopped == []
    assert bench.active.next_timeout(NOON) is None


def test_the_time_of_a_run_of_an_earlier_life_counts_from_its_start() -> None:
    bench, run = ActiveRunsHarness(), a_run(timeout=HOUR)
    bench.pass_by(HOUR / 2)

    bench.active.adopt([run], NOON + HOUR / 2)

    assert bench.active.next_timeout(NOON + HOUR / 2) == NOON + HOUR
    assert (bench.runner.started, list(bench.active.running)) == ([], ["a"])


def test_a_run_of_an_earlier_life_that_ends_before_it_is_taken_up_has_ended() -> None:
    bench, run = ActiveRunsHarness(), a_run()
    bench.active.on_ended(run, RunResult())

    bench.active.adopt([run], NOON)

    assert (bench.active.running, bench.active.take_news().ended) == ({}, [run])


def test_an_unobserved_end_is_not_covered_by_the_reason_for_it() -> None:
    run = a_run()
    run.stop_reason, run.result = ResultCode.STOPPED, RunResult()

    assert run.code is ResultCode.UNKNOWN

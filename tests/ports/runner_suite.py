"""RUNNER_SUITE: what every runner must do, as functions that take a way to make a trial of one.

    @pytest.mark.parametrize("check", RUNNER_SUITE, ids=lambda check: check.__name__)
    def test_my_runner(check, tmp_path):
        asyncio.run(check(lambda: my_trial(tmp_path)))

The function returns an asynchronous context manager, which is entered once in each check. What it gives makes runs for
the runner, and is the world that they run in. A runner that lacks clauses of the port passes
`runner_suite(lacking={...})`.
"""

from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence, Set
from contextlib import AbstractAsyncContextManager
from enum import Enum
from typing import Any, Protocol

from kron.engine.ports import Runner
from kron.engine.runs import AnyRun, RunResult
from kron.rules.job_record import ResultCode, RunHandle


class RunnerTrial(Protocol[AnyRun]):
    """A runner, and the world of its runs. A run lasts until the check finishes or stops it."""

    @property
    def runner(self) -> Runner[AnyRun]:
        """The runner of the present life of the host."""

    def run(self) -> AnyRun:
        """Return a new run."""

    def unheeding_run(self) -> AnyRun:
        """Return a run that does not end when it is asked to."""

    def unstartable_run(self) -> AnyRun:
        """Return a run that cannot be started."""

    def begun(self) -> Sequence[str]:
        """Return the ids of the runs that have begun, in the order in which they did."""

    async def finish(self, run: AnyRun, *, succeeded: bool = True) -> None:
        """Let a run that has begun end; return when it is over."""

    async def until(self, claim: Callable[[], bool]) -> None:
        """Let time pass until a claim is true; raise TimeoutError if it does not become true."""

    async def settle(self) -> None:
        """Let so much time pass that a report which is under way arrives."""

    async def crash(self) -> None:
        """End the life of the host: its runner is detached."""

    async def revive(self) -> None:
        """Begin another life, with another runner."""


RunnerTrialFactory = Callable[[], AbstractAsyncContextManager[RunnerTrial[Any]]]
RunnerCheck = Callable[[RunnerTrialFactory], Coroutine[Any, Any, None]]


class RunnerClause(Enum):
    """What the port promises, and a runner may lack."""

    START_FAILURES = "the end of a run that cannot be started says why"
    HANDLES = "a run that exists is reported with its handle"
    SURVIVAL = "runs survive the host and are found by `reattach`"
    FORCE = "a run that does not heed a stop is made to end"


class _Reports:
    """The listener: what was reported, in order."""

    def __init__(self) -> None:
        self.handles: list[tuple[Any, RunHandle]] = []
        self.ends: list[tuple[Any, RunResult]] = []

    def on_started(self, run: Any, handle: RunHandle) -> None:
        self.handles.append((run, handle))

    def on_ended(self, run: Any, result: RunResult) -> None:
        self.ends.append((run, result))

    def results(self, run: object) -> list[RunResult]:
        """Return the ends of a run: of this very object."""
        return [result for each, result in self.ends if each is run]


async def _begun(trial: RunnerTrial[Any], runs: Collection[Any]) -> None:
    await trial.until(lambda: {run.run_id for run in runs} <= set(trial.begun()))


async def _ended(trial: RunnerTrial[Any], reports: _Reports, runs: Iterable[Any]) -> list[RunResult]:
    """Return the one end of each run."""
    wanted = list(runs)
    await trial.until(lambda: all(reports.results(run) for run in wanted))
    await trial.settle()
    assert [len(reports.results(run)) for run in wanted] == [1] * len(wanted)
    return [reports.results(run)[0] for run in wanted]


# --- ends -------------------------------------------------------------------------------------------------------------


async def a_run_lasts_until_it_is_finished_and_has_one_end(make: RunnerTrialFactory) -> None:
    """It has succeeded."""
    async with make() as trial:
        run, reports = trial.run(), _Reports()
        trial.runner.start([run], reports)
        await _begun(trial, [run])
        await trial.settle()
        assert reports.ends == []

        await trial.finish(run)

        [result] = await _ended(trial, reports, [run])
        assert result.code is ResultCode.SUCCEEDED


async def a_run_that_fails_has_failed(make: RunnerTrialFactory) -> None:
    """With one end, too."""
    async with make() as trial:
        run, reports = trial.run(), _Reports()
        trial.runner.start([run], reports)
        await _begun(trial, [run])

        await trial.finish(run, succeeded=False)

        [result] = await _ended(trial, reports, [run])
        assert result.code is ResultCode.FAILED


async def runs_begin_in_their_order_and_each_has_one_end(make: RunnerTrialFactory) -> None:
    """In whatever order they end; the reports have the runs that were started, and no copies."""
    async with make() as trial:
        runs, reports = [trial.run() for _ in range(6)], _Reports()
        trial.runner.start(runs[:4], reports)
        trial.runner.start(runs[4:], reports)
        await _begun(trial, runs)
        assert list(trial.begun()) == [run.run_id for run in runs]

        for run in reversed(runs):
            await trial.finish(run)

        await _ended(trial, reports, runs)
        assert len(reports.ends) == len(runs)


async def a_run_that_cannot_start_has_an_end_and_the_others_begin(make: RunnerTrialFactory) -> None:
    """Nothing is raised."""
    async with make() as trial:
        first, bad, last, reports = trial.run(), trial.unstartable_run(), trial.run(), _Reports()

        trial.runner.start([first, bad, last], reports)

        await _begun(trial, [first, last])
        [result] = await _ended(trial, reports, [bad])
        assert result.code is not ResultCode.SUCCEEDED
        assert [run for run, _ in reports.ends] == [bad]


async def the_end_of_a_run_that_cannot_start_says_why(make: RunnerTrialFactory) -> None:
    """It is not a failure of the run, which never existed and has no handle."""
    async with make() as trial:
        run, reports = trial.unstartable_run(), _Reports()

        trial.runner.start([run], reports)

        [result] = await _ended(trial, reports, [run])
        assert result.not_started
        assert reports.handles == []


# --- stops ------------------------------------------------------------------------------------------------------------


async def a_run_that_is_stopped_has_one_end(make: RunnerTrialFactory) -> None:
    """However often it is asked; it has not succeeded, and the others go on."""
    async with make() as trial:
        run, other, reports = trial.run(), trial.run(), _Reports()
        trial.runner.start([run, other], reports)
        await _begun(trial, [run, other])

        trial.runner.stop(run)
        trial.runner.stop(run)

        [result] = await _ended(trial, reports, [run])
        assert result.code is not ResultCode.SUCCEEDED
        assert reports.results(other) == []


async def a_run_that_is_stopped_at_once_has_one_end(make: RunnerTrialFactory) -> None:
    """Whether or not it begins."""
    async with make() as trial:
        run, reports = trial.run(), _Reports()
        trial.runner.start([run], reports)

        trial.runner.stop(run)

        [result] = await _ended(trial, reports, [run])
        assert result.code is not ResultCode.SUCCEEDED


async def a_run_that_ends_while_it_is_stopped_has_one_end(make: RunnerTrialFactory) -> None:
    """Whichever is quicker."""
    async with make() as trial:
        run, reports = trial.run(), _Reports()
        trial.runner.start([run], reports)
        await _begun(trial, [run])
        await trial.settle()

        trial.runner.stop(run)
        await trial.finish(run)

        await _ended(trial, reports, [run])


async def a_run_that_does_not_heed_a_stop_is_made_to_end(make: RunnerTrialFactory) -> None:
    """After its grace."""
    async with make() as trial:
        run, reports = trial.unheeding_run(), _Reports()
        trial.runner.start([run], reports)
        await _begun(trial, [run])

        trial.runner.stop(run)

        [result] = await _ended(trial, reports, [run])
        assert result.code is not ResultCode.SUCCEEDED


async def stopping_what_is_not_there_changes_nothing(make: RunnerTrialFactory) -> None:
    """Neither what has ended nor what was never started has another end."""
    async with make() as trial:
        run, other, reports = trial.run(), trial.run(), _Reports()
        trial.runner.start([run, other], reports)
        await _begun(trial, [run, other])
        await trial.finish(run)
        await _ended(trial, reports, [run])
        before = list(reports.ends)

        trial.runner.stop(run)
        trial.runner.stop(trial.run())

        await trial.settle()
        assert reports.ends == before


# --- what is known of them --------------------------------------------------------------------------------------------


async def a_run_has_one_handle_before_its_end(make: RunnerTrialFactory) -> None:
    """It names the run."""
    async with make() as trial:
        run, reports = trial.run(), _Reports()
        trial.runner.start([run], reports)
        await trial.until(lambda: bool(reports.handles))
        assert reports.ends == []
        await _begun(trial, [run])

        await trial.finish(run)

        await _ended(trial, reports, [run])
        assert [(each, handle.run_id) for each, handle in reports.handles] == [(run, run.run_id)]


async def what_is_over_is_reported_by_catching_up(make: RunnerTrialFactory) -> None:
    """Before that returns; what goes on is not waited for."""
    async with make() as trial:
        over, other, reports = trial.run(), trial.run(), _Reports()
        trial.runner.start([over, other], reports)
        await _begun(trial, [over, other])
        await trial.settle()
        await trial.finish(over)

        await trial.runner.catch_up(stood_still=True)

        assert [run for run, _ in reports.ends] == [over]


async def nothing_is_reported_after_a_detach(make: RunnerTrialFactory) -> None:
    """What was reported before it counts."""
    async with make() as trial:
        before, after, reports = trial.run(), trial.run(), _Reports()
        trial.runner.start([before, after], reports)
        await _begun(trial, [before, after])
        await trial.finish(before)
        await _ended(trial, reports, [before])
        handles = list(reports.handles)

        trial.runner.detach()
        await trial.finish(after)
        await trial.settle()

        assert ([run for run, _ in reports.ends], reports.handles) == ([before], handles)


# --- another life -----------------------------------------------------------------------------------------------------


async def a_run_that_was_recorded_and_never_started_is_not_found(make: RunnerTrialFactory) -> None:
    """It has no handle."""
    async with make() as trial:
        reports = _Reports()

        found = await trial.runner.reattach([trial.run()], reports)

        await trial.settle()
        assert (list(found), reports.ends) == ([], [])


async def a_run_goes_on_in_another_life_and_its_end_is_reported_there(make: RunnerTrialFactory) -> None:
    """The end is reported to that life only."""
    async with make() as trial:
        run, other, earlier, reports = trial.run(), trial.run(), _Reports(), _Reports()
        await _crash_with(trial, [run, other], earlier)
        await trial.revive()

        found = await trial.runner.reattach([run, other], reports)
        assert (set(found), reports.ends) == ({run.run_id, other.run_id}, [])
        await trial.finish(run)

        await _ended(trial, reports, [run])
        assert (earlier.ends, reports.results(other)) == ([], [])
        trial.runner.stop(other)
        await _ended(trial, reports, [other])


async def a_run_that_ended_between_two_lives_is_not_found(make: RunnerTrialFactory) -> None:
    """And nothing is reported of it."""
    async with make() as trial:
        run, reports = trial.run(), _Reports()
        await _crash_with(trial, [run], _Reports())
        await trial.finish(run)
        await trial.revive()

        found = await trial.runner.reattach([run], reports)

        await trial.settle()
        assert (list(found), reports.ends) == ([], [])


async def _crash_with(trial: RunnerTrial[Any], runs: Sequence[Any], reports: _Reports) -> None:
    """Crash when the handles of runs are known; they are recorded, as the engine does it."""
    trial.runner.start(runs, reports)
    await _begun(trial, runs)
    await trial.until(lambda: len(reports.handles) == len(runs))
    for run, handle in reports.handles:
        run.handle = handle
    await trial.crash()


_CHECKS: Mapping[RunnerCheck, Set[RunnerClause]] = {
    a_run_lasts_until_it_is_finished_and_has_one_end: set(),
    a_run_that_fails_has_failed: set(),
    runs_begin_in_their_order_and_each_has_one_end: set(),
    a_run_that_cannot_start_has_an_end_and_the_others_begin: set(),
    the_end_of_a_run_that_cannot_start_says_why: {RunnerClause.START_FAILURES},
    a_run_that_is_stopped_has_one_end: set(),
    a_run_that_is_stopped_at_once_has_one_end: set(),
    a_run_that_ends_while_it_is_stopped_has_one_end: set(),
    a_run_that_does_not_heed_a_stop_is_made_to_end: {RunnerClause.FORCE},
    stopping_what_is_not_there_changes_nothing: set(),
    a_run_has_one_handle_before_its_end: {RunnerClause.HANDLES},
    what_is_over_is_reported_by_catching_up: set(),
    nothing_is_reported_after_a_detach: set(),
    a_run_that_was_recorded_and_never_started_is_not_found: set(),
    a_run_goes_on_in_another_life_and_its_end_is_reported_there: {RunnerClause.SURVIVAL},
    a_run_that_ended_between_two_lives_is_not_found: {RunnerClause.SURVIVAL},
}
"""Each check, with the clause that it is about beyond those that every runner keeps."""


def runner_suite(*, lacking: Set[RunnerClause] = frozenset()) -> tuple[RunnerCheck, ...]:
    """Return the checks for a runner that lacks some clauses of the port: all that are not about these.

    >>> len(runner_suite(lacking={RunnerClause.SURVIVAL})) < len(RUNNER_SUITE)
    True
    """
    return tuple(check for check, clauses in _CHECKS.items() if lacking.isdisjoint(clauses))


RUNNER_SUITE = runner_suite()

"""ActiveRuns: the runs in flight, those that have ended, their timeouts, and how many more may start."""

import sys
from collections.abc import Iterable, Sequence
from datetime import timedelta
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Generic

from kron.engine.clock_watch import WakeUp
from kron.engine.gc_pause import run_gc_paused
from kron.engine.ports import Clock, Runner
from kron.engine.runs import AnyRun, RunNews, RunResult
from kron.instant import SECOND, ZERO, Instant
from kron.rules.job_record import ResultCode, RunHandle

_DAY = timedelta(days=1)  # a limit may be longer than the calendar
_SPARE = 128  # timeouts of runs that have ended, which are kept before they are looked for


class ActiveRuns(Generic[AnyRun]):
    """The runs of one engine. The loop owns it, and the runner reports to it."""

    def __init__(self, clock: Clock, runner: Runner[AnyRun], *, max_active: int = 0) -> None:
        """`max_active`: how many may run at once, 0 for no limit."""
        self._clock, self._runner = clock, runner
        self.max_active = max_active
        self.wake = WakeUp()
        """Set whenever there is something to settle before time comes."""
        self.running: dict[str, AnyRun] = {}
        """By the id of the run, the oldest first. A planner may read it."""
        self._ended: list[AnyRun] = []
        self._handles: list[RunHandle] = []
        self._timeouts: list[tuple[float, int, AnyRun]] = []  # by the monotonic clock
        self._numbers = count()

    # --- what the loop does with them ---------------------------------------------------------------------------------

    def start(self, runs: Sequence[AnyRun]) -> None:
        """Start what is recorded."""
        if runs:
            run_gc_paused(self._start, runs)

    def _start(self, runs: Sequence[AnyRun]) -> None:
        monotonic = self._clock.monotonic()
        for run in runs:
            run.was_started, run.started_monotonic = True, monotonic
            self.running[run.run_id] = run
            if run.timeout is not None:
                self._watch(run, monotonic + run.timeout / SECOND)
        self._runner.start(runs, self)

    def adopt(self, runs: Iterable[AnyRun], now: Instant) -> None:
        """Take up runs of an earlier life that go on: their time counts from their start."""
        monotonic = self._clock.monotonic()
        for run in runs:
            run.was_started, run.started_monotonic = True, monotonic
            self.running[run.run_id] = run
            if run.timeout is not None:
                self._watch(run, monotonic + max(ZERO, run.timeout - (now - run.started)) / SECOND)
            if run.result is not None:  # it has ended since it was found
                self.on_ended(run, run.result)

    def stop(self, run: AnyRun, why: ResultCode) -> None:
        """Ask a run to end, if it has not yet; the first reason counts."""
        if self.running.get(run.run_id) is run:
            run.stop_reason = run.stop_reason or why
            self._runner.stop(run)

    def stop_all(self, why: ResultCode) -> None:
        """Ask all of them to end."""
        for run in list(self.running.values()):
            self.stop(run, why)

    def stop_overdue(self) -> None:
        """Ask those to end whose time is over."""
        if self._timeouts:
            monotonic = self._clock.monotonic()
            while self._timeouts and self._timeouts[0][0] <= monotonic:
                self.stop(heappop(self._timeouts)[2], ResultCode.TIMEOUT)

    def next_timeout(self, now: Instant) -> Instant | None:
        """Return when the time of one is over, or somewhat earlier."""
        while self._timeouts and not self._is_running(self._timeouts[0][2]):
            heappop(self._timeouts)
        if not self._timeouts:
            return None
        left = max(0.0, self._timeouts[0][0] - self._clock.monotonic())
        return now + SECOND * min(left, _DAY / SECOND)

    def free_slots(self) -> int:
        """Return how many runs may start."""
        return max(0, self.max_active - len(self.running)) if self.max_active else sys.maxsize

    def has_news(self) -> bool:
        """Whether something is to be recorded."""
        return bool(self._ended or self._handles)

    def take_news(self) -> RunNews[AnyRun]:
        """Return what was reported, and forget it."""
        news = RunNews(self._ended, self._handles)
        self._ended, self._handles = [], []
        return news

    def put_back(self, news: RunNews[AnyRun]) -> None:
        """Have something that could not be recorded recorded by the next step."""
        self._ended, self._handles = [*news.ended, *self._ended], [*news.handles, *self._handles]

    async def catch_up(self, *, stood_still: bool) -> None:
        """Collect the runs that have ended by now."""
        await self._runner.catch_up(stood_still=stood_still)

    def detach(self) -> None:
        """Take no more reports of runs, as after a crash."""
        self._runner.detach()

    # --- what the runner reports --------------------------------------------------------------------------------------

    def on_started(self, run: AnyRun, handle: RunHandle) -> None:
        """Note by what a run is found again."""
        run.handle = handle
        self._handles.append(handle)
        self.wake.set()

    def on_ended(self, run: AnyRun, result: RunResult) -> None:
        """Note the end of a run."""
        run.result = result
        if self.running.get(run.run_id) is run:
            del self.running[run.run_id]
            run.ended_at = self._clock.now()
            run.seconds = self._clock.monotonic() - run.started_monotonic
            self._ended.append(run)
            self.wake.set()

    def _is_running(self, run: AnyRun) -> bool:
        return self.running.get(run.run_id) is run

    def _watch(self, run: AnyRun, until: float) -> None:
        if len(self._timeouts) > 2 * len(self.running) + _SPARE:  # most are of runs that have ended
            self._timeouts = [each for each in self._timeouts if self._is_running(each[2])]
            heapify(self._timeouts)
        heappush(self._timeouts, (until, next(self._numbers), run))

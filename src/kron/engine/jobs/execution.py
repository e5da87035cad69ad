"""Execution, Ending, JobRunner: the runs of jobs as the engine sees them. The docstrings are the specification."""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple, Protocol

from kron.decision.decision import Decision
from kron.instant import Instant
from kron.rules.job_record import PeriodRecord, ResultCode, RunEnd, RunHandle, RunStart
from kron.rules.job_spec import JobSpec


class Ending(NamedTuple):
    """What was seen of an end: an exit code, a signal by its name, why it did not start, or nothing at all."""

    exit_code: int | None = None
    signal: str | None = None
    not_started: str = ""

    def result(self) -> ResultCode:
        """Return what that means."""
        if self.not_started:
            return ResultCode.NOT_STARTED
        if self.signal is not None:
            return ResultCode.FAILED
        if self.exit_code is None:
            return ResultCode.UNKNOWN
        return ResultCode.FAILED if self.exit_code else ResultCode.SUCCEEDED


class Acceptance(NamedTuple):
    """The judgement that a period is executed: the instant of the step, the job as it was then, and the slack.

    A runner that cannot start it at once gives it up at the limit, by comparing and nothing else. None: it belongs to
    no period and has no limit.
    """

    at: Instant
    work: JobSpec
    slack: timedelta
    start_before: Instant | None = None
    resume_before: Instant | None = None  # the limit instead, once the job was suspended in between


class Execution:
    """One attempt that is under way."""

    __slots__ = ("acceptance", "attempt", "begun", "ends_as", "has_begun", "process", "work")

    def __init__(self, attempt: RunStart, work: JobSpec, begun: float) -> None:
        self.attempt, self.work = attempt, work
        self.begun = begun  # by the monotonic clock
        self.acceptance: Acceptance | None = None  # of the first attempt of a period
        self.process: RunHandle | None = None  # as which it is there
        self.ends_as: ResultCode | None = None  # the host ends it, and that is why
        self.has_begun = True  # else it was asked for, and something else took its place

    @property
    def run_id(self) -> str:
        """Its name."""
        return self.attempt.run_id


class Listener(Protocol):
    """Whom a runner tells what it sees."""

    def on_process(self, run_id: str, pid: int, ticks: int, /) -> None:
        """A run is there, as this process."""

    def on_end(self, run_id: str, ending: Ending, /) -> None:
        """A run has ended, or could not be started."""


class JobRunner(Protocol):
    """What carries executions out."""

    def start(self, executions: Sequence[Execution], listener: Listener, /) -> None:
        """Begin them, in their order; the loop is not held, and each is told to the listener."""

    def terminate(self, execution: Execution, /) -> None:
        """Ask one to end, and make sure that it does. It lasts until it has."""

    async def catch_up(self, *, stood_still: bool) -> None:
        """Tell the listener of every execution that has ended by now, as far as that is known within seconds.

        `stood_still`: the host did nothing for longer than its slack, and so may what the runner asks have.
        """

    def abandon(self) -> None:
        """Let go of everything without a word; what runs goes on."""


class Witness(Protocol):
    """Who is told what became of periods and runs, once it is remembered."""

    def on_closed(self, work: JobSpec, record: PeriodRecord, last: Decision, /) -> None:
        """A period, or neighbours of which this was the last, are over without an execution."""

    def on_begun(self, execution: Execution, decision: Decision | None, /) -> None:
        """An attempt begins; the first one of a period executes what was decided."""

    def on_ended(self, execution: Execution, end: RunEnd, /) -> None:
        """An attempt has ended."""


class Chronicle(Witness, Protocol):
    """Who is also told what was done to jobs."""

    def on_suspended(self, identity: str, /, *, suspended: bool) -> None:
        """A job is held by command, or is not any more; it is told before what follows from it."""

    def on_given_up(self, run_id: str, /) -> None:
        """A run that failed is not tried again after all."""

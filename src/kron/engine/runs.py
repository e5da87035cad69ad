"""Run, RunResult: one run, from its record to its end, whatever carries it out."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from kron.decision.decision import Decision
from kron.instant import Instant
from kron.rules.job_record import ResultCode, RunHandle, RunStart
from kron.rules.job_spec import JobSpec
from kron.rules.registration import Callback

Payload = TypeVar("Payload")
"""What a runner carries out: a callback, or a declared job."""


class RunResult(NamedTuple):
    """What a runner saw of an end: an exit code, a signal by its name, why it did not start, or nothing at all."""

    exit_code: int | None = None
    signal: str | None = None
    not_started: str = ""
    error: BaseException | None = None
    """What a callback raised."""

    @property
    def code(self) -> ResultCode:
        """What that means."""
        if self.not_started:
            return ResultCode.NOT_STARTED
        if self.signal is not None or self.error is not None:
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


class Run(Generic[Payload]):
    """One run. The planner makes it, the loop starts it, and the runner reports its end. Its identity counts.

    The library runs a task never beside itself, so the name of the task is the id of its run.
    """

    __slots__ = (
        "acceptance", "attempt", "decision", "ended_at", "handle", "result", "run_id", "seconds", "started_monotonic",
        "stop_reason", "timeout", "was_started", "work",
    )  # fmt: skip

    def __init__(self, attempt: RunStart, work: Payload, timeout: timedelta | None = None) -> None:
        self.attempt, self.work, self.timeout = attempt, work, timeout
        self.run_id = attempt.run_id
        self.decision: Decision | None = None  # of the first attempt of a period
        self.acceptance: Acceptance | None = None  # likewise
        self.was_started = False  # else it is not recorded yet, or something else took its place
        self.started_monotonic = 0.0
        self.handle: RunHandle | None = None  # by which the runner finds it again
        self.stop_reason: ResultCode | None = None  # the host ends it, and that is why
        self.result: RunResult | None = None  # until it has ended
        self.ended_at: Instant | None = None
        self.seconds = 0.0  # that it took by the monotonic clock

    @property
    def code(self) -> ResultCode:
        """How it ended: by what was seen of it, or because the host ended it."""
        found = RunResult().code if self.result is None else self.result.code
        return found if self.stop_reason is None or found is ResultCode.UNKNOWN else self.stop_reason


TaskRun: TypeAlias = Run[Callback]
JobRun: TypeAlias = Run[JobSpec]


class RunNews(NamedTuple, Generic[Payload]):
    """What the runner has reported, and the ledger does not know yet."""

    ended: Sequence[Run[Payload]] = ()
    handles: Sequence[RunHandle] = ()

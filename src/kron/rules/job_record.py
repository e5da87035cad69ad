"""What is remembered of jobs with periods: the jobs themselves, their executions, and what became of their periods."""

from enum import Enum
from typing import NamedTuple

from kron.instant import Instant
from kron.rules.verdict import Outcome


class Kind(Enum):
    """What a run belongs to."""

    PERIOD = "period"
    TRIGGER = "trigger"  # somebody asked for it; it belongs to no period
    BOOT = "boot"  # the machine was started


class Result(Enum):
    """How an attempt ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"  # an exit code that is not 0, or a signal
    TIMEOUT = "timeout"
    REPLACED = "replaced"
    STOPPED = "stopped"  # with the host
    NOT_STARTED = "not started"
    UNKNOWN = "unknown"  # nobody saw it


AGAIN = frozenset({Result.FAILED, Result.TIMEOUT, Result.NOT_STARTED})
"""Results after which a job that asks for it is tried again."""


class JobRecord(NamedTuple):
    """What is remembered of a job."""

    identity: str
    name: str
    definition: str  # the key of the one in force
    declared_at: Instant  # since when its timing is in force
    served: Instant  # every period of it with an effective time up to here is handled
    suspended: bool = False  # by command
    suspended_until: Instant | None = None
    boot: str = ""  # the boot at which it ran last, if it runs once for each
    declared: bool = True  # whether it is still defined


class Attempt(NamedTuple):
    """A run that begins. The first attempt of a period is its outcome, too: executed."""

    run_id: str  # best if it begins with the time: ledgers keep what begins together in one place
    identity: str
    kind: Kind
    nominal: Instant | None
    chosen: Instant | None
    attempt: int
    started: Instant
    definition: str  # its key
    boot: str  # the boot of the machine that it belongs to
    before: str = ""  # the run that failed and is tried again


class Process(NamedTuple):
    """By what a run is recognised once it is there."""

    run_id: str
    pid: int
    ticks: int  # when it began, in the clock ticks of the kernel


class End(NamedTuple):
    """How a run ended."""

    run_id: str
    ended: Instant
    result: Result
    exit_code: int | None = None
    signal: str | None = None
    detail: str = ""
    retry_at: Instant | None = None  # when it is tried again


class PeriodRecord(NamedTuple):
    """The outcome of a period that was not executed, or of neighbouring ones with the same outcome and reason.

    Neighbours follow each other by nominal time: they are all periods of the definition from the first to the last.
    """

    identity: str
    first: Instant  # nominal times
    last: Instant
    number: int
    chosen: Instant | None  # of the last
    effective: Instant  # the latest of theirs
    outcome: Outcome
    reason: str
    detail: str
    definition: str  # its key
    at: Instant  # when it was closed

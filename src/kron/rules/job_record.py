"""The records of jobs with periods: the jobs themselves, their executions, and the outcomes of their periods."""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple

from kron.errors import UnknownJobError
from kron.errors.base import nearest
from kron.instant import Instant
from kron.rules.verdict import Outcome


class RunKind(Enum):
    """What a run belongs to."""

    PERIOD = "period"
    TRIGGER = "trigger"  # a user started it; it belongs to no period
    BOOT = "boot"  # the machine was started


class ResultCode(Enum):
    """How an attempt ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"  # an exit code that is not 0, or a signal
    TIMEOUT = "timeout"
    REPLACED = "replaced"
    STOPPED = "stopped"  # with the host
    NOT_STARTED = "not started"
    UNKNOWN = "unknown"  # krond did not see its end


RETRYABLE = frozenset({ResultCode.FAILED, ResultCode.TIMEOUT, ResultCode.NOT_STARTED})
"""Results of a failed attempt: it is retried if its job asks for that, and hooks report the last one."""

PROBLEM = RETRYABLE | {ResultCode.UNKNOWN}
"""Results that a person should look at. A run whose end krond did not see may have succeeded, so it is not retried."""


class JobRecord(NamedTuple):
    """What is remembered of a job."""

    identity: str
    name: str
    definition_key: str  # the key of the one in force
    declared_at: Instant  # since when its timing is in force
    handled_until: Instant  # every period of it with an effective time up to here is handled
    is_suspended: bool = False  # by command
    suspended_until: Instant | None = None
    last_boot_id: str = ""  # the boot at which it ran last, if it runs once for each
    is_declared: bool = True  # whether it is still defined


class RunStart(NamedTuple):
    """A run that begins. The first attempt of a period is its outcome, too: executed."""

    run_id: str  # best if it begins with the time: ledgers keep what begins together in one place
    identity: str
    kind: RunKind
    nominal: Instant | None
    chosen: Instant | None
    attempt: int
    started: Instant
    definition_key: str  # its key
    boot_id: str  # the boot of the machine that it belongs to
    retry_of: str = ""  # the run that failed and is tried again


class RunHandle(NamedTuple):
    """By what a run is recognised once it is there."""

    run_id: str
    pid: int
    start_ticks: int  # when it began, in the clock ticks of the kernel


class UnfinishedRun(NamedTuple):
    """A run of which no end is recorded, and what it is recognised by, if that was recorded."""

    attempt: RunStart
    process: RunHandle | None


class RunEnd(NamedTuple):
    """How a run ended."""

    run_id: str
    ended_at: Instant
    result: ResultCode
    exit_code: int | None = None
    signal: str | None = None
    detail: str = ""
    retry_at: Instant | None = None  # when it is tried again


class LastResult(NamedTuple):
    """What was due last of a job."""

    outcome: Outcome
    result: ResultCode | None = None  # of an execution that has ended


class PeriodRecord(NamedTuple):
    """The outcome of a period that was not executed, or of neighbouring ones with the same outcome and reason.

    Neighbours follow each other by nominal time: they are all periods of the definition from the first to the last.
    """

    identity: str
    first: Instant  # nominal times
    last: Instant
    period_count: int
    chosen: Instant | None  # of the last
    last_effective: Instant  # the latest of theirs
    outcome: Outcome
    reason: str
    detail: str
    definition_key: str  # its key
    closed_at: Instant  # when it was closed


_COMPARED = 1_000  # jobs that are searched for a similar name: more would hold up the starts of krond


def find_identity(word: str, jobs: Iterable[tuple[str, str]], errors: tuple[str, ...] = ()) -> str:
    """Return the identity; `jobs` are names with identities. UnknownJobError if no job or several match.

    An unknown job may be in a file with errors: the message then repeats `errors`.
    """
    (found,) = find_identities([word], jobs, errors)
    return found


def find_identities(words: Sequence[str], jobs: Iterable[tuple[str, str]], errors: tuple[str, ...] = ()) -> list[str]:
    """Return the identity of each word, in one pass over the jobs: there may be thousands of both."""
    known: set[str] = set()
    named: dict[str, list[str]] = {word: [] for word in words}
    jobs = list(jobs)
    for name, identity in jobs:
        if identity in named:
            known.add(identity)
        if name in named:
            named[name].append(identity)
    for word, found in named.items():
        if word not in known and len(found) != 1:
            near = nearest(word, [name for name, _ in jobs[:_COMPARED]])
            raise UnknownJobError(job=word, identities=tuple(sorted(found)), errors=() if found else errors, near=near)
    return list(dict.fromkeys(word if word in known else named[word][0] for word in words))

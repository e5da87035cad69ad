"""KronJobs that are valid and as expensive as possible, and one of them in an operator and in krond."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from kron.decision.timing import Timing
from kron.engine.ledger import JobBatch, JobSnapshot
from kron.engine.ports import Refusal
from kron.instant import Instant, parse_duration
from kron.kronjob.parser import parse_kronjob
from kron.rules.job_spec import JobSpec
from kron.rules.periods import NO_PERIODS, HandledPeriods
from kron.rules.policy import Policy
from tests.attacks.turns import longest_turn
from tests.engine.jobs.restartable_host import RestartableHost
from tests.hosts.operator.replica import MINUTE, NOON, Replica, at_noon

DAY = timedelta(days=1)


class DocumentParameters(NamedTuple):
    """What a search may change of a document."""

    schedule: str = "* * * * *"
    zone: str = "UTC"
    mode: str = "after"
    hours: int = 16  # of the window
    distribution: str = "uniform"
    only: int = 0  # ranges of dates
    avoid: int = 0
    step: int = 2  # days from one range to the next
    minutes: int = 0  # of the day that `between` allows; 0: all
    deadline: str = "0s"
    salt: int = 0  # characters

    def spec(self) -> dict[str, Any]:
        """Return the spec of a KronJob."""
        only = _ranges(date(2030, 1, 1), self.only, self.step)
        only += (
            [f"between=12:00-{(720 + self.minutes - 1) // 60:02}:{(self.minutes - 1) % 60:02}"] if self.minutes else []
        )
        return {
            "schedule": self.schedule,
            "timeZone": self.zone,
            "window": {"mode": self.mode, "duration": f"{self.hours}h"},
            "distribution": {"name": self.distribution},
            "constraints": {"only": only, "avoid": _ranges(date(2026, 1, 1), self.avoid, self.step)},
            "policy": {"deadline": self.deadline},
            "seed": {"salt": "s" * self.salt},
        }

    def is_accepted(self) -> bool:
        """Whether an operator takes it."""
        spec = {**self.spec(), "jobTemplate": {"spec": {"template": {}}}}
        metadata = {"namespace": "ns", "name": "a", "uid": "u"}
        document = {"apiVersion": "kron.io/v1alpha1", "kind": "KronJob", "metadata": metadata, "spec": spec}
        return not isinstance(parse_kronjob(document), list)


def _ranges(first: date, number: int, step: int) -> list[str]:
    days = [first + timedelta(days=step * each) for each in range(number)]
    return [f"dates={day}..{day + timedelta(days=max(step - 2, 0))}" for day in days]


HEAVY = DocumentParameters(only=1000, avoid=1000)
RARELY_ALLOWED = DocumentParameters(minutes=1)


def operator_turn(draft: DocumentParameters, *, days: int = 30) -> float:
    """Return the longest turn from the creation of a KronJob to a resumption after days, an edit and its removal."""
    return longest_turn(lambda: _operate(draft, days))


async def _operate(draft: DocumentParameters, days: int) -> None:
    cluster, spec = at_noon(), draft.spec()
    cluster.kronjob("a", **spec)
    replica = await Replica(cluster).lead()
    await cluster.clock.advance(2 * MINUTE)
    cluster.kronjob("a", **{**spec, "policy": {**spec["policy"], "suspend": True}})
    await cluster.clock.advance(days * DAY)
    cluster.kronjob("a", **spec)
    await cluster.clock.advance(2 * MINUTE)
    cluster.kronjob("a", **{**spec, "seed": {"salt": "other"}})
    await cluster.clock.advance(2 * MINUTE)
    cluster.kronjob("a", **{**spec, "timeZone": "No/Where"})
    await cluster.clock.advance(MINUTE)
    await replica.stop()


class InstantLedger:
    """A ledger that takes no time of the loop: krond's own works in a thread."""

    async def open(self) -> None: ...

    async def load(self) -> JobSnapshot:
        return JobSnapshot()

    async def append(self, batch: JobBatch) -> Sequence[Refusal]:  # noqa: ARG002
        await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
        return ()

    async def handled(self, since: Mapping[str, Instant]) -> Mapping[str, HandledPeriods]:
        return dict.fromkeys(since, NO_PERIODS)

    async def close(self) -> None: ...


def krond_turn(draft: DocumentParameters, *, days: int = 30) -> float:
    """Return the longest turn of krond's engine: a declaration, a crash and the days after it, a resumption."""
    return longest_turn(lambda: _schedule(draft, days))


async def _schedule(draft: DocumentParameters, days: int) -> None:
    spec = draft.spec()
    policy = Policy(deadline=parse_duration(spec.pop("policy")["deadline"]))
    work = JobSpec("a", "a", Timing.from_dict(spec, identity="a"), policy, "{}")
    host = RestartableHost(start=NOON, store=InstantLedger())
    await host.begin(work)
    await host.clock.advance(2 * MINUTE)
    await host.suspend("a")
    await host.clock.advance(days * DAY)
    await host.resume("a")
    await host.clock.advance(2 * MINUTE)
    await host.engine.crash()

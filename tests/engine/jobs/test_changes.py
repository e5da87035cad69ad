"""The law of changes: nothing is changed before the commit, and a change that is not recorded has never been."""

import ast
import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pytest
from hypothesis import assume, event, given, reject, settings, strategies as st

import kron
from kron.engine.jobs.control import CloseDowntime, Recover, Suspend, Trigger, unfinished_runs
from kron.engine.jobs.declaration import JobDeclaration, jobs_needing_history
from kron.engine.jobs.job_state import JobState
from kron.engine.jobs.preparation import still_valid
from kron.engine.ledger import JobBatch
from kron.engine.planner import Change
from kron.engine.ports import Refusal
from kron.errors import KronError, LedgerWriteError
from kron.instant import Instant
from kron.rules.job_record import JobRecord
from kron.rules.job_spec import JobSpec
from kron.testing import MemoryJobLedger
from tests.engine.jobs.restartable_host import HOUR, MINUTE, RestartableHost, Runner, work
from tests.engine.state import snapshot

AnyChange = Change[Any, Any, Any]
Make = Callable[[Instant], AnyChange]
NAMES = ("a", "b", "c", "d")
LINES = (
    "* * * * *",
    "*/7 * * * * @win(after,20m)",
    "*/5 * * * * @win(around,2h)",
    "0 * * * * @win(after,90m) @dist(skewLate)",
    "*/10 * * * * @win(after,1h) @only(between=12:00-12:20)",
    "@reboot",
)


@dataclass(frozen=True)
class DrawnJob:
    """A job as a file declares it."""

    name: str
    line: int
    concurrency: str
    minutes: int  # its deadline
    retries: int
    command: str
    suspend: bool

    def spec(self) -> JobSpec:
        """Return the job."""
        policy = {"concurrency": self.concurrency, "deadline": f"{self.minutes}m", "suspend": self.suspend}
        return work(
            LINES[self.line], self.name, retries=self.retries, retry_delay=MINUTE, command=self.command, **policy
        )


SPECS = st.lists(
    st.builds(
        DrawnJob,
        name=st.sampled_from(NAMES),
        line=st.sampled_from(range(len(LINES))),
        concurrency=st.sampled_from(["allow", "forbid", "replace"]),
        minutes=st.sampled_from([0, 3, 60]),
        retries=st.sampled_from([0, 2]),
        command=st.sampled_from(["x", "y"]),
        suspend=st.sampled_from([False, False, False, True]),
    ),
    unique_by=lambda each: each.name,
    max_size=4,
)


class Story(NamedTuple):
    """What a host lives through before the change: acts, each with a number, and whether the last end is settled."""

    specs: Sequence[DrawnJob]
    max_active: int
    acts: Sequence[tuple[str, int]]
    redeclared: Sequence[DrawnJob]
    is_settled: bool


STORIES = st.builds(
    Story,
    specs=SPECS.filter(bool),
    max_active=st.sampled_from([0, 1, 3]),
    acts=st.lists(
        st.tuples(
            st.sampled_from(
                ["wait", "wait", "end", "fail", "suspend", "hold", "resume", "trigger", "declare", "crash"]
            ),
            st.integers(0, 90),
        ),
        max_size=8,
    ),
    redeclared=SPECS,
    is_settled=st.booleans(),
)


class Proposal(Protocol):
    """A change of a host, drawn."""

    @property
    def is_at_start(self) -> bool:
        """Whether it comes when the host comes back, before anything may start."""

    async def prepare(self, host: RestartableHost) -> Make:
        """Ask for what it takes, and return what makes it."""


@dataclass(frozen=True)
class SuspendProposal:
    """Jobs are suspended or resumed."""

    names: Sequence[str]
    suspended: bool
    minutes: int | None
    is_at_start = False

    async def prepare(self, host: RestartableHost) -> Make:
        names = [name for name in self.names if name in host.planner.jobs]

        def make(now: Instant) -> AnyChange:
            until = None if self.minutes is None or not self.suspended else now + self.minutes * MINUTE
            return Suspend(host.planner, names, now, suspended=self.suspended, until=until)

        return make


@dataclass(frozen=True)
class TriggerProposal:
    """A run outside the periods."""

    number: int
    is_at_start = False

    async def prepare(self, host: RestartableHost) -> Make:
        names = list(host.planner.jobs)
        assume(names)
        name = names[self.number % len(names)]
        return lambda now: Trigger(host.planner, name, now, has_room=host.runs.free_slots() > 0)


@dataclass(frozen=True)
class DeclarationProposal:
    """Other jobs; all of them, or as the operator does it: some, and some that are gone."""

    specs: Sequence[DrawnJob]
    is_prepared: bool
    is_whole: bool
    spares_absent: bool
    forgotten: Sequence[str]
    is_at_start: bool

    async def prepare(self, host: RestartableHost) -> Make:
        now = host.clock.now()
        works = [each.spec() for each in self.specs]
        leaving = None if self.is_whole else [each for each in host.planner.jobs if each in self.forgotten]
        joining = [] if self.is_whole else [each for each in works if host.planner.record(each.identity) is None]
        works = [each for each in works if each not in joining]
        prepared = still_valid(host.planner, await host.prepare(*works) if self.is_prepared else {}, now)
        handled = await host.store.handled(jobs_needing_history(host.planner, works, now, {}))

        def make(now: Instant) -> AnyChange:
            records = [JobRecord(each.identity, each.name, each.definition_key, now, now) for each in joining]
            joined = [JobState(spec, record) for spec, record in zip(joining, records, strict=True)]
            return JobDeclaration(
                host.planner, works, now, handled, prepared,
                leaving=leaving, joining=joined, spares_absent=self.spares_absent,
            )  # fmt: skip

        return make


@dataclass(frozen=True)
class RecoverProposal:
    """What a host finds when it comes back."""

    survivors: Sequence[int]
    is_at_start = True

    async def prepare(self, host: RestartableHost) -> Make:
        unfinished = unfinished_runs(host.planner)
        alive = {run.run_id for number, run in enumerate(unfinished) if number in self.survivors}
        return lambda now: Recover(host.planner, unfinished, alive, now)


@dataclass(frozen=True)
class DowntimeProposal:
    """What is over of the downtime of a job."""

    number: int
    is_at_start = True

    async def prepare(self, host: RestartableHost) -> Make:
        jobs = [job for job in host.planner.jobs.values() if job.work.timing is not None]
        assume(jobs)
        job, now = jobs[self.number % len(jobs)], host.clock.now()
        found = job.judge_downtime(now)
        return lambda _: CloseDowntime(host.planner, job, found, now)


CHANGES: dict[str, st.SearchStrategy[Proposal]] = {
    "Suspend": st.builds(
        SuspendProposal,
        st.lists(st.sampled_from(NAMES), min_size=1, unique=True),
        st.booleans(),
        st.sampled_from([None, 0, 30]),
    ),
    "Trigger": st.builds(TriggerProposal, st.integers(0, 3)),
    "JobDeclaration": st.builds(
        DeclarationProposal,
        SPECS,
        st.booleans(),
        st.booleans(),
        st.booleans(),
        st.lists(st.sampled_from(NAMES)),
        st.booleans(),
    ),
    "Recover": st.builds(RecoverProposal, st.lists(st.integers(0, 3))),
    "CloseDowntime": st.builds(DowntimeProposal, st.integers(0, 3)),
}


class FailingLedger(MemoryJobLedger):
    """Accepts nothing while `is_failing`; other tasks get a turn in any case."""

    def __init__(self) -> None:
        super().__init__()
        self.is_failing = False

    async def append(self, batch: JobBatch) -> Sequence[Refusal]:
        await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
        if self.is_failing:
            raise LedgerWriteError(path="test", reason="no space")
        return await super().append(batch)


class Twin:
    """A host that has lived through a story."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self.ledger = FailingLedger()
        self.host = RestartableHost(store=self.ledger, max_active=story.max_active)
        self.host.runner.lasts = None
        self.specs = [each.spec() for each in story.specs]

    async def live(self, *, is_at_start: bool) -> None:
        """Live until the change; `is_at_start`: it comes when the host comes back."""
        host, story = self.host, self._story
        await host.begin(*self.specs)
        for act, number in story.acts:
            await self._do(act, number)
        if is_at_start:
            await host.clock.advance(HOUR)
            await host.crash(40 * MINUTE)
            await host.engine.open()
            await host.declare(*self.specs)
        elif not story.is_settled and host.runner.running:
            host.runner.end(next(iter(host.runner.running)))

    async def _do(self, act: str, number: int) -> None:
        host = self.host
        name = NAMES[number % len(NAMES)]
        match act:
            case "wait":
                await host.clock.advance(number * MINUTE)
            case "end" | "fail":
                if host.runner.running:
                    host.runner.codes = [int(act == "fail")]
                    host.runner._end(list(host.runner.running)[number % len(host.runner.running)])
            case "suspend" | "hold" | "resume" | "trigger" if name not in host.planner.jobs:
                pass
            case "suspend":
                await host.suspend(name)
            case "hold":
                await host.suspend(name, until=host.clock.now() + 10 * MINUTE)
            case "resume":
                await host.resume(name)
            case "trigger":
                with suppress(KronError):
                    await host.trigger(name)
            case "declare":
                self.specs = [each.spec() for each in self._story.redeclared]
                await host.declare(*self.specs)
            case "crash":
                await host.crash(number * MINUTE)
                await host.begin(*self.specs)
        await host.clock.advance(timedelta())

    def state(self) -> object:
        """Return the state of the planner and of the runs."""
        return snapshot(self.host.planner, self.host.runs, leaves=(Runner,))

    async def apply(self, make: Make) -> object:
        """Apply a change; return what comes of it."""
        return snapshot(await self.host.engine.apply(make))

    async def fail_to_apply(self, make: Make) -> None:
        """Apply a change that the ledger does not take."""
        self.ledger.is_failing = True
        try:
            await self.host.engine.apply(make)
        finally:
            self.ledger.is_failing = False


async def begun(story: Story, proposal: Proposal) -> tuple[Twin, Make]:
    """Return a host after a story, and what makes the change."""
    twin = Twin(story)
    await twin.live(is_at_start=proposal.is_at_start)
    return twin, await proposal.prepare(twin.host)


async def failed(story: Story, proposal: Proposal) -> AnyChange:
    """Make a change, read what it says, and fail to record it: nothing is changed by any of that. Return it."""
    twin, make = await begun(story, proposal)
    before = twin.state()
    try:
        change = make(twin.host.clock.now())
    except KronError:  # it cannot be made: a trigger under `forbid`
        assert twin.state() == before
        reject()
    said = [snapshot(change.batch, list(change.starts), list(change.stops)) for _ in range(2)]

    assert said[0] == said[1]
    assert twin.state() == before
    if change.batch:
        with pytest.raises(LedgerWriteError):
            await twin.fail_to_apply(make)
        assert twin.state() == before
    await twin.host.engine.crash()
    return change


async def changed(story: Story, proposal: Proposal, failures: int) -> list[object]:
    """Return what is to be seen of a host whose change fails so often and then does not, then and hours later."""
    twin, make = await begun(story, proposal)
    for _ in range(failures):
        with pytest.raises(LedgerWriteError):
            await twin.fail_to_apply(make)
    seen = [await twin.apply(make), twin.state()]
    await twin.host.clock.advance(2 * HOUR)
    host = twin.host
    seen += [twin.state(), snapshot(host.log, host.runner.terminated, list(host.runner.running), vars(twin.ledger))]
    assert not host.refused
    await host.engine.crash()
    return seen


@pytest.mark.parametrize("name", CHANGES)
@given(data=st.data())
def test_a_change_that_is_not_recorded_changes_nothing(name: str, data: st.DataObject) -> None:
    story, proposal = data.draw(STORIES), data.draw(CHANGES[name])

    change = asyncio.run(failed(story, proposal))

    event(f"{type(change).__name__}, {'something' if change.batch else 'nothing'} to record")


@pytest.mark.parametrize("name", CHANGES)
@settings(max_examples=15)
@given(data=st.data())
def test_a_change_that_is_recorded_in_the_end_does_what_it_would_have_done_at_once(
    name: str, data: st.DataObject
) -> None:
    story, proposal = data.draw(STORIES)._replace(is_settled=True), data.draw(CHANGES[name])
    assume(asyncio.run(failed(story, proposal)).batch)  # else there is nothing that could fail

    at_once = asyncio.run(changed(story, proposal, 0))

    assert asyncio.run(changed(story, proposal, 2)) == at_once


def test_the_law_is_about_every_change_of_jobs() -> None:
    assert changes_of_the_package() == {*CHANGES, "TaskChange"}  # which has its own test


def changes_of_the_package() -> set[str]:
    """Return the classes of the engine whose commit takes what was refused, as that of a change does."""
    found = set()
    folder = Path(kron.__file__).parent
    for module in (*folder.glob("engine/*.py"), *folder.glob("engine/*/*.py")):  # also where a folder is a link
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and node.name != Change.__name__:
                commits = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "commit"]
                found |= {node.name for each in commits if "refused" in ast.unparse(each.args)}
    return found

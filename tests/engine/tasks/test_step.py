"""Tests of TaskStep: the records of one transaction, and their rollback."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kron.adapters.callback_runner import CallbackRunner
from kron.cron.schedule import Schedule
from kron.engine.active_runs import ActiveRuns
from kron.engine.agenda import TaskEntry
from kron.engine.emitter import Emitter, Observers
from kron.engine.loop import Engine
from kron.engine.runs import RunResult, TaskRun
from kron.engine.tasks.declaration import reschedule
from kron.engine.tasks.planner import ObligationPlanner
from kron.engine.tasks.step import TaskStep
from kron.instant import Instant, parse_instant
from kron.rules.contract import DECLARATIVE, POLLING, Contract, FirstMinute
from kron.rules.due import Occurrences
from kron.rules.events import Event
from kron.rules.obligation import ObligationReason, StartTask, plan_task
from kron.rules.registration import ScheduleReader, parse_registrations
from kron.rules.task_record import TaskRecord, TaskRunOutcome, TaskRunRecord
from tests.conformance.contract_harness import ContractHarness

ME, ANOTHER = "scheduler-2", "scheduler-1"
HOURLY = Occurrences(Schedule("0 * * * *"))
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
NOON = parse_instant("2026-03-02T12:00:00Z")
ALL = 1_000


async def work() -> None: ...


def task(name: str = "report", last_attempt: Instant = NOON - HOUR) -> TaskRecord:
    return TaskRecord(name, "0 * * * *", 5 * MINUTE, NOON - 24 * HOUR, last_attempt)


def running(name: str = "report", since: Instant = NOON) -> TaskRecord:
    return task(name, since)._replace(running_since=since, scheduler=ME)


def end(name: str = "report", error: BaseException | None = None, at: Instant = NOON + MINUTE) -> TaskRun:
    run = TaskRun(name, work, NOON, NOON)
    run.ended_at, run.result = at, RunResult(exit_code=0) if error is None else RunResult(error=error)
    return run


class PlannedAgenda:
    """An agenda with entries in their places, and a step in it."""

    def __init__(self, *records: TaskRecord, now: Instant, contract: Contract = DECLARATIVE) -> None:
        self.now, self.planner = now, ObligationPlanner({}, Emitter(lambda _: None), contract, ME)
        self.agenda, self.entries = self.planner.agenda, self.planner.entries
        for record in records:
            entry = self.entries[record.name] = TaskEntry(work, HOURLY, record)
            reschedule(self.agenda, entry, now, ME)
        self.step = TaskStep(self.planner, now)

    def act(self, *ends: TaskRun) -> TaskStep:
        """Settle what ended, then plan what is due, as the engine does."""
        self.step.settle(ends)
        self.step.plan(self.agenda.pop_due(self.now, ALL))
        return self.step

    @property
    def records(self) -> dict[str, TaskRecord]:
        return {name: entry.record for name, entry in self.entries.items()}

    @property
    def places(self) -> dict[str, Instant | None]:
        return {name: entry.at for name, entry in self.entries.items()}


# --- starts -----------------------------------------------------------------------------------------------------------


def test_a_due_task_begins_with_the_record_of_its_start() -> None:
    agenda = PlannedAgenda(task(), now=NOON)
    planned = plan_task(task(), HOURLY, NOON, ME)
    assert isinstance(planned, StartTask)

    step = agenda.act()

    assert step.begun == [planned.after]
    assert agenda.records == {"report": planned.after}
    assert [(entry.record, before, owed) for entry, before, owed in step.beginnings] == [
        (planned.after, task(), planned.owed)
    ]


def test_a_task_that_is_not_due_is_not_evaluated() -> None:
    step = PlannedAgenda(task("due"), task("not due", NOON), now=NOON).act()

    assert step.evaluated == 1
    assert [record.name for record in step.begun] == ["due"]


def test_an_entry_that_owes_nothing_after_all_is_put_where_it_will() -> None:
    agenda = PlannedAgenda(task(last_attempt=NOON), now=NOON)

    agenda.step.plan(agenda.entries.values())

    assert (agenda.step.evaluated, agenda.step.begun) == (1, [])
    assert agenda.places == {"report": NOON + HOUR}


def test_an_entry_that_runs_is_brought_back_by_its_end_and_not_by_time() -> None:
    agenda = PlannedAgenda(running(), now=NOON)

    agenda.step.plan(agenda.entries.values())

    assert agenda.places == {"report": None}


# --- ends -------------------------------------------------------------------------------------------------------------


def test_a_success_is_recorded_with_its_run() -> None:
    agenda = PlannedAgenda(running(), now=NOON + MINUTE)

    step = agenda.act(end())

    assert step.settled == [task(last_attempt=NOON)._replace(last_success=NOON + MINUTE)]
    assert step.runs == [TaskRunRecord("report", NOON, NOON, NOON + MINUTE, TaskRunOutcome.SUCCESS, None)]
    assert step.retries == [None]
    assert agenda.places == {"report": NOON + HOUR}


def test_a_failure_is_recorded_with_its_run_and_its_retry() -> None:
    agenda = PlannedAgenda(running(), now=NOON + MINUTE)

    step = agenda.act(end(error=ValueError("no such table")))

    error = "ValueError: no such table"
    assert step.runs == [TaskRunRecord("report", NOON, NOON, NOON + MINUTE, TaskRunOutcome.FAILURE, error)]
    assert step.retries == [NOON + 6 * MINUTE]
    assert agenda.places == {"report": NOON + 6 * MINUTE}


def test_the_end_of_a_task_that_is_gone_is_history_and_nothing_else() -> None:
    step = PlannedAgenda(now=NOON + MINUTE).act(end(error=ValueError("late")))

    assert step.settled == []
    assert [run.result for run in step.runs] == [TaskRunOutcome.FAILURE]
    assert (len(step.ended), step.retries) == (1, [None])


@pytest.mark.parametrize("contract", [POLLING, DECLARATIVE], ids=lambda contract: contract.name)
def test_a_record_keeps_its_owner_after_an_end_only_where_it_always_does(contract: Contract) -> None:
    step = PlannedAgenda(running(), now=NOON + MINUTE, contract=contract).act(end())

    assert step.settled[0].scheduler == (ME if contract is POLLING else "")


def test_an_occurrence_during_a_run_begins_in_the_step_that_records_its_end() -> None:
    agenda = PlannedAgenda(running(), now=NOON + HOUR + MINUTE)

    step = agenda.act(end(at=NOON + HOUR + MINUTE))

    assert [record.running_since for record in step.settled + step.begun] == [None, NOON + HOUR + MINUTE]
    assert [(before.last_success, owed.scheduled) for _, before, owed in step.beginnings] == [
        (NOON + HOUR + MINUTE, NOON + HOUR)
    ]


def test_starting_and_ended_tasks_are_distinguished() -> None:
    agenda = PlannedAgenda(running("one"), task("two"), running("three"), now=NOON + MINUTE)

    step = agenda.act(end("one"), end("gone"), end("three"))

    assert [before.name for _, before, _ in step.beginnings] == ["two"]
    assert [each.run_id for each in step.ended] == ["one", "gone", "three"]
    assert [owed.reason for owed in step.owed] == [ObligationReason.DUE]


# --- taking back ------------------------------------------------------------------------------------------------------


def test_an_undone_start_is_due_still() -> None:
    agenda = PlannedAgenda(task(), now=NOON)

    agenda.act().rollback()

    assert agenda.records == {"report": task()}
    assert agenda.agenda.next_instant() == NOON
    assert agenda.agenda.pop_due(NOON, ALL) == list(agenda.entries.values())


def test_an_undone_end_leaves_the_task_running() -> None:
    agenda = PlannedAgenda(running(), now=NOON + MINUTE)

    agenda.act(end(error=ValueError())).rollback()

    assert agenda.records == {"report": running()}
    assert agenda.places == {"report": None}


def test_an_undone_end_and_start_of_one_task_leave_it_running() -> None:
    agenda = PlannedAgenda(running(), now=NOON + HOUR + MINUTE)

    agenda.act(end()).rollback()

    assert agenda.records == {"report": running()}
    assert agenda.agenda.pop_due(NOON + 24 * HOUR, ALL) == []


def test_a_withdrawn_start_is_given_back_as_it_was_and_its_end_stays() -> None:
    agenda = PlannedAgenda(running(), task("due"), now=NOON + HOUR + MINUTE)
    ended = task(last_attempt=NOON)._replace(last_success=NOON + MINUTE)

    agenda.act(end()).withdraw()

    assert sorted(agenda.planner.withdrawn) == [task("due"), ended]
    assert agenda.records == {"report": ended, "due": task("due")}


def test_a_withdrawn_start_does_not_happen_and_the_next_step_records_that() -> None:
    agenda = PlannedAgenda(task(), now=NOON)

    agenda.act().withdraw()

    assert agenda.step.starts == []
    assert TaskStep(agenda.planner, NOON).batch.records == [task()]


def test_a_step_that_is_undone_leaves_withdrawn_starts_to_the_next_one() -> None:
    agenda = PlannedAgenda(task(), now=NOON)
    agenda.act().withdraw()

    TaskStep(agenda.planner, NOON).rollback()

    assert TaskStep(agenda.planner, NOON).batch.records == [task()]


@pytest.mark.parametrize(("written", "executed"), [(True, 1), (None, 0)])
def test_a_poll_has_executed_only_what_was_recorded(*, written: bool | None, executed: int) -> None:
    agenda, events = PlannedAgenda(task(), now=NOON), list[Event]()
    agenda.planner.emitter = Emitter(events.append)
    step = TaskStep(agenda.planner, NOON, 1.0)
    step.plan(agenda.agenda.pop_due(NOON, ALL))

    step.report(Observers([]), written=written, monotonic=3.0)

    assert events[-1].fields == {
        "pollTime": "2026-03-02T12:00:00Z", "tasksEvaluated": 1, "tasksExecuted": executed, "duration": 2.0,
    }  # fmt: skip


def test_a_step_without_a_start_has_nothing_to_withdraw() -> None:
    agenda = PlannedAgenda(running(), now=NOON + MINUTE)

    agenda.act(end()).withdraw()

    assert agenda.planner.withdrawn == []


def test_a_withdrawn_restart_is_an_interrupted_run_still() -> None:
    cut_off = running()._replace(scheduler=ANOTHER)
    agenda = PlannedAgenda(cut_off, now=NOON + MINUTE)

    agenda.act().withdraw()

    assert agenda.planner.withdrawn == [cut_off]


instants = st.timedeltas(-2 * HOUR, HOUR).map(lambda away: NOON + away)
maybe = st.none() | instants


@st.composite
def planned_agendas(draw: st.DrawFn) -> tuple[PlannedAgenda, list[TaskRun]]:
    """Draw tasks at rest, running here or cut off, and ends of some of those that run here."""
    records = [
        task(name, draw(instants))._replace(
            retry_until=draw(maybe), running_since=draw(maybe), scheduler=draw(st.sampled_from([ME, ANOTHER]))
        )
        for name in draw(st.sets(st.sampled_from("abcdef")))
    ]
    here = [record.name for record in records if record.running_since is not None and record.scheduler == ME]
    errors = st.none() | st.just(ValueError("no"))
    ends = [end(name, draw(errors)) for name in here if draw(st.booleans())]
    return PlannedAgenda(*records, now=NOON + MINUTE, contract=draw(st.sampled_from([POLLING, DECLARATIVE]))), ends


@given(planned_agendas())
def test_undoing_a_step_restores_every_record_and_every_place(drawn: tuple[PlannedAgenda, list[TaskRun]]) -> None:
    agenda, ends = drawn
    records, places = agenda.records, agenda.places

    agenda.act(*ends).rollback()

    assert agenda.records == records
    assert agenda.places == places


@given(planned_agendas())
def test_a_step_that_was_undone_does_the_same_again(drawn: tuple[PlannedAgenda, list[TaskRun]]) -> None:
    agenda, ends = drawn
    first = agenda.act(*ends)
    first.rollback()

    agenda.step = TaskStep(agenda.planner, agenda.now)
    second = agenda.act(*ends)

    assert {*second.settled, *second.begun} == {*first.settled, *first.begun}
    assert {*second.runs} == {*first.runs}


@given(planned_agendas())
def test_a_start_changes_nothing_but_what_every_ledger_writes_at_a_start(
    drawn: tuple[PlannedAgenda, list[TaskRun]],
) -> None:
    agenda, ends = drawn
    step = agenda.act(*ends)

    for (_, before, _), after in zip(step.beginnings, step.begun, strict=True):
        attempt = max(agenda.now, before.last_attempt or agenda.now)
        begun = before._replace(last_attempt=attempt, running_since=agenda.now, scheduler=ME, retry_until=None)
        assert after == begun._replace(retry_count=after.retry_count)


@given(planned_agendas())
def test_withdrawing_gives_back_exactly_the_records_before_the_starts(
    drawn: tuple[PlannedAgenda, list[TaskRun]],
) -> None:
    agenda, ends = drawn
    step = agenda.act(*ends)
    begun = [before for _, before, _ in step.beginnings]

    step.withdraw()

    assert agenda.planner.withdrawn == begun
    assert all(agenda.records[before.name] is before for before in begun)


def test_a_task_whose_record_cannot_be_judged_is_set_aside_alone() -> None:
    agenda = PlannedAgenda(task("bad"), task("good"), now=NOON)
    agenda.entries["bad"].record = task("bad", NOON.replace(tzinfo=None))

    step = agenda.act()

    assert [record.name for record in step.begun] == ["good"]
    assert [(name, type(error)) for name, error in step.aside] == [("bad", TypeError)]
    assert agenda.places["bad"] is None


@pytest.mark.parametrize("broken", [{"retry_delay": None}, {"last_attempt": "yesterday"}])
def test_a_task_whose_end_cannot_be_settled_is_set_aside_alone(broken: dict[str, Any]) -> None:
    agenda = PlannedAgenda(running("bad"), running("good"), now=NOON + MINUTE)
    agenda.entries["bad"].record = bad = agenda.entries["bad"].record._replace(**broken)

    step = agenda.act(end("bad", ValueError()), end("good"))

    assert [record.name for record in step.settled] == ["good"]
    assert [name for name, _ in step.aside] == ["bad"]
    assert [run.run_id for run in step.ended] == ["bad", "good"]
    assert len(step.retries) == len(step.ended)
    assert agenda.entries["bad"].record is bad


async def test_a_task_that_is_set_aside_is_reported_also_when_nothing_is_recorded() -> None:
    host = ContractHarness(DECLARATIVE)
    runs, emitter = ActiveRuns(host.clock, CallbackRunner()), Emitter(host.events.append)
    book = ObligationPlanner(runs.running, emitter, DECLARATIVE, "me")
    engine = Engine(host.clock, host.disk, book, runs, emitter, Observers([]))
    tasks = parse_registrations([host.task()], ScheduleReader(DECLARATIVE, "posix", "UTC"))
    await engine.open()
    engine.arm()
    await engine.apply(partial(book.declare, tasks))
    (entry,) = book.entries.values()
    broken: dict[str, Any] = {"last_attempt": "yesterday"}
    entry.record = entry.record._replace(**broken)
    before = dict(host.store.records)
    await host.until("11:00")
    assert host.store.records == before
    await engine.drain()

    assert [str(event.fields["taskName"]) for event in host.events_named("TaskSetAside")] == ["report"]


def test_a_step_starts_no_run_of_the_first_minute_under_a_contract_that_does_not_own_it() -> None:
    contract = replace(DECLARATIVE, first_minute=FirstMinute.NOT_OWNED)
    new = task()._replace(first_seen=NOON + MINUTE / 3, last_attempt=None)
    agenda = PlannedAgenda(new, now=NOON + MINUTE / 3, contract=contract)

    agenda.step.plan(agenda.entries.values())

    assert agenda.step.begun == []

"""TASK_LEDGER_SUITE: what every ledger of tasks must do, as functions that take a way to make one; also for yours.

    @pytest.mark.parametrize("check", TASK_LEDGER_SUITE, ids=lambda check: check.__name__)
    def test_my_ledger(check, tmp_path):
        asyncio.run(check(lambda: MyLedger(tmp_path / "ledger")))

The function is called several times in one check: each call stands for another scheduler, on the same store.
"""

from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any

from kron.engine.ports import TaskBatch, TaskLedger
from kron.errors import LedgerError, LedgerInUseError
from kron.instant import FIRST_INSTANT, LAST_INSTANT
from kron.rules.task_record import TaskRecord, TaskRunOutcome, TaskRunRecord
from kron.testing.job_ledger_suite import opened, reopened

TaskLedgerFactory = Callable[[], TaskLedger]
TaskLedgerCheck = Callable[[TaskLedgerFactory], Coroutine[Any, Any, None]]

_NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
_LATER = _NOW + timedelta(hours=1)
_NEVER_RAN = TaskRecord("never ran", "0 * * * *", timedelta(minutes=5), _NOW)
_EVERYTHING = TaskRecord(
    "name with\nnewline, \0 and ü 日本",
    "0,30 * * * 1-5",
    timedelta(milliseconds=1, microseconds=500),
    _NOW,
    last_attempt=_NOW + timedelta(minutes=1),
    last_success=_NOW + timedelta(minutes=2),
    last_failure=_NOW + timedelta(minutes=3),
    retry_until=LAST_INSTANT,
    retry_count=7,
    running_since=FIRST_INSTANT,
    scheduler="0123456789abcdef",
)
_RUN = TaskRunRecord("never ran", _NOW, _NOW, _NOW + timedelta(seconds=1), TaskRunOutcome.FAILURE, "ValueError: no")


async def a_new_ledger_remembers_nothing(make: TaskLedgerFactory) -> None:
    """There is nothing in a new one."""
    assert await reopened(make) == {}


async def a_record_comes_back_as_it_was(make: TaskLedgerFactory) -> None:
    """Every field, of a task that has never run and of one that has done everything."""
    found = await reopened(make, TaskBatch(records=[_NEVER_RAN, _EVERYTHING], runs=[_RUN]))

    assert found == {record.name: record for record in (_NEVER_RAN, _EVERYTHING)}


async def what_was_appended_is_there_without_a_close(make: TaskLedgerFactory) -> None:
    """Loading again shows it."""
    async with opened(make, TaskBatch(records=[_NEVER_RAN])) as ledger:
        assert await ledger.load() == {_NEVER_RAN.name: _NEVER_RAN}


async def the_last_word_on_a_task_counts(make: TaskLedgerFactory) -> None:
    """Within a batch and between batches."""
    later, last = _NEVER_RAN._replace(last_attempt=_NOW), _NEVER_RAN._replace(last_success=_NOW)

    found = await reopened(make, TaskBatch(records=[_NEVER_RAN, later]), TaskBatch(records=[later, last]))

    assert found == {last.name: last}


async def a_start_is_remembered_beside_all_that_was_before(make: TaskLedgerFactory) -> None:
    """Of a few tasks or of thousands, with different retry counts, also of one whose end comes in the same batch."""
    ended = _NEVER_RAN._replace(last_success=_NOW)
    before = [_EVERYTHING._replace(name=f"task {number}") for number in range(2_500)]
    after = [_begun(record, retry_count=number % 3) for number, record in enumerate(before)]
    batches = (
        TaskBatch(records=[*before, _NEVER_RAN]),
        TaskBatch(records=[_EVERYTHING], begun=after),
        TaskBatch(records=[ended], begun=[_begun(ended)]),
        TaskBatch(begun=[_begun(_EVERYTHING)]),
    )

    found = dict(await reopened(make, *batches))

    assert {name: found.pop(name) for name in (_NEVER_RAN.name, _EVERYTHING.name)} == {
        _NEVER_RAN.name: _begun(ended),
        _EVERYTHING.name: _begun(_EVERYTHING),
    }
    assert found == {record.name: record for record in after}


def _begun(record: TaskRecord, retry_count: int = 0) -> TaskRecord:
    """Return the record of a task that begins."""
    return record._replace(
        last_attempt=_LATER, running_since=_LATER, retry_until=None, retry_count=retry_count, scheduler="me"
    )


async def writing_the_same_again_changes_nothing(make: TaskLedgerFactory) -> None:
    """And refuses nothing, so that an append may be repeated when it is not known whether it was done."""
    async with opened(make, TaskBatch(records=[_NEVER_RAN])) as ledger:
        assert not await ledger.append(TaskBatch(records=[_NEVER_RAN]))

    assert await reopened(make) == {_NEVER_RAN.name: _NEVER_RAN}


async def a_forgotten_task_is_gone_and_may_come_back(make: TaskLedgerFactory) -> None:
    """Forgetting one that is not there is harmless."""
    both = TaskBatch(records=[_NEVER_RAN, _EVERYTHING])
    gone = TaskBatch(forgotten=[_NEVER_RAN.name, _EVERYTHING.name, "unknown"])

    assert await reopened(make, both, gone, TaskBatch(records=[_EVERYTHING])) == {_EVERYTHING.name: _EVERYTHING}


async def a_second_scheduler_is_refused_until_the_first_lets_go(make: TaskLedgerFactory) -> None:
    """The error says so, and the first goes on undisturbed."""
    async with opened(make) as first:
        try:
            await make().open()
        except LedgerInUseError:
            pass
        else:
            raise AssertionError("two schedulers have the same ledger")
        await first.append(TaskBatch(records=[_NEVER_RAN]))

    assert await reopened(make) == {_NEVER_RAN.name: _NEVER_RAN}


async def closing_twice_is_harmless(make: TaskLedgerFactory) -> None:
    """And so is closing one that was never open."""
    ledger = make()
    await ledger.close()
    await ledger.open()
    await ledger.close()
    await ledger.close()


async def a_closed_ledger_takes_nothing(make: TaskLedgerFactory) -> None:
    """It says so instead of losing it."""
    ledger = make()
    await ledger.open()
    await ledger.load()
    await ledger.close()

    try:
        await ledger.append(TaskBatch(records=[_NEVER_RAN]))
    except LedgerError:
        return
    raise AssertionError("a closed ledger took a record")


TASK_LEDGER_SUITE: tuple[TaskLedgerCheck, ...] = (
    a_new_ledger_remembers_nothing,
    a_record_comes_back_as_it_was,
    what_was_appended_is_there_without_a_close,
    the_last_word_on_a_task_counts,
    a_start_is_remembered_beside_all_that_was_before,
    writing_the_same_again_changes_nothing,
    a_forgotten_task_is_gone_and_may_come_back,
    a_second_scheduler_is_refused_until_the_first_lets_go,
    closing_twice_is_harmless,
    a_closed_ledger_takes_nothing,
)

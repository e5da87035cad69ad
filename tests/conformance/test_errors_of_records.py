"""The errors of unreadable records: raised by the list that meets them, and without any effect."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from kron import KronError
from kron.errors import (
    TaskInvalidStructureError,
    TaskInvalidTypeError,
    TaskInvalidValueError,
    TaskMissingFieldError,
    TaskTryDeserializeError,
)
from kron.rules.contract import Contract
from kron.rules.task_record import TaskRecord
from kron.testing import FaultyLedger, MemoryTaskLedger
from tests.conformance.citing import clause
from tests.conformance.contract_harness import MINUTE, ContractHarness, at

SOUND = TaskRecord("report", "0 * * * *", 5 * MINUTE, at("09:00")).to_fields()


class RawFieldsLedger(MemoryTaskLedger):
    """A user's store, which keeps the fields of each task as they were written."""

    def __init__(self, noted: object) -> None:
        super().__init__()
        self.noted = noted

    async def load(self) -> dict[str, TaskRecord]:
        return {"report": TaskRecord.from_fields(self.noted)}


async def of_notes(harness: ContractHarness, noted: object) -> KronError:
    """Return the error of a list that meets these notes."""
    harness.disk = FaultyLedger(RawFieldsLedger(noted))
    with pytest.raises(KronError) as caught:
        await harness.scheduler().initialize([harness.task()])
    return caught.value


async def of_file(harness: ContractHarness, ledger: Path, damage: str) -> KronError:
    """Return the error of a list that meets a file whose record of the task was damaged."""
    scheduler = harness.scheduler(ledger)
    await scheduler.initialize([harness.task()])
    await scheduler.stop()
    with closing(sqlite3.connect(ledger, isolation_level=None)) as connection:
        connection.execute(damage)
    with pytest.raises(KronError) as caught:
        await harness.scheduler(ledger).initialize([harness.task()])
    return caught.value


def parts(error: KronError) -> tuple[type[KronError], str, dict[str, object]]:
    """Return the kind, the message and the details."""
    return type(error), str(error), dict(error.details)


@pytest.mark.parametrize(
    "noted",
    [
        {field: value for field, value in SOUND.items() if field != "lastAttemptAt"},
        {**SOUND, "retryDelayMs": "soon"},
        {**SOUND, "retryDelayMs": -1},
        {**SOUND, "lastAttemptAt": "yesterday"},
        "no record",
    ],
    ids=["missing", "type", "value", "instant", "structure"],
)
@clause("errors.task-try-deserialize")
async def test_every_damage_of_a_record_is_refused_by_an_error_of_the_same_family(
    contract: Contract, noted: object
) -> None:
    harness = ContractHarness(contract)

    error = await of_notes(harness, noted)

    assert isinstance(error, TaskTryDeserializeError)
    assert harness.event_names("SchedulerInitializationCompleted", "SchedulerInitializationFailed") == [
        "SchedulerInitializationFailed"
    ]


@clause("errors.task-try-deserialize")
async def test_a_record_as_it_was_written_is_read(contract: Contract) -> None:
    harness = ContractHarness(contract)
    harness.disk = FaultyLedger(RawFieldsLedger(SOUND))

    await harness.start(harness.task())

    assert harness.starts() == [at("10:07:30")], "it was registered at nine and has missed ten o'clock"


@clause("errors.task-missing-field")
async def test_a_field_that_is_missing_is_named(contract: Contract, tmp_path: Path) -> None:
    error = await of_file(ContractHarness(contract), tmp_path / "tasks.db", "ALTER TABLE task DROP COLUMN retryDelayMs")

    message = "Missing required field: retryDelayMs"
    assert parts(error) == (TaskMissingFieldError, message, {"field": "retryDelayMs"})


@pytest.mark.parametrize("field", SOUND)
@clause("errors.task-missing-field")
async def test_every_field_of_a_record_is_required(contract: Contract, field: str) -> None:
    noted = {name: value for name, value in SOUND.items() if name != field}

    error = await of_notes(ContractHarness(contract), noted)

    assert parts(error) == (TaskMissingFieldError, f"Missing required field: {field}", {"field": field})


@clause("errors.task-invalid-type")
async def test_a_field_of_the_wrong_type_is_reported_with_both_types(contract: Contract, tmp_path: Path) -> None:
    error = await of_file(ContractHarness(contract), tmp_path / "tasks.db", "UPDATE task SET retryDelayMs = 'soon'")

    message = "Invalid type for field 'retryDelayMs': expected number, got str"
    details = {"field": "retryDelayMs", "value": "soon", "expectedType": "number", "actualType": "str"}
    assert parts(error) == (TaskInvalidTypeError, message, details)


@clause("errors.task-invalid-value")
async def test_a_number_that_cannot_be_is_reported_with_the_reason(contract: Contract, tmp_path: Path) -> None:
    error = await of_file(ContractHarness(contract), tmp_path / "tasks.db", "UPDATE task SET retryDelayMs = -5")

    message = "Invalid value for field 'retryDelayMs': must not be negative"
    details = {"field": "retryDelayMs", "value": -5, "reason": "must not be negative"}
    assert parts(error) == (TaskInvalidValueError, message, details)


@clause("errors.task-invalid-value")
async def test_a_time_that_cannot_be_is_reported_with_the_reason(contract: Contract, tmp_path: Path) -> None:
    error = await of_file(
        ContractHarness(contract), tmp_path / "tasks.db", "UPDATE task SET lastAttemptAt = '2026-02-30'"
    )

    message = "Invalid value for field 'lastAttemptAt': must be an RFC 3339 instant"
    details = {"field": "lastAttemptAt", "value": "2026-02-30", "reason": "must be an RFC 3339 instant"}
    assert parts(error) == (TaskInvalidValueError, message, details)


@pytest.mark.parametrize("noted", ["a text", ["report", "0 * * * *"], 7, None], ids=repr)
@clause("errors.task-invalid-structure")
async def test_a_row_that_is_no_record_is_reported_as_it_was_found(contract: Contract, noted: object) -> None:
    error = await of_notes(ContractHarness(contract), noted)

    message = "Persisted task is not a mapping of fields to values"
    assert parts(error) == (TaskInvalidStructureError, message, {"value": noted})


@pytest.mark.parametrize("field", ["retryDelayMs", "lastAttemptAt"], ids=["wrong type", "wrong value"])
@clause("errors.enough-and-no-more")
async def test_the_error_of_a_record_names_the_field_and_not_what_was_in_it(contract: Contract, field: str) -> None:
    error = await of_notes(ContractHarness(contract), {**SOUND, field: "hunter2"})

    assert field in error.message
    assert "hunter2" not in error.message

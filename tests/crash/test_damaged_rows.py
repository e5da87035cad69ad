"""Rows that no version of Kron has written are each refused by an error that names the defect."""

from pathlib import Path

import pytest

from kron.errors import (
    KronError,
    TaskInvalidStructureError,
    TaskInvalidTypeError,
    TaskInvalidValueError,
    TaskMissingFieldError,
    TaskTryDeserializeError,
)
from kron.rules.task_record import FIELDS, TaskRecord
from tests.crash.damaged_ledger import accept, execute, fingerprint, make_ledger, new_scheduler, refusal

TEXTS = ("cronExpression", "firstSeenAt", "schedulerIdentifier")
NUMBERS = ("retryDelayMs", "retryCount")
INSTANTS = tuple(field for field in FIELDS if field.endswith(("At", "Until", "Since")))
NO_INSTANTS = ("yesterday", "", "2026-03-02", "2026-02-30T00:00:00Z", "2026-03-02T10:00:00", "10000-01-01T00:00:00Z")


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = tmp_path / "ledger"
    make_ledger(path)
    return path


def refused(ledger: Path, assignment: str) -> KronError:
    """Damage the third row, and return the error; the file must not have changed by being looked at."""
    execute(ledger, f"UPDATE task SET {assignment} WHERE id = 3")
    before = fingerprint(ledger)
    error = refusal(new_scheduler(ledger))
    assert fingerprint(ledger) == before
    return error


@pytest.mark.parametrize("field", [*TEXTS, *NUMBERS])
def test_a_field_that_is_null_has_the_wrong_type(ledger: Path, field: str) -> None:
    error = refused(ledger, f"{field} = NULL")

    assert type(error) is TaskInvalidTypeError
    assert (error.details["field"], error.details["actualType"]) == (field, "NoneType")


@pytest.mark.parametrize("field", [field for field in FIELDS if field not in NUMBERS])
def test_a_text_that_is_bytes_has_the_wrong_type(ledger: Path, field: str) -> None:
    error = refused(ledger, f"{field} = x'00ff'")

    assert type(error) is TaskInvalidTypeError
    assert (error.details["field"], error.details["expectedType"]) == (field, "string")


@pytest.mark.parametrize("field", NUMBERS)
def test_a_number_that_is_a_text_has_the_wrong_type(ledger: Path, field: str) -> None:
    error = refused(ledger, f"{field} = 'soon'")

    assert type(error) is TaskInvalidTypeError
    assert (error.details["field"], error.details["expectedType"]) == (field, "number")


@pytest.mark.parametrize("text", NO_INSTANTS, ids=repr)
@pytest.mark.parametrize("field", INSTANTS)
def test_an_instant_that_is_none_has_a_value_that_cannot_be(ledger: Path, field: str, text: str) -> None:
    error = refused(ledger, f"{field} = '{text}'")

    assert type(error) is TaskInvalidValueError
    assert (error.details["field"], error.details["value"]) == (field, text)


@pytest.mark.parametrize(
    ("assignment", "field"),
    [
        ("retryDelayMs = -1", "retryDelayMs"),
        ("retryDelayMs = -0.5", "retryDelayMs"),
        ("retryDelayMs = 9e999", "retryDelayMs"),
        ("retryDelayMs = 1e300", "retryDelayMs"),
        ("retryCount = -1", "retryCount"),
        ("retryCount = 1.5", "retryCount"),
        ("name = ''", "name"),
        ("cronExpression = ''", "cronExpression"),
    ],
)
def test_a_number_or_text_out_of_its_range_has_a_value_that_cannot_be(
    ledger: Path, assignment: str, field: str
) -> None:
    error = refused(ledger, assignment)

    assert type(error) is TaskInvalidValueError
    assert error.details["field"] == field


def test_a_count_that_cannot_be_counted_on_has_a_value_that_cannot_be(ledger: Path) -> None:
    error = refused(ledger, f"retryCount = {2**63 - 1}")

    assert type(error) is TaskInvalidValueError


@pytest.mark.parametrize("field", [field for field in FIELDS if field != "name"])  # the name's index holds its column
def test_a_column_that_is_gone_is_a_missing_field(ledger: Path, field: str) -> None:
    execute(ledger, f"ALTER TABLE task DROP COLUMN {field}")
    before = fingerprint(ledger)

    error = refusal(new_scheduler(ledger))

    assert type(error) is TaskMissingFieldError
    assert error.details == {"field": field}
    assert fingerprint(ledger) == before


def test_a_record_that_is_no_mapping_has_no_structure() -> None:
    """A table's row cannot be one; a ledger of another kind may meet it."""
    with pytest.raises(TaskInvalidStructureError):
        TaskRecord.from_fields(["task 2", "* * * * *"])


def test_the_damaged_task_and_its_file_are_named(ledger: Path) -> None:
    error = refused(ledger, "firstSeenAt = 'yesterday'")

    assert isinstance(error, TaskTryDeserializeError)
    assert error.__notes__ == [f"task 'task 2' in {ledger}"]


def test_a_scheduler_that_was_refused_goes_on_when_the_row_is_repaired(ledger: Path) -> None:
    execute(ledger, "UPDATE task SET retryCount = -1 WHERE id = 3")
    scheduler = new_scheduler(ledger)
    refusal(scheduler)
    execute(ledger, "UPDATE task SET retryCount = 0 WHERE id = 3")

    accept(scheduler)

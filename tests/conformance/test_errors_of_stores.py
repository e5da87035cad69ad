"""The errors of a store that refuses a task, fails as a whole, or is damaged."""

import re
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from kron import KronError
from kron.errors import (
    LedgerError,
    ScheduleTaskError,
    TaskInvalidStructureError,
    TaskInvalidTypeError,
    TaskInvalidValueError,
    TaskMissingFieldError,
    TaskTryDeserializeError,
)
from kron.rules.contract import Contract
from kron.rules.events import Event
from tests.conformance.citing import clause
from tests.conformance.contract_harness import ContractHarness, RegistrationTuple, at, disk_full
from tests.conformance.test_input_and_failures import INTERNALS

CRONS = {"first": "0 3 * * *", "second": "0 4 * * *", "third": "0 5 * * *"}
SQL = ("no such", "SELECT", "INSERT", "UPDATE", "PRAGMA", "constraint", "SQL", "sqlite", "syntax", "trigger says")


def three(harness: ContractHarness) -> list[RegistrationTuple]:
    """Return a list of three tasks, each with a schedule of its own."""
    return [harness.task(name, cron) for name, cron in CRONS.items()]


def execute(path: Path, statement: str) -> None:
    """Change the file behind the back of its owner."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)


async def stored(harness: ContractHarness, path: Path, *tasks: RegistrationTuple) -> None:
    """Let a scheduler make the file and stop."""
    scheduler = harness.scheduler(path)
    await scheduler.initialize(list(tasks))
    await scheduler.stop()


async def refused(harness: ContractHarness, path: Path | None, tasks: list[RegistrationTuple]) -> KronError:
    """Return the error of a list."""
    with pytest.raises(KronError) as caught:
        await harness.scheduler(path).initialize(tasks)
    return caught.value


# --- scheduling that fails --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CRONS)
@clause("errors.schedule-task")
async def test_of_three_tasks_the_one_that_the_store_refuses_is_named(
    contract: Contract, tmp_path: Path, name: str
) -> None:
    harness, path = ContractHarness(contract), tmp_path / "tasks.db"
    await stored(harness, path)
    when = f"BEFORE INSERT ON task WHEN NEW.name = '{name}'"
    execute(path, f"CREATE TRIGGER no {when} BEGIN SELECT RAISE(ABORT, 'the trigger says no'); END")

    error = await refused(harness, path, three(harness))

    assert isinstance(error, ScheduleTaskError)
    assert error.message.startswith(f"Failed to schedule task '{name}': ")
    assert (error.details["name"], error.details["cronExpression"]) == (name, CRONS[name])
    assert isinstance(error.details["cause"], Exception)
    assert error.details.keys() == {"name", "cronExpression", "cause"}


@clause("errors.schedule-task")
async def test_a_store_that_fails_as_a_whole_is_blamed_on_no_task(contract: Contract) -> None:
    harness, cause = ContractHarness(contract), disk_full()
    harness.disk.fail_next(error=cause)

    error = await refused(harness, None, three(harness))

    assert isinstance(error, ScheduleTaskError)
    assert error.message.endswith(f": {cause}")
    assert [name for name in CRONS if name in error.message] == []
    assert dict(error.details) == {"name": None, "cronExpression": None, "cause": cause}


@clause("errors.schedule-task")
async def test_a_store_that_cannot_be_opened_is_an_error_of_scheduling(contract: Contract, tmp_path: Path) -> None:
    path = tmp_path / "tasks.db"
    path.write_text("no database at all")
    harness = ContractHarness(contract)

    error = await refused(harness, path, three(harness))
    empty = await refused(harness, path, [])

    assert isinstance(error, ScheduleTaskError)
    assert isinstance(error.details["cause"], LedgerError)
    assert (error.details["name"], error.details["cronExpression"]) == (None, None)
    assert isinstance(empty, LedgerError), "without tasks there is none that could not be scheduled"


# --- no internals -----------------------------------------------------------------------------------------------------


def internals(texts: list[str]) -> list[tuple[str, str]]:
    """Return what the texts have of the inside of the program, or of its database."""
    return [(word, text) for text in texts for word in (*INTERNALS, *SQL) if word in text]


def texts_of(events: list[Event]) -> list[str]:
    """Return every text that the events have."""
    return [str(value) for event in events for value in event.fields.values()]


@pytest.mark.parametrize(
    "damage",
    [
        "DROP TABLE task",
        "DROP TABLE run",
        "ALTER TABLE task DROP COLUMN retryCount",
        "CREATE TRIGGER no BEFORE UPDATE ON task BEGIN SELECT RAISE(ABORT, 'the trigger says no'); END",
    ],
    ids=["no tasks", "no runs", "a field less", "refused"],
)
@clause("failures.no-internals")
async def test_with_any_damage_of_the_file_no_message_and_no_event_contains_sql(
    contract: Contract, tmp_path: Path, damage: str
) -> None:
    harness, path = ContractHarness(contract, "10:59:30"), tmp_path / "tasks.db"
    scheduler = harness.scheduler(path)
    tasks = [harness.task(), harness.task("other")]
    await scheduler.initialize(tasks)
    execute(path, damage)
    messages: list[str] = []

    await harness.until("11:00:10")
    for call in (scheduler.initialize([*tasks, harness.task("new")]), scheduler.stop()):
        try:
            await call
        except KronError as error:
            messages.append(str(error))
    with suppress(KronError):
        await harness.scheduler(path).initialize(tasks)

    assert (
        messages or harness.events_named("LedgerAppendFailed") or harness.events_named("SchedulerInitializationFailed")
    )
    assert internals([*messages, *texts_of(harness.events)]) == []


@clause("failures.no-internals")
async def test_the_text_of_the_database_is_kept_as_the_cause(contract: Contract, tmp_path: Path) -> None:
    harness, path = ContractHarness(contract), tmp_path / "tasks.db"
    scheduler = harness.scheduler(path)
    await scheduler.initialize([harness.task()])
    execute(path, "DROP TABLE task")

    with pytest.raises(KronError) as caught:
        await scheduler.initialize([harness.task("other")])

    causes, error = [], caught.value
    while isinstance(error, KronError):
        causes.append(error)
        error = error.details.get("cause")  # type: ignore[assignment] # whatever it is
    assert isinstance(error, sqlite3.Error)
    assert "no such table" in str(error)


# --- damaged records --------------------------------------------------------------------------------------------------

BLOB = "UPDATE task SET {} = x'00ff'"
TEXTS = ("name", "cronExpression", "schedulerIdentifier")
TIMES = ("firstSeenAt", "lastAttemptAt", "lastSuccessAt", "lastFailureAt", "pendingRetryUntil", "runningSince")
NUMBERS = ("retryDelayMs", "retryCount")
DAMAGES: list[tuple[str, str, type[TaskTryDeserializeError]]] = [
    *((field, f"UPDATE task SET {field} = x'00ff'", TaskInvalidTypeError) for field in (*TEXTS, *TIMES, *NUMBERS)),
    *((field, f"UPDATE task SET {field} = 'soon'", TaskInvalidValueError) for field in TIMES),
    *((field, f"UPDATE task SET {field} = 'soon'", TaskInvalidTypeError) for field in NUMBERS),
    *((field, f"UPDATE task SET {field} = -1", TaskInvalidValueError) for field in NUMBERS),
    *((field, f"UPDATE task SET {field} = ''", TaskInvalidValueError) for field in ("name", "cronExpression")),
    *((field, f"UPDATE task SET {field} = NULL", TaskInvalidTypeError) for field in ("firstSeenAt", *NUMBERS)),
    *((field, f"ALTER TABLE task DROP COLUMN {field}", TaskMissingFieldError) for field in (*TIMES, *NUMBERS)),
]


@pytest.mark.parametrize(("field", "damage", "kind"), DAMAGES, ids=[damage for _, damage, _ in DAMAGES])
@clause("errors.task-try-deserialize", under=("declarative",))
async def test_every_damage_of_a_stored_field_is_an_error_of_the_family_that_names_it(
    contract: Contract, tmp_path: Path, field: str, damage: str, kind: type[TaskTryDeserializeError]
) -> None:
    await _damage_is_named(ContractHarness(contract), tmp_path / "tasks.db", field, damage, kind)


@pytest.mark.parametrize(("field", "damage", "kind"), DAMAGES[::6], ids=[damage for _, damage, _ in DAMAGES[::6]])
@clause("errors.task-try-deserialize", under=("polling-draft", "polling"))
async def test_damage_of_a_stored_field_is_an_error_of_the_family_under_each_contract(
    contract: Contract, tmp_path: Path, field: str, damage: str, kind: type[TaskTryDeserializeError]
) -> None:
    await _damage_is_named(ContractHarness(contract), tmp_path / "tasks.db", field, damage, kind)


async def _damage_is_named(
    harness: ContractHarness, path: Path, field: str, damage: str, kind: type[KronError]
) -> None:
    await stored(harness, path, harness.task())
    execute(path, damage)
    before = path.read_bytes()

    error = await refused(harness, path, [harness.task()])

    assert isinstance(error, TaskTryDeserializeError)
    assert (type(error), error.name, error.details["field"]) == (kind, kind.__name__, field)
    assert field in error.message
    expected = {
        TaskMissingFieldError: {"field"},
        TaskInvalidTypeError: {"field", "value", "expectedType", "actualType"},
        TaskInvalidValueError: {"field", "value", "reason"},
    }
    assert error.details.keys() == expected[kind]
    assert harness.began == []
    assert path.read_bytes() == before, "a damaged record is left as it was found"


@clause("errors.task-try-deserialize")
async def test_a_file_whose_damage_is_repaired_is_read_again(contract: Contract, tmp_path: Path) -> None:
    harness, path = ContractHarness(contract, "10:59:30"), tmp_path / "tasks.db"
    scheduler = harness.scheduler(path)
    await scheduler.initialize([harness.task()])
    await harness.until("11:00:30")
    await scheduler.stop()
    execute(path, "UPDATE task SET retryDelayMs = 'soon'")
    await refused(harness, path, [harness.task()])
    execute(path, "UPDATE task SET retryDelayMs = 300000")
    await harness.until("11:59:59")

    await harness.scheduler(path).initialize([harness.task()])
    await harness.until("12:00")

    assert harness.starts() == [at("11:00"), at("12:00")]


@pytest.mark.parametrize(
    ("statement", "value"),
    [("CREATE TABLE task (x, y)", ["x", "y"]), ("CREATE VIEW task AS SELECT 7 AS seven", ["seven"])],
    ids=["another table", "a view"],
)
@clause("errors.task-invalid-structure")
async def test_a_file_whose_tasks_have_no_field_of_a_record_has_no_records_at_all(
    contract: Contract, tmp_path: Path, statement: str, value: list[str]
) -> None:
    harness, path = ContractHarness(contract), tmp_path / "tasks.db"
    await stored(harness, path, harness.task())
    execute(path, "DROP TABLE task")
    execute(path, statement)

    error = await refused(harness, path, [harness.task()])

    assert type(error) is TaskInvalidStructureError
    assert isinstance(error, TaskTryDeserializeError)
    assert dict(error.details) == {"value": value}
    assert re.fullmatch(r"[A-Z][a-z ]+", error.message)
    assert harness.event_names("SchedulerInitializationFailed", "SchedulerInitializationCompleted")[-1:] == [
        "SchedulerInitializationFailed"
    ]

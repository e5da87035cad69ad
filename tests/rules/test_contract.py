"""The four contracts: one row for each point on which the documents differ."""

from dataclasses import fields
from datetime import timedelta

import pytest

from kron.cron.schedule import Repeated
from kron.rules.contract import (
    DECLARATIVE,
    KRON,
    POLLING,
    POLLING_DRAFT,
    PRESETS,
    ChangedDefinition,
    Contract,
    EventLog,
    FailedReinitialize,
    FirstMinute,
    History,
    Identifier,
    Interrupted,
    MissedDue,
    Orphan,
    Overlap,
    Overlapping,
    WhileActive,
)

COLUMNS = (POLLING_DRAFT, POLLING, DECLARATIVE, KRON)
ROWS: dict[str, tuple[object, object, object, object]] = {
    "repeated_minute": (Repeated.FIRST, Repeated.FIRST, Repeated.BOTH, None),
    "cron_blanks": (" \t\n\r", " \t", " \t", " \t"),
    "initialize_while_active": (
        WhileActive.RECONCILE, WhileActive.RECONCILE, WhileActive.REJECT, WhileActive.RECONCILE,
    ),
    "overlapping_initialize": (Overlapping.QUEUE, Overlapping.JOIN, Overlapping.REJECT, Overlapping.QUEUE),
    "failed_reinitialize": (
        FailedReinitialize.STOP, FailedReinitialize.RESET, FailedReinitialize.KEEP, FailedReinitialize.KEEP,
    ),
    "changed_task_history": (History.RESET, History.RESET, History.KEEP, History.KEEP),
    "orphan_means": (Orphan.UNREGISTERED, Orphan.UNREGISTERED, Orphan.INTERRUPTED, Orphan.INTERRUPTED),
    "interrupted_run": (Interrupted.WAIT_FOR_DUE, Interrupted.RESTART, Interrupted.RESTART, Interrupted.LOST),
    "identifier_in_record": (Identifier.ALWAYS, Identifier.ALWAYS, Identifier.WHILE_RUNNING, Identifier.ALWAYS),
    "wraps_step_errors": (True, True, False, False),
    "already_active_error": (False, False, True, False),
    "event_log": (EventLog.FULL, EventLog.NAMES, EventLog.NAMES, EventLog.FULL),
    "poll_interval": (timedelta(minutes=1), timedelta(minutes=1), None, None),
    "start_lag": (None, timedelta(minutes=1), timedelta(minutes=1), None),
    "start_lag_is_hard": (False, True, False, False),
    "missed_due": (MissedDue.RUN_ONCE, MissedDue.RUN_ONCE, MissedDue.RUN_ONCE, MissedDue.BY_DEADLINE),
    "overlap": (Overlap.DEFER, Overlap.DEFER, Overlap.DEFER, Overlap.BY_POLICY),
    "first_minute": (FirstMinute.RUN, FirstMinute.RUN, FirstMinute.RUN, FirstMinute.NOT_OWNED),
    "changed_definition": (
        ChangedDefinition.RESET, ChangedDefinition.RESET, ChangedDefinition.RECOMPUTE, ChangedDefinition.BY_CHOSEN_TIME,
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_a_row_holds_in_each_contract(row: str) -> None:
    assert tuple(getattr(contract, row) for contract in COLUMNS) == ROWS[row]


def test_every_field_is_a_row_but_name_and_properties() -> None:
    assert {field.name for field in fields(Contract)} == {*ROWS, "name", "properties"}


def test_presets_are_found_by_name() -> None:
    assert list(PRESETS) == ["polling-draft", "polling", "declarative", "kron"]
    assert PRESETS["declarative"] is DECLARATIVE


def test_the_properties_of_a_contract_are_the_suite_it_is_checked_against() -> None:
    assert POLLING_DRAFT.properties == ()
    assert POLLING.properties == (
        "P1", "P2", "P3", "P4", "P5", "P6", "P9", "P10", "P11", "P12", "P13", "P14", "P15", "P16", "P17",
    )  # fmt: skip
    assert DECLARATIVE.properties == ("E", "A", "S", "L", "T")
    invariants = tuple(f"I{number}" for number in range(1, 13))
    assert KRON.properties == (*invariants, "S3", "S4", "T1", "T3")

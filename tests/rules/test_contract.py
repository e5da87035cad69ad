"""The four contracts: one row for each point on which they differ."""

from dataclasses import fields
from datetime import timedelta

import pytest

from kron.cron.schedule import RepeatedPolicy
from kron.rules.contract import (
    DECLARATIVE,
    KRON,
    POLLING,
    POLLING_DRAFT,
    PRESETS,
    CatchUp,
    ChangedTaskHistory,
    ConcurrentInitialize,
    Contract,
    FailedReinitialize,
    FirstMinute,
    IdentifierScope,
    InitializeWhileActive,
    InterruptedRun,
    OrphanMeaning,
)

COLUMNS = (POLLING_DRAFT, POLLING, DECLARATIVE, KRON)
ROWS: dict[str, tuple[object, object, object, object]] = {
    "repeated_minute": (RepeatedPolicy.FIRST, RepeatedPolicy.FIRST, RepeatedPolicy.BOTH, None),
    "cron_blanks": (" \t\n\r", " \t", " \t", " \t"),
    "initialize_while_active": (
        InitializeWhileActive.RECONCILE,
        InitializeWhileActive.RECONCILE,
        InitializeWhileActive.REJECT,
        InitializeWhileActive.RECONCILE,
    ),
    "overlapping_initialize": (
        ConcurrentInitialize.QUEUE,
        ConcurrentInitialize.JOIN,
        ConcurrentInitialize.REJECT,
        ConcurrentInitialize.QUEUE,
    ),
    "failed_reinitialize": (
        FailedReinitialize.STOP,
        FailedReinitialize.RESET,
        FailedReinitialize.KEEP,
        FailedReinitialize.KEEP,
    ),
    "changed_task_history": (
        ChangedTaskHistory.RESET,
        ChangedTaskHistory.RESET,
        ChangedTaskHistory.KEEP,
        ChangedTaskHistory.KEEP,
    ),
    "orphan_means": (
        OrphanMeaning.UNREGISTERED,
        OrphanMeaning.UNREGISTERED,
        OrphanMeaning.INTERRUPTED,
        OrphanMeaning.INTERRUPTED,
    ),
    "interrupted_run": (
        InterruptedRun.WAIT_FOR_DUE,
        InterruptedRun.RESTART,
        InterruptedRun.RESTART,
        InterruptedRun.LOST,
    ),
    "identifier_in_record": (
        IdentifierScope.ALWAYS,
        IdentifierScope.ALWAYS,
        IdentifierScope.WHILE_RUNNING,
        IdentifierScope.ALWAYS,
    ),
    "wraps_step_errors": (True, True, False, False),
    "poll_interval": (timedelta(minutes=1), timedelta(minutes=1), None, None),
    "start_lag": (None, timedelta(minutes=1), timedelta(minutes=1), None),
    "catch_up": (CatchUp.RUN_ONCE, CatchUp.RUN_ONCE, CatchUp.RUN_ONCE, CatchUp.BY_DEADLINE),
    "first_minute": (FirstMinute.RUN, FirstMinute.RUN, FirstMinute.RUN, FirstMinute.NOT_OWNED),
}


@pytest.mark.parametrize("row", ROWS)
def test_a_row_holds_in_each_contract(row: str) -> None:
    assert tuple(getattr(contract, row) for contract in COLUMNS) == ROWS[row]


def test_every_field_is_a_row_but_the_name() -> None:
    assert {field.name for field in fields(Contract)} == {*ROWS, "name"}


def test_presets_are_found_by_name() -> None:
    assert list(PRESETS) == ["polling-draft", "polling", "declarative", "kron"]
    assert PRESETS["declarative"] is DECLARATIVE

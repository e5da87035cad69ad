"""Attempts without a period are counted and grouped like those of a period."""

from pathlib import Path

import pytest

from kron.engine.ledger import HistoryQuery, JobBatch
from kron.rules.job_record import RunKind
from kron.testing.job_ledger_suite import (
    DECLARED,
    JOB,
    MINUTE,
    NOW,
    TRIGGERED,
)
from tests.adapters.sqlite.job_histories import remembered


@pytest.mark.parametrize("kind", [RunKind.TRIGGER, RunKind.BOOT], ids=lambda kind: kind.value)
def test_attempts_without_a_period_are_counted_and_folded_likewise(tmp_path: Path, kind: RunKind) -> None:
    first = TRIGGERED._replace(kind=kind)
    begun = [first]
    for number in (2, 3):
        begun.append(first._replace(run_id=f"try {number}", attempt=number, retry_of=begun[-1].run_id))
        begun[-1] = begun[-1]._replace(started=first.started + number * MINUTE)
    other = first._replace(run_id="other", started=first.started + MINUTE)
    history = remembered(tmp_path, DECLARED, JobBatch(begun=[*begun, other]))

    rows = history.rows(HistoryQuery())
    folded = history.rows(HistoryQuery(executions=True))

    assert [(row.attempt, row.attempts) for row in rows] == [(1, 3), (1, 1), (2, 3), (3, 3)]
    assert [(row.run_id, row.started_at) for row in folded] == [
        ("other", rows[1].started_at),
        ("try 3", rows[0].started_at),
    ]


def test_an_execution_without_a_period_is_folded_at_the_instant_of_each_of_its_attempts(tmp_path: Path) -> None:
    again = TRIGGERED._replace(run_id="again", attempt=2, retry_of=TRIGGERED.run_id, started=NOW + 5 * MINUTE)
    history = remembered(tmp_path, DECLARED, JobBatch(begun=[TRIGGERED]), JobBatch(begun=[again]))

    for at in (TRIGGERED.started, again.started):
        assert [row.run_id for row in history.rows(HistoryQuery(JOB.identity, at=at, executions=True))] == ["again"]

"""The wall clock is set while krond runs: every period keeps one outcome and runs once."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.faults.conftest import NewKrond
from tests.faults.fake_clock import FakeClock
from tests.hosts.krond.krond_process import NEVER

pytestmark = pytest.mark.slow

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)
JOBS = f"[jobs.ticks]\nschedule = '* * * * *'\ncommand = 'true'\n[jobs.pokes]\n{NEVER}\ncommand = 'true'\n"


def test_a_clock_that_is_set_back_and_forth_runs_nothing_twice_and_leaves_nothing_out(
    new_krond: NewKrond, tmp_path: Path
) -> None:
    clock = FakeClock(tmp_path)
    clock.set(NOON - 6 * SECOND)  # time to start on a busy machine
    krond = new_krond(JOBS, environment=clock.environment).start()
    assert krond.wait_for("PeriodExecuted")["period_id"] == "2026-03-02T12:00:00Z"

    for hours in (2, -1, -1, 3):
        clock.move(hours * HOUR)
        krond.ask("trigger", "pokes", "--wait")  # it looks at the clock
        assert round(krond.wait_for("ClockJumped")["seconds"]) == hours * 3600

    rows = krond.json("history", "ticks", "--limit", "1000")
    assert [(row["outcome"], row["reason"]) for row in rows if row["kind"] == "range"] == [("missed", "deadline")] * 2
    outcomes: Counter[datetime] = Counter()
    for row in rows:
        last = datetime.fromisoformat(row["period_id"])
        outcomes.update(last - timedelta(minutes=number) for number in range(row.get("count", 1)))
    assert set(outcomes.values()) == {1}
    assert sorted(outcomes) == [NOON + timedelta(minutes=number) for number in range(len(outcomes))]
    assert len(outcomes) >= 180

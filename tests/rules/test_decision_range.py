"""A range of closed periods gives each of their decisions: its line, its first and its last name exactly them."""

from datetime import UTC, datetime, timedelta

import pytest

from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.engine.jobs.step import closed_by
from kron.rules.decision_range import DecisionRange
from kron.rules.job_record import JobRecord
from kron.rules.outage import Outage, recover
from kron.rules.periods import HandledPeriods
from kron.rules.policy import Policy
from kron.rules.verdict import Reason

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
BACK = datetime(2026, 3, 29, 12, tzinfo=UTC)  # in Paris, 02:00 to 03:00 did not occur that day
RECORD = JobRecord("a", "a", "key", BACK - 9 * DAY, BACK - 9 * DAY)


@pytest.mark.parametrize("down", [7 * HOUR, 3 * DAY], ids=["few", "many"])
@pytest.mark.parametrize("deadline", ["0s", "2h"])
@pytest.mark.parametrize(
    "line",
    [
        "* * * * *",
        "* * * * * @win(around,20m) @dist(normal)",
        "*/5 * * * * @tz(Europe/Paris) @dst(gap=shift,repeated=first) @win(after,1h)",
        '*/30 * * * * @win(after,30m) @seed(daily,salt="a b") @only(hours=1-6)',
    ],
)
def test_the_ranges_of_an_outage_name_exactly_the_periods_that_it_closes(
    line: str, deadline: str, down: timedelta
) -> None:
    timing = Timing.parse(line, identity="a")
    gap = Outage(BACK - down, BACK, Reason.DOWNTIME)
    nominals = list(timing.schedule.between(gap.since - HOUR, gap.until))
    handled = HandledPeriods.from_nominals(nominals[20:200:17])

    found = recover(timing, Policy.from_dict({"deadline": deadline}), gap, BACK, handled)

    records = [closed_by(RECORD, closing, BACK) for closing in [*found.closed_before, *found.closed_after]]
    ranges = [DecisionRange.from_dict(DecisionRange.of(timing, record).to_dict()) for record in records]
    decisions = [list(each.decisions()) for each in ranges]
    assert [len(each) for each in decisions] == [record.period_count for record in records]
    assert [each[-1] for each in decisions] == [decide(timing, record.last) for record in records]
    closed = [decision.nominal_time for each in decisions for decision in each]
    assert len(closed) == len(set(closed))
    assert not any(handled.has(nominal) for nominal in closed)
    assert any(record.period_count > 1 for record in records)

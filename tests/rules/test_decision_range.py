"""A range of closed periods gives each of their decisions from its definition, its first and its last time."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.engine.jobs.step import closed_by
from kron.errors import InvalidDecisionError
from kron.rules.events import DecisionRange
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


# --- a range that was written by someone else -------------------------------------------------------------------------

NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)
HOURLY = DecisionRange("a", "0 * * * *", NINE, NINE + 3 * HOUR, 4)


def test_a_range_that_names_what_its_definition_names_is_not_contradicted() -> None:
    assert HOURLY.contradiction() is None
    assert replace(HOURLY, last=NINE, count=1).contradiction() is None


@pytest.mark.parametrize("field", ["first", "last"])
def test_an_end_that_the_definition_does_not_name_is_contradicted(field: str) -> None:
    beside: dict[str, Any] = {field: NINE + timedelta(minutes=1)}

    found = replace(HOURLY, **beside).contradiction()

    assert found is not None
    assert found.endswith("2026-03-02T09:01:00Z, which the definition does not name")
    assert f".{field}_period_id of a" in found


@pytest.mark.parametrize("count", [3, 5])
def test_another_number_of_periods_is_contradicted(count: int) -> None:
    found = replace(HOURLY, count=count).contradiction()

    assert found is not None
    assert found.endswith(f".count of a is {count}, and the definition names 4")


@pytest.mark.parametrize("count", [0, -1, True, 1.0, "1", None])
def test_a_count_is_a_whole_number_from_1_on(count: object) -> None:
    with pytest.raises(InvalidDecisionError, match="must be a whole number from 1 on, found"):
        DecisionRange.from_dict({**HOURLY.to_dict(), "count": count})


def test_a_count_of_one_is_accepted() -> None:
    assert DecisionRange.from_dict({**HOURLY.to_dict(), "count": 1}).count == 1


def test_a_field_that_is_missing_is_named() -> None:
    record = HOURLY.to_dict()
    del record["identity"]

    with pytest.raises(InvalidDecisionError, match=r"\.identity must be a text, and is missing"):
        DecisionRange.from_dict(record)


def test_a_range_that_begins_with_the_calendar_is_refused() -> None:
    first = datetime.min.replace(tzinfo=UTC)

    with pytest.raises(InvalidDecisionError, match="lies before the calendar"):
        replace(HOURLY, first=first).contradiction()

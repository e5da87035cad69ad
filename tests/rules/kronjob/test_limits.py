"""A window and a deadline may span a thousand periods, and no more."""

from datetime import timedelta

import pytest

from kron.cron.schedule import Schedule
from kron.rules.kronjob.limits import spans_too_many
from tests.rules.kronjob.world import document, errors, kronjob


@pytest.mark.parametrize(
    ("schedule", "longest"),
    [
        ("* * * * *", timedelta(minutes=999, seconds=59)),
        ("*/5 * * * *", timedelta(minutes=4999, seconds=59)),
        ("0 0 * * *", timedelta(days=999, hours=23)),
        ("* * 29 2 *", timedelta(minutes=999, seconds=59)),
    ],
)
def test_a_span_holds_a_thousand_periods_and_not_one_more(schedule: str, longest: timedelta) -> None:
    assert not spans_too_many(Schedule(schedule), longest)
    assert spans_too_many(Schedule(schedule), longest + timedelta(hours=1))


def test_window_and_deadline_count_together() -> None:
    assert kronjob(schedule="* * * * *", window={"duration": "8h"}, policy={"deadline": "8h"})

    (error,) = errors(document(schedule="* * * * *", window={"duration": "9h"}, policy={"deadline": "8h"}))

    assert error.field == "spec.window.duration"
    assert error.message == "9h with spec.policy.deadline 8h spans more than 1000 periods"

"""The limits of a KronJob: reading all of a cluster must not be delayed by one."""

from datetime import timedelta
from typing import Any

import pytest

from kron.cron.schedule import Schedule
from kron.decision.bounds import MOST_VALUES
from kron.decision.constraint import Clauses, Constraints
from kron.kronjob.spec_fields import (
    MAX_DEPTH,
    definition_hash,
    exceeds_max_depth,
    exceeds_max_periods,
    is_unsatisfiable,
)
from tests.kronjob.kronjob_documents import TEMPLATE, document, errors, kronjob


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
    assert not exceeds_max_periods(Schedule(schedule), longest)
    assert exceeds_max_periods(Schedule(schedule), longest + timedelta(hours=1))


def test_window_and_deadline_count_together() -> None:
    assert kronjob(schedule="* * * * *", window={"duration": "8h"}, policy={"deadline": "8h"})

    (error,) = errors(document(schedule="* * * * *", window={"duration": "9h"}, policy={"deadline": "8h"}))

    assert error.field == "spec.window.duration"
    assert error.message == "9h with spec.policy.deadline 8h spans more than 1000 periods"


# --- depth ------------------------------------------------------------------------------------------------------------


def nested(levels: int) -> Any:
    found: Any = "core"
    for level in range(levels):
        found = [found] if level % 2 else {"a": found}
    return found


def test_a_hundred_levels_are_read_and_one_more_is_not() -> None:
    assert not exceeds_max_depth(nested(MAX_DEPTH))
    assert exceeds_max_depth(nested(MAX_DEPTH + 1))
    assert exceeds_max_depth(nested(100_000))


def test_a_template_that_is_too_deep_is_an_error_under_its_path() -> None:
    template = {"spec": {**TEMPLATE["spec"], "more": nested(5_000)}}

    (error,) = errors(document(jobTemplate=template))

    assert str(error) == "error: spec.jobTemplate: is more than 100 levels deep; write it flatter"


def test_parameters_that_are_too_deep_are_an_error_and_have_a_hash() -> None:
    given = document(distribution={"name": "uniform", "params": {"x": nested(5_000)}})

    (error,) = errors(given)

    assert error.field == "spec.distribution"
    assert definition_hash(given["spec"]) != definition_hash(document()["spec"])


# --- constraints ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("clauses", [["date=2026-01-01"] * MOST_VALUES, ["date=" + ",".join(["2026-01-01"] * 300)]])
def test_a_list_of_constraints_has_at_most_a_thousand_values(clauses: list[str]) -> None:
    assert kronjob(constraints={"avoid": clauses})

    (error,) = errors(document(constraints={"avoid": clauses * 4}))

    assert error.field == "spec.constraints.avoid"
    assert "at most 1000 values" in error.message


def test_a_schedule_that_takes_too_long_to_check_is_not_called_impossible() -> None:
    centuries = Clauses.parse([f"dates={first}01-01-01..{first + 1}00-12-31" for first in range(10, 90)])
    on_a_leap_day = Constraints(centuries, Clauses.parse(["dow=MON-SUN"]))

    assert not is_unsatisfiable(on_a_leap_day)

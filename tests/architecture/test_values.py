"""Public values can be copied, pickled and sent to another process, and are then equal to what they were."""

import copy
import pickle
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from kron import Decision, Job, KronError, Policy, Schedule, Timing, decide
from kron.errors import InvalidDefinitionError

LINE = (
    "0 9 * * MON-FRI @tz(Europe/Paris) @dst(gap=shift,repeated=first) @win(around,90m) @dist(normal,sigma=10m) "
    "@seed(daily,salt=x) @only(hours=8-10) @avoid(date=2026-12-25) @policy(deadline=10m)"
)
TIMING = Timing.parse(LINE, identity="a")
VALUES = {
    "schedule": Schedule("*/5 * * * *", "America/New_York", gap="shift"),
    "timing": TIMING,
    "decision": decide(TIMING, datetime(2026, 3, 2, 8, tzinfo=UTC)),
    "policy": Policy.from_dict({"deadline": "10m"}),
    "job": Job.parse(f"{LINE} name=x command=true", identity="a"),
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
@pytest.mark.parametrize("twin", [lambda value: pickle.loads(pickle.dumps(value)), copy.copy, copy.deepcopy])
def test_a_twin_is_equal_and_hashes_alike(value: object, twin: object) -> None:
    assert callable(twin)

    other = twin(value)

    assert other == value
    assert hash(other) == hash(value)


def test_an_error_can_be_pickled_with_its_details() -> None:
    with pytest.raises(KronError) as caught:
        Schedule("61 * * * *")

    twin = pickle.loads(pickle.dumps(caught.value))

    assert (type(twin), str(twin), twin.details) == (type(caught.value), str(caught.value), caught.value.details)
    assert twin.pointer == caught.value.pointer  # type: ignore[attr-defined] # of a cron expression's error


def test_a_schedule_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        VALUES["schedule"].timezone = "UTC"  # type: ignore[attr-defined] # that is the point


@pytest.mark.parametrize(
    "build",
    [
        lambda: Timing("a", "0 0 * * *"),  # type: ignore[arg-type] # that is the point
        lambda: Timing("a", Schedule("@daily"), "after,2h"),  # type: ignore[arg-type]
        lambda: Policy("allow"),  # type: ignore[arg-type]
        lambda: Policy(deadline="10m"),  # type: ignore[arg-type]
        lambda: Job("x"),  # type: ignore[arg-type]
    ],
)
def test_a_value_built_from_the_wrong_parts_is_refused(build: Callable[[], object]) -> None:
    with pytest.raises(InvalidDefinitionError):
        build()


def test_a_subclass_of_datetime_does_not_spread() -> None:
    class Stamp(datetime):
        pass

    decision = decide(TIMING, Stamp(2026, 3, 2, 8, tzinfo=UTC))

    assert type(decision.nominal_time) is type(decision.chosen_time) is datetime


def test_a_pickled_timing_still_decides() -> None:
    nominal = datetime(2026, 3, 2, 8, tzinfo=UTC)
    decision: Decision = decide(pickle.loads(pickle.dumps(TIMING)), nominal)

    assert decision == decide(TIMING, nominal)

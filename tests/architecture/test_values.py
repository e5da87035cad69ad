"""Public values can be copied, pickled and sent to another process, and are then equal to what they were."""

import copy
import pickle
from datetime import UTC, datetime

import pytest

from kron import Decision, Job, Policy, Schedule, Timing, decide

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


def test_a_pickled_timing_still_decides() -> None:
    nominal = datetime(2026, 3, 2, 8, tzinfo=UTC)
    decision: Decision = decide(pickle.loads(pickle.dumps(TIMING)), nominal)

    assert decision == decide(TIMING, nominal)

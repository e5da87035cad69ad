"""The effect of another list on owed runs."""

import pytest

from kron.theory.formula import TruthValue
from kron.theory.trace_format import TraceEvent
from tests.theory.test_checker import NEVER_NOW, check
from tests.theory.traces import finding


@pytest.mark.parametrize(("later", "verdict"), [(100_000, TruthValue.UNDECIDED), (100_001, TruthValue.VIOLATED)])
def test_another_list_restarts_the_time_limit(later: int, verdict: TruthValue) -> None:
    def init(t: int, call: int, *names: str) -> list[TraceEvent]:
        listed = [{"name": name, "cron": NEVER_NOW, "retryDelayMs": 1_000} for name in names]
        start = TraceEvent(t, "InitStart", {"call": call, "registrations": listed})
        return [start, TraceEvent(t, "InitSuccess", {"call": call})]

    due, other = TraceEvent(0, "Due", {"task": "b"}), TraceEvent(later, "RunStart", {"task": "a"})

    report = check([*init(0, 1, "a", "b"), due, *init(40_000, 2, "b"), other], "declarative")

    assert finding(report, "L1").verdict is verdict

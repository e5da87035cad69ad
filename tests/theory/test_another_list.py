"""What another list does to what is owed."""

import pytest

from kron.theory.meaning import Verdict
from kron.theory.trace import Position
from tests.theory.test_checker import NEVER_NOW, check
from tests.theory.traces import finding


@pytest.mark.parametrize(("later", "verdict"), [(100_000, Verdict.UNDECIDED), (100_001, Verdict.VIOLATED)])
def test_with_another_list_the_time_that_it_may_take_begins_anew(later: int, verdict: Verdict) -> None:
    def init(t: int, call: int, *names: str) -> list[Position]:
        listed = [{"name": name, "cron": NEVER_NOW, "retryDelayMs": 1_000} for name in names]
        start = Position(t, "InitStart", {"call": call, "registrations": listed})
        return [start, Position(t, "InitSuccess", {"call": call})]

    due, other = Position(0, "Due", {"task": "b"}), Position(later, "RunStart", {"task": "a"})

    report = check([*init(0, 1, "a", "b"), due, *init(40_000, 2, "b"), other], "declarative")

    assert finding(report, "L1").verdict is verdict

"""Decisions depend only on their inputs: not on the process, its hash seed, its zone or its locale."""

import json
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from kron import Timing, decide

LINES = [
    "0 0 * * * @win(after,3h) @seed(stable,salt=backup)",
    "0 9 * * * @tz(Europe/Paris) @win(around,90m) @dist(normal) @seed(daily) @only(dow=MON-FRI;hours=8-9)",
    "0 9 * * * @tz(Pacific/Apia) @win(after,48h) @dist(exponential) @seed(weekly) @avoid(date=2026-03-02)",
]
PROGRAM = """
import json, sys
from datetime import UTC, datetime
from kron import Timing, decide
for line in json.loads(sys.stdin.read()):
    print(decide(Timing.parse(line, identity="test/jöb"), datetime(2026, 3, 1, 9, tzinfo=UTC)).to_json())
"""


def decisions_here() -> list[str]:
    nominal = datetime(2026, 3, 1, 9, tzinfo=UTC)
    return [decide(Timing.parse(line, identity="test/jöb"), nominal).to_json() for line in LINES]


def decisions_in_a_process_with(**environment: str) -> list[str]:
    finished = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(LINES),
        env={"PYTHONPATH": ":".join(sys.path), "PYTHONUTF8": "1", **environment},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return finished.stdout.splitlines()


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "0", "TZ": "UTC"},
        {"PYTHONHASHSEED": "1", "TZ": "America/New_York"},
        {"PYTHONHASHSEED": "4294967295", "TZ": "Asia/Kathmandu", "LC_ALL": "de_DE.UTF-8", "PYTHONTZPATH": ""},
    ],
    ids=["seed 0 in UTC", "seed 1 in New York", "another seed in Kathmandu"],
)
def test_another_process_makes_the_same_decisions(environment: dict[str, str]) -> None:
    assert decisions_in_a_process_with(**environment) == decisions_here()


def test_deciding_again_and_in_another_order_changes_nothing() -> None:
    first = decisions_here()
    timings = [Timing.parse(line, identity="test/jöb") for line in reversed(LINES)]

    again = [decide(timing, datetime(2026, 3, 1, 9, tzinfo=UTC)).to_json() for timing in timings]

    assert again == first[::-1]

"""SIGKILL of krond at random instants, with real child processes that record their runs."""

from pathlib import Path

import pytest

from tests.faults.killed_krond import KilledKrond


@pytest.mark.slow
def test_a_krond_that_is_killed_two_hundred_times_forgets_nothing_and_does_nothing_twice(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    story = KilledKrond(tmp_path, seed=2)
    for _ in range(200):
        story.live()
    story.settle()

    assert story.judge() == []
    with capfd.disabled():
        print(f"killed at random: {story.summary()}")
    assert story.counts["survivors"] >= 50
    assert story.counts["executed"] >= 500

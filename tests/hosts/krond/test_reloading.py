"""Files that are read anew by a krond that runs: what moved, and what is gone and comes back."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.krond.daemon import NEVER, Krond

LONG = f"""
[jobs.long]
{NEVER}
command = ["sleep", "1000"]
"""
SHORT = f"""
[jobs.short]
{NEVER}
command = ["true"]
"""


@pytest.fixture
def krond(tmp_path: Path) -> Iterator[Krond]:
    daemon = Krond(tmp_path, LONG + SHORT).start()
    yield daemon
    daemon.ask("stop", "--now")
    daemon.end()


def test_a_job_that_has_moved_in_its_file_is_found_where_it_stands(krond: Krond) -> None:
    before = {job["name"]: job["line"] for job in krond.json("jobs")}
    krond.write(f"# moved\n\n{LONG}{SHORT}")

    assert krond.ask("reload").returncode == 0

    assert {job["name"]: job["line"] - 2 for job in krond.json("jobs")} == before


def test_a_job_that_is_gone_and_comes_back_is_active_while_it_runs(krond: Krond) -> None:
    krond.ask("trigger", "long")
    for text in (SHORT, LONG + SHORT):
        krond.write(text)
        assert krond.ask("reload").returncode == 0

    found = krond.ask("trigger", "long")

    assert (found.returncode, found.stdout) == (1, "")
    assert [job["active"] for job in krond.json("jobs")] == [1, 0]

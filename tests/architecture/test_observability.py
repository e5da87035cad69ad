"""docs/observability.md names every event of hosts and every number."""

from pathlib import Path

import pytest

from kron.adapters.metrics_sink import JobMetrics, Present
from kron.rules.event import HOSTS

PAGE = (Path(__file__).parents[2] / "docs" / "observability.md").read_text("utf-8")


@pytest.mark.parametrize("event", HOSTS)
def test_every_event_of_hosts_is_described(event: str) -> None:
    assert f"`{event}`" in PAGE


def test_every_number_is_described() -> None:
    told = JobMetrics().snapshot(Present(0, (), {})).render().decode()
    names = {line.split(" ")[2] for line in told.splitlines() if line.startswith("# TYPE")}

    assert names
    assert [name for name in names if not name.endswith("_created") and f"`{name}" not in PAGE] == []

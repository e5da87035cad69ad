"""docs/observability.md names every event of hosts and every metric."""

import re
from pathlib import Path

import pytest

from kron.adapters.prometheus import JobGauges, JobMetrics
from kron.rules.events import HOSTS

PAGE = (Path(__file__).parents[2] / "docs" / "observability.md").read_text("utf-8")


@pytest.mark.parametrize("event", HOSTS)
def test_every_event_of_hosts_is_described(event: str) -> None:
    assert f"`{event}`" in PAGE


def test_every_number_is_described() -> None:
    names = _names()

    assert names
    assert [name for name in names if not name.endswith("_created") and f"`{name}" not in PAGE] == []


def test_every_rule_of_an_alarm_is_about_a_number_that_there_is() -> None:
    rules = PAGE.partition("```yaml\ngroups:")[2].partition("```")[0]
    asked = {name.removesuffix("_bucket") for name in re.findall(r"kron_\w+", rules)}

    assert len(asked) > 4
    assert asked <= _names()


def _names() -> set[str]:
    text = JobMetrics().snapshot(JobGauges(0, (), {}, 0.0)).render().decode()
    return {line.split(" ")[2] for line in text.splitlines() if line.startswith("# TYPE")}

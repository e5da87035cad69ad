"""MetricsSink: violations of the theory are counted, by property."""

from prometheus_client import CollectorRegistry

from kron.adapters.metrics_sink import MetricsSink
from kron.hosts.monitor import Monitor
from kron.rules.event import event
from kron.theory.trace import Header, Position


def test_a_violation_is_counted_under_its_property() -> None:
    registry = CollectorRegistry()
    monitor = Monitor(Header("declarative"), MetricsSink(registry))

    for t in (0, 1):
        monitor.take(Position(t, "RunStart", {"task": "report"}))
    monitor.flush()

    counts = {
        name: registry.get_sample_value("kron_monitor_violations_total", {"property": name})
        for name in ("S1", "T2", "L1")
    }
    assert counts == {"S1": 1, "T2": 1, "L1": None}


def test_other_events_are_nothing_to_it() -> None:
    registry = CollectorRegistry()

    MetricsSink(registry)(event("SchedulerStopped"))

    assert not MetricsSink(CollectorRegistry()).wants("WARNING")
    assert registry.get_sample_value("kron_monitor_violations_total", {"property": "S1"}) is None

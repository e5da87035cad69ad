"""Tests of ViolationCounter: violations of the theory are counted by property."""

from prometheus_client import CollectorRegistry

from kron.adapters.prometheus import ViolationCounter
from kron.rules.events import make_event
from kron.theory.trace_format import TraceEvent, TraceHeader
from kron.trace.monitor import OnlineMonitor


def test_a_violation_is_counted_under_its_property() -> None:
    registry = CollectorRegistry()
    monitor = OnlineMonitor(TraceHeader("declarative"), ViolationCounter(registry))

    for t in (0, 1):
        monitor.emit(TraceEvent(t, "RunStart", {"task": "report"}))
    monitor.flush()

    counts = {
        name: registry.get_sample_value("kron_monitor_violations_total", {"property": name})
        for name in ("S1", "T2", "L1")
    }
    assert counts == {"S1": 1, "T2": 1, "L1": None}


def test_other_events_are_nothing_to_it() -> None:
    registry = CollectorRegistry()

    ViolationCounter(registry)(make_event("SchedulerStopped"))

    assert [ViolationCounter(CollectorRegistry()).wants(level) for level in ("WARNING", "INFO")] == [True, False]
    assert registry.get_sample_value("kron_monitor_violations_total", {"property": "S1"}) is None

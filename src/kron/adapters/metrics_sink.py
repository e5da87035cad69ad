"""MetricsSink: what events say in numbers, for Prometheus."""

from prometheus_client import REGISTRY, CollectorRegistry, Counter

from kron.rules.event import Event


class MetricsSink:
    """Counts violations of the theory, by property. Give it to a monitor, or call it beside another sink."""

    needs = frozenset({"PropertyViolated"})

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        text = "Properties of the theory that were violated."
        self._violations = Counter("kron_monitor_violations", text, ["property"], registry=registry)

    def wants(self, _level: str) -> bool:
        """Whether an event of this level is of use: only those it needs, by name."""
        return False

    def __call__(self, event: Event) -> None:
        """Count the event."""
        if event.name in self.needs:
            self._violations.labels(property=event.fields["property"]).inc()

"""OperatorMetrics: what an operator does, in numbers for Prometheus."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 3600.0)
STATES = ("scheduled", "suspended", "invalid")


class OperatorGauges(NamedTuple):
    """What is so at the moment of asking."""

    is_leading: bool
    kronjobs: Mapping[str, int]  # by state
    active_jobs: int
    queue_depth: int
    clock_skew: float


class OperatorMetrics:
    """Numbers of one process, in a registry of their own."""

    def __init__(self, present: Callable[[], OperatorGauges]) -> None:
        self._present = present
        self._registry = registry = CollectorRegistry()
        self._leader = Gauge("kron_operator_leader", "Whether this replica leads.", registry=registry)
        self._kronjobs = Gauge("kron_kronjobs", "KronJobs, by state.", ["state"], registry=registry)
        self._outcomes = Counter(
            "kron_outcomes_total", "Periods that have their outcome.", ["outcome", "reason"], registry=registry
        )
        self._lateness = Histogram(
            "kron_start_lateness_seconds",
            "From the chosen second to the server's answer that the Job is created.",
            buckets=_SECONDS,
            registry=registry,
        )
        self._active = Gauge("kron_active_jobs", "Jobs of KronJobs that are not over.", registry=registry)
        self._requests = Counter(
            "kron_api_requests_total",
            "Requests to the API server; code 0 is no answer.",
            ["verb", "resource", "code"],
            registry=registry,
        )
        self._answers: dict[tuple[str, str, int], Counter] = {}  # `labels` takes long, and there are few of them
        self._restarts = Counter(
            "kron_watch_restarts_total", "Watches begun again.", ["resource", "cause"], registry=registry
        )
        self._depth = Gauge("kron_queue_depth", "Writes that wait or are under way.", registry=registry)
        self._conflicts = Counter(
            "kron_status_conflicts_total", "Statuses that somebody else wrote meanwhile.", registry=registry
        )
        self._set_aside = Counter(
            "kron_set_aside_total", "Errors of single objects, which were set aside.", ["resource"], registry=registry
        )
        self._skew = Gauge(
            "kron_clock_skew_seconds", "Our clock minus the server's, at its last answer.", registry=registry
        )

    def on_outcome(self, outcome: str, reason: str, number: int) -> None:
        """So many periods have an outcome."""
        self._outcomes.labels(outcome, reason).inc(number)

    def on_lateness(self, seconds: float) -> None:
        """A Job is there, so long after its chosen second."""
        self._lateness.observe(seconds)

    def on_conflict(self) -> None:
        """A status was written by somebody else meanwhile."""
        self._conflicts.inc()

    def on_set_aside(self, resource: str) -> None:
        """An object caused an error, and was set aside."""
        self._set_aside.labels(resource).inc()

    def on_answer(self, verb: str, resource: str, code: int) -> None:
        """The server answered, or did not."""
        key = verb, resource, code
        if key not in self._answers:
            self._answers[key] = self._requests.labels(verb, resource, str(code))
        self._answers[key].inc()

    def on_restart(self, resource: str, cause: str) -> None:
        """A watch began again."""
        self._restarts.labels(resource, cause).inc()

    def render(self) -> bytes:
        """Return all numbers as they are now."""
        now = self._present()
        self._leader.set(now.is_leading)
        for state in STATES:
            self._kronjobs.labels(state).set(now.kronjobs.get(state, 0))
        self._active.set(now.active_jobs)
        self._depth.set(now.queue_depth)
        self._skew.set(now.clock_skew)
        return generate_latest(self._registry)

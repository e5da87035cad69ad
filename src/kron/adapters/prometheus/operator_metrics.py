"""OperatorMetrics: the operator's metrics for Prometheus."""

from collections.abc import Callable, Mapping
from functools import partial
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
        self._registry = CollectorRegistry()
        gauge, counter = partial(Gauge, registry=self._registry), partial(Counter, registry=self._registry)
        self._leader = gauge("kron_operator_leader", "Whether this replica leads.")
        self._kronjobs = gauge("kron_kronjobs", "KronJobs, by state.", ["state"])
        self._outcomes = counter("kron_outcomes_total", "Periods that have their outcome.", ["outcome", "reason"])
        self._lateness = Histogram(
            "kron_start_lateness_seconds",
            "From the chosen second to the server's answer that the Job is created.",
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._active = gauge("kron_active_jobs", "Jobs of KronJobs that are not over.")
        self._requests = counter(
            "kron_api_requests_total", "Requests to the API server; code 0 is no answer.", ["verb", "resource", "code"]
        )
        self._answers: dict[tuple[str, str, int], Counter] = {}  # `labels` takes long, and there are few of them
        self._restarts = counter("kron_watch_restarts_total", "Watches begun again.", ["resource", "cause"])
        self._depth = gauge("kron_queue_depth", "Writes that wait or are under way.")
        self._conflicts = counter("kron_status_conflicts_total", "Status writes that conflicted with another writer's.")
        self._set_aside = counter(
            "kron_set_aside_total", "Errors of single objects, which were set aside.", ["resource"]
        )
        self._skew = gauge("kron_clock_skew_seconds", "Our clock minus the server's, at its last answer.")

    def on_outcome(self, outcome: str, reason: str, number: int) -> None:
        """So many periods have an outcome."""
        self._outcomes.labels(outcome, reason).inc(number)

    def on_lateness(self, seconds: float) -> None:
        """A Job is there, so long after its chosen second."""
        self._lateness.observe(seconds)

    def on_conflict(self) -> None:
        """Another writer changed the status first."""
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

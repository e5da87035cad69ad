"""ViolationCounter, JobMetrics, OperatorMetrics: events, runs and requests as metrics for Prometheus."""

from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from time import sleep
from typing import NamedTuple

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.registry import Collector

from kron.decision.decision import Decision
from kron.engine.ports import RunObserver
from kron.engine.runs import JobRun
from kron.instant import SECOND
from kron.rules.events import EVENTS, Event
from kron.rules.job_record import PeriodRecord, ResultCode, RunEnd
from kron.rules.job_spec import JobSpec
from kron.rules.verdict import Outcome

_LATENESS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1800, 7200)  # seconds
_DURATION = (0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 12 * 3600)
_APPEND = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)
_VIOLATED = "PropertyViolated"
_TOGETHER, _TURN = 500, 0.0005  # lines that are rendered in one go, and seconds that others then have
_UNSEEN = frozenset({ResultCode.UNKNOWN, ResultCode.NOT_STARTED})  # results of runs whose duration says nothing
_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 3600.0)
STATES = ("scheduled", "suspended", "invalid")


class ViolationCounter:
    """Counts violations of the theory, by property. Give it to a monitor, or call it beside another sink."""

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        text = "Properties of the theory that were violated."
        self._violations = Counter("kron_monitor_violations", text, ["property"], registry=registry)

    def wants(self, level: str) -> bool:
        """Whether an event of this level may be one that it counts."""
        return level == EVENTS[_VIOLATED].level

    def __call__(self, event: Event) -> None:
        """Count the event."""
        if event.name == _VIOLATED:
            self._violations.labels(property=event.fields["property"]).inc()


class JobGauges(NamedTuple):
    """What is there at the moment."""

    active: int
    jobs: Collection[str]  # identities
    chosen: Mapping[str, float]  # by identity: when a job is expected to run next, in seconds since 1970
    now: float  # in seconds since 1970
    failed_files: int = 0
    aside: int = 0  # jobs


class JobMetrics(RunObserver[JobRun]):
    """An observer of jobs that counts. A run costs it a few additions; all the rest is done when metrics are read."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.violations = ViolationCounter(self._registry)
        self._runs: dict[tuple[str, str], int] = defaultdict(int)
        self._results: dict[tuple[str, str], int] = defaultdict(int)
        self._lateness = self._histogram("run_lateness", "From the chosen second of a period to its start.", _LATENESS)
        self._duration = self._histogram("run_duration", "From the start of an attempt to its end.", _DURATION)
        self._append = self._histogram("ledger_append", "What a durable write to the ledger took.", _APPEND)
        text = "Hooks and pings that were given up."
        self._hook_failures = Counter("kron_hook_failures", text, registry=self._registry)
        text = "Times that another program had the address of the listener."
        self._listen_failures = Counter("kron_listen_failures", text, registry=self._registry)

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
        return Histogram(f"kron_{name}_seconds", text, buckets=buckets, registry=self._registry)

    # --- what happens -------------------------------------------------------------------------------------------------

    def on_closed(self, work: JobSpec, record: PeriodRecord, last: Decision) -> None:  # noqa: ARG002
        """Count the periods."""
        self._runs[record.identity, record.outcome.value] += record.period_count

    def on_started(self, runs: Sequence[JobRun]) -> None:
        """Count each execution once, however many attempts it takes."""
        for attempt in (run.attempt for run in runs):
            if attempt.attempt == 1:
                self._runs[attempt.identity, Outcome.EXECUTED.value] += 1
                if attempt.chosen is not None:
                    self._lateness.observe(max(0.0, (attempt.started - attempt.chosen) / SECOND))

    def on_ended(self, ended: Sequence[tuple[JobRun, RunEnd]]) -> None:
        """Count how attempts ended."""
        for run, end in ended:
            self._results[run.attempt.identity, end.result.value] += 1
            if end.result not in _UNSEEN and run.was_started:
                self._duration.observe(max(0.0, (end.ended_at - run.attempt.started) / SECOND))

    def on_append(self, seconds: float) -> None:
        """Note how long the ledger took."""
        self._append.observe(seconds)

    def on_hook_failure(self) -> None:
        """Count a hook that was given up."""
        self._hook_failures.inc()

    def on_listen_failure(self) -> None:
        """Count a try to listen that failed."""
        self._listen_failures.inc()

    def retain(self, jobs: Container[str]) -> None:
        """Forget all jobs but these."""
        for counts in (self._runs, self._results):
            for key in [key for key in counts if key[0] not in jobs]:
                del counts[key]

    # --- what is asked for --------------------------------------------------------------------------------------------

    def snapshot(self, present: JobGauges) -> "MetricsSnapshot":
        """Return all numbers as they are now, to be rendered in any thread."""
        return MetricsSnapshot(self._registry, dict(self._runs), dict(self._results), present)


class MetricsSnapshot(NamedTuple):
    """Numbers of one moment; those that have no job may be a little younger."""

    registry: Collector
    runs: Mapping[tuple[str, str], int]
    results: Mapping[tuple[str, str], int]
    present: JobGauges

    def render(self) -> bytes:
        """Return them as Prometheus reads them. In a thread: it lets others have a turn again and again.

        What there is for each job is written by hand, at a sixth of what the client's families would cost.
        """
        parts: list[str] = []
        lines = self._lines()
        while some := "".join(islice(lines, _TOGETHER)):
            parts.append(some)
            sleep(_TURN)
        return "".join(parts).encode(errors="replace") + generate_latest(self.registry)

    def _lines(self) -> Iterator[str]:
        """Yield the metrics of each job and of all jobs together; jobs that are no longer declared have none."""
        active, jobs, chosen, now, failed_files, aside = self.present
        yield from _head("kron_active_runs", "gauge", "Attempts that are under way.")
        yield f"kron_active_runs {active}.0\n"
        yield from _head("kron_jobs", "gauge", "Jobs that are declared.")
        yield f"kron_jobs {len(jobs)}.0\n"
        yield from _head("kron_failed_files", "gauge", "Job files with errors: their jobs are not as they say.")
        yield f"kron_failed_files {failed_files}.0\n"
        yield from _head("kron_jobs_set_aside", "gauge", "Jobs whose data cannot be judged: they start nothing.")
        yield f"kron_jobs_set_aside {aside}.0\n"
        yield from _head("kron_runs_total", "counter", "Periods and extra runs, by outcome.")
        for (identity, outcome), count in _from_zero(self.runs, jobs, Outcome.MISSED.value):
            if identity in jobs:
                yield f'kron_runs_total{{job="{_escaped(identity)}",outcome="{outcome}"}} {count}.0\n'
        yield from _head("kron_run_results_total", "counter", "Attempts that have ended, by result.")
        for (identity, result), count in _from_zero(self.results, jobs, ResultCode.FAILED.value):
            if identity in jobs:
                yield f'kron_run_results_total{{job="{_escaped(identity)}",result="{result}"}} {count}.0\n'
        text = "When a job is expected to run next, in seconds since 1970; the past, if it has not begun."
        yield from _head("kron_next_chosen_timestamp_seconds", "gauge", text)
        for identity, at in chosen.items():
            yield f'kron_next_chosen_timestamp_seconds{{job="{_escaped(identity)}"}} {at!r}\n'
        late = {identity: now - at for identity, at in chosen.items() if at < now}
        yield from _head("kron_late_jobs", "gauge", "Jobs with an expected run that should have begun, and has not.")
        yield f"kron_late_jobs {len(late)}.0\n"
        text = "How late the first expected run of a job is that should have begun, and has not."
        yield from _head("kron_expected_lateness_seconds", "gauge", text)
        for identity, seconds in late.items():
            yield f'kron_expected_lateness_seconds{{job="{_escaped(identity)}"}} {seconds!r}\n'


def _from_zero(
    counts: Mapping[tuple[str, str], int], jobs: Collection[str], worst: str
) -> Iterable[tuple[tuple[str, str], int]]:
    """Return the counts, and zero for the result that alerts wait for: a count that begins with one shows no rise."""
    return {**dict.fromkeys(((identity, worst) for identity in jobs), 0), **counts}.items()


def _head(name: str, kind: str, text: str) -> tuple[str, str]:
    return f"# HELP {name} {text}\n", f"# TYPE {name} {kind}\n"


def _escaped(label: str) -> str:
    """Return the value of a label as it stands between quotation marks."""
    return label.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


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

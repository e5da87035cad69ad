"""The pages of events, metrics, HTTP paths, contracts and fields of a KronJob, from the tables of the code."""

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from datetime import timedelta
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from kron.adapters.prometheus import JobGauges, JobMetrics, OperatorGauges, OperatorMetrics
from kron.hosts.krond import page as krond_page
from kron.kronjob.crd import crd
from kron.rules import contract
from kron.rules.contract import PRESETS, Contract
from kron.rules.events import HOSTS, LIBRARY, EventSpec, make_event
from kron.web import app, probes
from tests.docs.markdown import code, codes, paragraph, prose, table

_OBSERVABILITY = Path(__file__).parents[2] / "docs" / "observability.md"
_DESCRIBED = re.compile(r"^\| (`\w+`(?:, `\w+`)*) \| [A-Z, ]+ \| (.*) \|$", re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?:)([^)#]*)(#[^)]*)?\)")
_ROUTE = re.compile(r'Route\(f?"([^"]+)"')
_PROBE = re.compile(r'^ +"(/\w+)": lambda', re.MULTILINE)

EVENT_MEANINGS = {
    "SchedulerInitializationStarted": "`initialize` was called",
    "SchedulerInitializationCompleted": "the list is in force; `skippedCount` tasks were in force already, unchanged",
    "SchedulerInitializationFailed": "`initialize` raises; `error` says what",
    "SchedulerReinitializationStarted": "`initialize` was called while a list is active, where the contract allows it",
    "SchedulerStopRequested": "`stop` was called",
    "SchedulerStopped": "nothing runs, and the ledger is free",
    "TaskRunStarted": "a run starts; `scheduledTime` is the due instant that it serves",
    "TaskRunCompleted": "a run has succeeded",
    "TaskRunFailed": "a run has failed; a retry follows at `nextRetryAt`",
    "TaskRetryStarted": "the retry number `retryCount` starts",
    "TaskRetryPreempted": "a due instant came before the retry, and its run takes the place of the retry",
    "PollStarted": "the loop looks at the tasks",
    "PollCompleted": "it has looked",
    "PollingStarted": "the loop has tasks to look at",
    "PollingStopped": "it has none",
    "PollingStopRequested": "`stop` was called while it has tasks",
    "TaskAdded": "the ledger did not know the task",
    "TaskPreserved": "the ledger knows the task, and it has not changed",
    "TaskOverridden": "the task has changed; `runFollows` says that a run follows from it",
    "TaskOrphaned": "a crash cut off a run; under the polling contracts: the list no longer has the task",
    "TaskScheduled": "the task is new in the list, or has changed, and is now in force",
    "TaskSkipped": "the task is in force already and has not changed",
    "StartDelayed": "a start is late by `lateness` seconds",
    "LoopFrozen": "the loop woke up `seconds` late",
    "ClockJumped": "the clock was set by `seconds`",
    "BaselineClamped": "the clock was set back by more than an hour: the task counts from `clampedTo` on",
    "TaskSetAside": "an error came up when the task was evaluated, which is a bug: it alone starts nothing",
    "LedgerAppendFailed": "the ledger could not be written: nothing starts until a next try, `retryInSeconds` later",
    "EndsLost": "`stop` could not record the ends of these runs: after a restart they count as cut off",
    "LedgerRecovered": "the ledger can be written again, and `records` were",
    "PropertyViolated": "the monitor found a violation of [the theory](../theory.md)",
}
KROND_PATHS = {
    "/": ("GET", "the overview; `?q=` searches names, `?page=` turns pages"),
    "/jobs/{rest:path}": (
        "GET, POST",
        "`/jobs/NAME`: a job. `/jobs/NAME/suspend`, `/resume`, `/trigger`: a question (GET), and its answer (POST)",
    ),
    "/runs/{rest:path}": ("GET", "`/runs/RUN`: a run. `/runs/RUN/output`: all that was captured, as text"),
    "/why": ("GET", "`?job=&at=`: why a job did, or did not, run"),
    "/monitor": ("GET", "the properties of the theory, and whether each holds; 404 without a monitor"),
    "/load": ("GET", "`?span=day`, `week` or `year`: how many jobs start when"),
    "/feed.{form}": ("GET", "`/feed.ics`, `/feed.json`, `/feed.csv`: expected runs, `?job=&from=&to=`"),
    "/events": ("GET", "server-sent events: something happened to these jobs"),
    "/static/{name}": ("GET", "the style and the script of the page"),
    "/{rest:path}": ("GET", "404"),
    "/healthz": ("GET", "200 `ok` while the scheduler turns, else 503; needs no token"),
    "/metrics": ("GET", "[metrics](metrics.md) for Prometheus"),
}
OPERATOR_PATHS = {
    "/healthz": ("GET, HEAD", "200 while the loop turns, else 503"),
    "/readyz": ("GET, HEAD", "200 from the first complete sync on, 503 when no watch was alive for a minute"),
    "/metrics": ("GET, HEAD", "[metrics](metrics.md) for Prometheus, counted at most once a second"),
}
CONTRACT_MEANINGS = {
    "repeated_minute": "a minute that the clocks show twice",
    "cron_blanks": "characters that separate the fields of an expression",
    "initialize_while_active": "`initialize` while a list is active",
    "overlapping_initialize": "`initialize` while another one has not returned",
    "failed_reinitialize": "where a failed re-initialisation leaves the scheduler",
    "changed_task_history": "the history of a task whose registration changed",
    "orphan_means": "what the event `TaskOrphaned` reports",
    "interrupted_run": "a run that a crash cut off",
    "identifier_in_record": "when a record names the scheduler that wrote it",
    "wraps_step_errors": "`ScheduleTaskError` and `StopSchedulerError` exist",
    "poll_interval": "greatest time between two evaluations",
    "start_lag": "within which a start follows its due instant",
    "catch_up": "what is owed for times that passed without a start",
    "first_minute": "the minute in which a task or job is declared, if its schedule names it",
}


# --- events -----------------------------------------------------------------------------------------------------------


def events_page() -> Iterator[str]:
    """Yield the lines of the page of events."""
    intro = (
        "Every event has a name, a level and fields; a field with `?` is not always there. Times are ISO 8601 texts in "
        "UTC, durations are seconds. Names, levels and fields are stable. [The library](../library.md#events) hands "
        "events to its sink, [krond](../observability.md#events) writes them to standard error; the operator has "
        "[lines of its own](../controller.md#numbers-and-lines)."
    )
    yield from ("# Events", "", paragraph(intro), "", "## Tasks, and the engine of every host", "")
    yield from table(_EVENT_HEAD, (_event(name, spec, EVENT_MEANINGS[name]) for name, spec in LIBRARY.items()))
    yield from ("## Jobs and krond", "")
    meanings = host_event_meanings()
    rows = {name for name, spec in HOSTS.items() if set(_ROW) <= set(spec.required)}
    yield from table(
        _EVENT_HEAD,
        (
            _event(
                name, EventSpec(spec.level, (), spec.optional) if name in rows else spec, meanings[name], name in rows
            )
            for name, spec in HOSTS.items()
        ),
    )
    yield from (f"*row* is a row of `krond history --json`: {codes(HOSTS['RunEnded'].required)}.", "")


_EVENT_HEAD = ("event", "level", "when", "fields")
_ROW = ("kind", "run_id", "outcome", "lateness")


def _event(name: str, spec: EventSpec, meaning: str, is_row: bool = False) -> tuple[str, ...]:  # noqa: FBT001, FBT002
    found = [*map(code, spec.required), *(f"{code(each)}?" for each in spec.optional)]
    return code(name), spec.level, meaning, ", ".join(["*row*", *found] if is_row else found)


def host_event_meanings() -> dict[str, str]:
    """Return what docs/observability.md says of each event of hosts, with links as a page below it writes them."""
    text = _OBSERVABILITY.read_text("utf-8").partition("## Events")[2].partition("\n## ")[0]
    return {
        name: _LINK.sub(lambda found: f"](../{found[1] or 'observability.md'}{found[2] or ''})", meaning)
        for names, meaning in _DESCRIBED.findall(text)
        for name in re.findall(r"\w+", names)
    }


# --- metrics ----------------------------------------------------------------------------------------------------------


def metrics_page() -> Iterator[str]:
    """Yield the lines of the page of metrics."""
    intro = (
        "What `/metrics` answers, in the text format of Prometheus. [Numbers of krond](../observability.md#numbers) "
        "and [numbers of the operator](../controller.md#numbers-and-lines) say how to read them. "
        "`job` is the identity of a job."
    )
    yield from ("# Metrics", "", paragraph(intro), "", "## krond", "")
    head = ("metric", "kind", "labels", "help")
    yield from table(head, _metrics(_krond_text()))
    yield from ("## kron-operator", "")
    yield from table(head, _metrics(_operator_text()))


def _krond_text() -> str:
    metrics = JobMetrics()
    metrics.violations(make_event("PropertyViolated", property="S1", blame="", explanation=""))
    return metrics.snapshot(JobGauges(0, ("job",), {"job": 0.0}, 1.0)).render().decode()


def _operator_text() -> str:
    metrics = OperatorMetrics(
        lambda: OperatorGauges(is_leading=True, kronjobs={}, active_jobs=0, queue_depth=0, clock_skew=0)
    )
    metrics.on_outcome("executed", "", 1)
    metrics.on_set_aside("kronjobs")
    metrics.on_answer("list", "kronjobs", 200)
    metrics.on_restart("kronjobs", "expired")
    return metrics.render().decode()


def _metrics(text: str) -> Iterator[tuple[str, ...]]:
    for family in text_string_to_metric_families(text):
        labels = dict.fromkeys(label for sample in family.samples for label in sample.labels if label != "le")
        name = f"{family.name}_total" if family.type == "counter" else family.name
        if not name.endswith("_created"):
            yield code(name), family.type, codes(labels), prose(family.documentation)


# --- HTTP paths -------------------------------------------------------------------------------------------------------


def paths_of(*modules: ModuleType) -> list[str]:
    """Return every path that these modules answer, as their source says it."""
    sources = [inspect.getsource(module) for module in modules]
    return [path for source in sources for pattern in (_ROUTE, _PROBE) for path in pattern.findall(source)]


def http_page() -> Iterator[str]:
    """Yield the lines of the page of HTTP paths."""
    intro = (
        "Where krond [listens](../observability.md#the-listener). Everything but `/healthz` needs the token, unless "
        "krond listens on a socket in the file system. [The page](../page.md) says more of each path."
    )
    yield from ("# HTTP paths", "", "## krond", "", paragraph(intro), "")
    yield from table(("path", "method", "answer"), _paths(paths_of(app, krond_page), KROND_PATHS))
    yield from ("## kron-operator", "", "Where `--listen` says; there is no token.", "")
    yield from table(("path", "method", "answer"), _paths(paths_of(probes), OPERATOR_PATHS))


def _paths(paths: list[str], meanings: Mapping[str, tuple[str, str]]) -> Iterator[tuple[str, ...]]:
    for path in paths:
        yield code(path.replace("{rest:path}", "…")), *meanings[path]


# --- contracts --------------------------------------------------------------------------------------------------------


def contracts_page() -> Iterator[str]:
    """Yield the lines of the page of contracts."""
    intro = (
        "A contract is a value with one field for each point on which revisions of the scheduler's rules differ. "
        "`declarative`, `polling` and `polling-draft` are for tasks (`Scheduler(contract=…)`); `kron` is that of jobs, "
        "in krond and in the operator."
    )
    yield from ("# Contracts", "", paragraph(intro), "")
    names = [each.name for each in fields(Contract) if each.name != "name"]
    yield from table(
        ("field", "about", *map(code, PRESETS)),
        (
            (code(name), CONTRACT_MEANINGS[name], *(_value(getattr(preset, name)) for preset in PRESETS.values()))
            for name in names
        ),
    )
    yield from ("## Values", "")
    enums = [
        each
        for each in vars(contract).values()
        if inspect.isclass(each) and issubclass(each, Enum) and each is not Enum
    ]
    yield from table(
        ("kind", "question", "values"),
        ((code(each.__name__), prose(inspect.getdoc(each) or ""), codes(map(_value_text, each))) for each in enums),
    )


def _value(value: object) -> str:
    return "–" if value is None else code(_value_text(value))


def _value_text(value: object) -> str:
    if isinstance(value, Enum):
        return value.name.lower().replace("_", " ")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, timedelta):
        return f"{value.total_seconds():.0f}s"
    return str(value).encode("unicode_escape").decode()


# --- KronJobs ---------------------------------------------------------------------------------------------------------


def kronjob_page() -> Iterator[str]:
    """Yield the lines of the page of the resource."""
    definition = crd()
    (version,) = definition["spec"]["versions"]
    schema, names = version["schema"]["openAPIV3Schema"]["properties"], definition["spec"]["names"]
    intro = (
        f"`apiVersion: {definition['spec']['group']}/{version['name']}`, `kind: {names['kind']}`. `kron-operator crd` "
        "prints the definition from which these tables are written, and [KronJobs on Kubernetes](../operator.md) "
        "explains what the fields mean."
    )
    yield from ("# Fields of a KronJob", "", paragraph(intro), "", "## spec", "")
    head = ("field", "type", "default", "says", "limits")
    yield from table(head, _fields(schema["spec"]))
    yield from ("## status", "", "Written by the operator alone.", "")
    yield from table(
        ("field", "type", "says"), ((name, kind, says) for name, kind, _, says, _ in _fields(schema["status"]))
    )
    yield from ("## Columns of `kubectl get`", "")
    yield from table(
        ("column", "shows", "only with `-o wide`"),
        (
            (each["name"], code(each["jsonPath"]), "yes" if each.get("priority") else "")
            for each in version["additionalPrinterColumns"]
        ),
    )


def _fields(schema: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, ...]]:
    for name, field in schema["properties"].items():
        path = f"{prefix}{name}"
        inner = field["items"] if field["type"] == "array" else field
        is_template = path == "jobTemplate"
        if inner["type"] != "object" or is_template or prefix == "":
            default = "required" if name in schema.get("required", ()) else _default(field)
            yield code(path), _kind(field), default, prose(field.get("description", "")), _limits(field)
        if inner["type"] == "object" and not is_template:
            yield from _fields(inner, f"{path}[]." if field["type"] == "array" else f"{path}.")


def _kind(field: Mapping[str, Any]) -> str:
    return f"list of {field['items']['type']}" if field["type"] == "array" else str(field["type"])


def _default(field: Mapping[str, Any]) -> str:
    default = field.get("default")
    return (
        ""
        if default in (None, {})
        else code("true" if default is True else "false" if default is False else repr(default).replace("'", '"'))
    )


def _limits(field: Mapping[str, Any]) -> str:
    found = [f"one of {codes(field['enum'])}"] if "enum" in field else []
    for key, text in _LIMITS.items():
        if key in field:
            found.append(text.format(field[key]))
    if "maxLength" in field.get("items", {}):
        found.append(f"an item has at most {field['items']['maxLength']:,} characters")
    return "; ".join(found)


_LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {:,}",
    "maxLength": "at most {:,} characters",
    "maxItems": "at most {:,} items",
    "maxProperties": "at most {} keys",
}

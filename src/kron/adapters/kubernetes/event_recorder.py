"""EventRecorder: core/v1 Events about KronJobs; the same event once more raises the count of the first."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any, Literal, TypeAlias

from kron.adapters.kubernetes.client import EVENTS, ResourceClient
from kron.adapters.kubernetes.responses import ErrorClass, classify, retry_delay
from kron.adapters.kubernetes.work_queue import Priority, WorkQueue
from kron.decision.decision import Decision
from kron.decision.seed import period_id
from kron.errors import ApiError
from kron.instant import Instant, format_instant
from kron.kronjob.kronjob import API_VERSION, KIND, OPERATOR_NAME
from kron.kronjob.snapshot import ChildJob, KronJobSnapshot

EventType: TypeAlias = Literal["Normal", "Warning"]
_REMEMBERED = 10_000  # events that may be repeated, which raises their count
_TRIES = 5
_LONGEST_NAME, _LONGEST_TEXT = 230, 1024


@dataclass(slots=True, eq=False)
class _RecordedEvent:
    """An event that may be repeated."""

    name: str
    count: int = 0
    written: int = 0  # the count that the server has; 0: it has no such event
    tries: int = 0


class EventRecorder:
    """Records events in the order of the work queue. An event that the server does not take is dropped."""

    def __init__(self, api: ResourceClient, queue: WorkQueue, now: Callable[[], Instant]) -> None:
        self._api, self._queue, self._now = api, queue, now
        self._recorded: OrderedDict[tuple[str, str, str], _RecordedEvent] = OrderedDict()

    def record(self, about: KronJobSnapshot, event_type: EventType, reason: str, message: str) -> None:
        """Record an event about a KronJob."""
        message = message[:_LONGEST_TEXT]
        key = about.uid, reason, message
        event = self._recorded.get(key)
        if event is None:
            digest = sha256("\n".join((*key, format_instant(self._now()))).encode()).hexdigest()[:16]
            name = f"{about.name[:_LONGEST_NAME].rstrip('-.')}.{digest}"
            event = self._recorded[key] = _RecordedEvent(name)
            if len(self._recorded) > _REMEMBERED:
                self._recorded.popitem(last=False)
        event.count += 1
        event.tries = 0
        document = _document(about, event.name, event_type, reason, message)
        self._queue.add(Priority.EVENT, about.namespace, event.name, partial(self._write, event, document))

    def record_deletion(self, about: KronJobSnapshot, job: ChildJob) -> None:
        """Record that a Job was deleted: another one takes its place, or it is old."""
        self.record(about, "Normal", "SuccessfulDelete", f"deleted Job {job.name}{job_period_text(job)}")

    async def _write(self, event: _RecordedEvent, document: dict[str, Any]) -> float | None:
        now = format_instant(self._now().replace(microsecond=0))
        count, namespace = event.count, document["metadata"]["namespace"]
        try:
            if event.written:
                body: dict[str, Any] = {"count": count, "lastTimestamp": now}
                await self._api.request("patch", EVENTS, namespace, event.name, body=body)
            else:
                body = {**document, "count": count, "firstTimestamp": now, "lastTimestamp": now}
                await self._api.request("create", EVENTS, namespace, body=body)
        except ApiError as error:
            found = classify(error)
            if found is ErrorClass.NOT_FOUND and event.written:  # it is too old, and was removed
                event.written = 0
                return 0.0
            if found is ErrorClass.ALREADY_EXISTS and not event.written:  # the answer to its creation was lost
                event.written = 1
                return 0.0
            event.tries += 1
            lasting = found is not ErrorClass.RETRYABLE or event.tries >= _TRIES
            return None if lasting else retry_delay(error, event.tries)
        event.written = count
        return None


def period_text(decision: Decision) -> str:
    """Return which period a decision is of, as the beginning of a sentence."""
    return f"period {decision.period_id}{chosen_text(decision.chosen_time)}"


def job_period_text(job: ChildJob) -> str:
    """Return which period a Job is of, as the end of a sentence."""
    return "" if job.nominal is None else f", period {period_id(job.nominal)}{chosen_text(job.chosen)}"


def chosen_text(chosen: Instant | None) -> str:
    """Return the chosen second of a period, as a part of a sentence."""
    return "" if chosen is None else f", chosen {format_instant(chosen)}"


def _document(about: KronJobSnapshot, name: str, event_type: EventType, reason: str, message: str) -> dict[str, Any]:
    """Return an event without its count and its times."""
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": about.namespace},
        "involvedObject": {
            "apiVersion": API_VERSION,
            "kind": KIND,
            "namespace": about.namespace,
            "name": about.name,
            "uid": about.uid,
            "resourceVersion": about.resource_version,
        },
        "reason": reason,
        "message": message,
        "type": event_type,
        "source": {"component": OPERATOR_NAME},
        "reportingComponent": OPERATOR_NAME,
        "reportingInstance": "",
    }

"""The operator's log: a line of JSON an event; errors of the API server at most once a minute."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TextIO

from kron.adapters.kubernetes.client import Document, Resource, ResourceClient, Verb
from kron.adapters.kubernetes.responses import ErrorClass, classify
from kron.errors import ApiError, ApiRefusedError
from kron.errors.base import safe_line
from kron.instant import Instant, format_instant
from kron.kronjob.crd import CRD_MISSING_MESSAGE
from kron.kronjob.kronjob import PLURAL
from kron.rules.events import Event

_encode = json.JSONEncoder(ensure_ascii=False, default=str).encode  # made once, not for every line
_escape = json.JSONEncoder(ensure_ascii=True, default=str).encode  # the same in ASCII
_LONGEST = 2_000  # characters of a text: tenants write some of them, and one is in many lines
INFO, WARNING, ERROR = "INFO", "WARNING", "ERROR"


class OperatorLog:
    """Writes to a stream; also a sink for the engine's events."""

    def __init__(self, stream: TextIO, now: Callable[[], Instant]) -> None:
        self._stream, self._now = stream, now

    def __call__(self, event: Event) -> None:
        """Take an event of the engine."""
        self.write(event.level, event.name, **event.fields)

    def wants(self, level: str) -> bool:
        """Whether events of this level are written."""
        return level != "DEBUG"

    def write(self, level: str, event: str, /, **fields: object) -> None:
        """Write one line; what a terminal would obey is escaped as JSON does it, and long texts are cut."""
        line: object = {"time": format_instant(self._now()), "level": level, "event": event, **fields}
        text = _encode(line)
        if len(text) > _LONGEST:
            line = _cut(line)
            text = _encode(line)
        if text != safe_line(text):
            text = _escape(line)
        self._stream.write(text + "\n")
        self._stream.flush()

    def write_set_aside(self, resource: str, namespace: str, name: str, error: str) -> None:
        """Write that an object caused an error, and was set aside."""
        self.write(ERROR, "set aside", resource=resource, namespace=namespace, name=name, error=error)


def _cut(value: object) -> object:
    """Return a value with its long texts cut, each with how long it was."""
    match value:
        case str() if len(value) > _LONGEST:
            return f"{value[:_LONGEST]}… ({len(value):,} characters)"
        case Mapping():
            return {key: _cut(item) for key, item in value.items()}
        case Sequence() if not isinstance(value, str | bytes):
            return [_cut(item) for item in value]
    return value


_QUIET = 60.0  # seconds between two lines about the same problem
_CONFLICT = 409


class ApiErrorLog:
    """Logs each problem with the API server at most once a minute."""

    def __init__(self, log: OperatorLog, monotonic: Callable[[], float]) -> None:
        self._log, self._monotonic = log, monotonic
        self._logged: dict[str, float] = {}  # when a problem was last in the log

    def log_watch_error(self, resource: str, error: ApiError) -> None:
        """Log an answer to a list or a watch; another text is another problem."""
        is_missing = resource == PLURAL and classify(error) is ErrorClass.NOT_FOUND
        text = CRD_MISSING_MESSAGE if is_missing else error.message
        if self.should_log(f"{resource}: {text}"):
            self._log.write(WARNING, "problem", resource=resource, error=text)

    def log_request_error(self, verb: str, resource: str, which: str, error: ApiError) -> None:
        """Log an answer to one of many writes; they differ in names, and not in what is wrong."""
        code = error.code if isinstance(error, ApiRefusedError) else 0
        if self.should_log(f"{verb} {resource} {code}"):
            self._log.write(WARNING, "problem", resource=resource, verb=verb, object=which, error=error.message)

    def should_log(self, what: str) -> bool:
        """Whether it was not logged within the last minute, and is now."""
        now = self._monotonic()
        if now - self._logged.get(what, -_QUIET) < _QUIET:
            return False
        self._logged = {key: at for key, at in self._logged.items() if now - at < _QUIET} | {what: now}
        return True


class LoggingClient:
    """Asks an API server, and logs what it refuses for now: its callers only try again."""

    def __init__(self, api: ResourceClient, problems: ApiErrorLog) -> None:
        self._api, self._problems = api, problems

    async def request(
        self,
        verb: Verb,
        resource: Resource,
        namespace: str,
        name: str = "",
        body: Document | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Document:
        """Return or raise what the API does."""
        try:
            return await self._api.request(verb, resource, namespace, name, body, query)
        except ApiError as error:
            is_conflict = isinstance(error, ApiRefusedError) and error.code == _CONFLICT
            if classify(error) is ErrorClass.RETRYABLE and not is_conflict:
                which = f"{namespace}/{name or (body or {}).get('metadata', {}).get('name', '')}"
                self._problems.log_request_error(verb, resource.label, which, error)
            raise

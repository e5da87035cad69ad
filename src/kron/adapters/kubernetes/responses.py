"""Responses of an API server: decode JSON, watch lines and errors; which errors are retried, and after how long."""

import asyncio
import json
import random
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping
from contextlib import asynccontextmanager, suppress
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Any

from kron.errors import ApiError, ApiRefusedError
from kron.kronjob.spec_fields import MAX_SPEC_BYTES
from kron.rules.effort import finish

Sleep = Callable[[float], Awaitable[object]]
_LONGEST_PAUSE = 1.0  # seconds after a part, which may have been frozen together with its process
_MOST_ASKED = 60.0  # seconds that a server may ask for: more would outlast its trouble


async def sleep(seconds: float) -> None:
    """Return after that many seconds; no schedule waits here, only retries of requests that failed."""
    await asyncio.sleep(seconds)  # noqa: TID251


class Backoff:
    """Doubles from try to try, drawn below that each time, so that clients of one server do not come back together."""

    def __init__(
        self,
        *,
        first: float = 0.2,
        longest: float = 5.0,
        chance: Callable[[], float] = random.random,
        pause: Sleep = sleep,
    ) -> None:
        self._first = first
        self._longest = longest
        self._chance = chance
        self._pause = pause
        self._next = first

    def reset(self) -> None:
        """Start with the first delay again: something went well."""
        self._next = self._first

    async def wait(self, at_least: float | None = None) -> None:
        """Wait before the next try, and not shorter than the server asked for."""
        seconds = self._next * (0.5 + self._chance() / 2)
        self._next = min(self._longest, 2 * self._next)
        await self._pause(max(seconds, min(at_least or 0.0, _MOST_ASKED)))


MAX_JSON_DEPTH = 150  # levels that are kept: more than a field may have, so that a reader sees that it is too deep
MOST_OPENED = 100_000  # objects and lists that are read at once, in some 30 ms; a spec of the largest size has fewer
MOST_IN_A_PAGE = 300_000  # objects, lists and values of a page of several objects: more are asked for one by one
_SHORT = 64_000  # bytes that are read at once, whatever they say
_PART = 20_000  # tokens of a text that are looked at before the loop has a turn: some 5 ms
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[{\]}]')

Parts = Generator[None, None, Any]
"""Work in parts, each of which takes some milliseconds; it returns what it has found."""


class LoopShare:
    """Lets long calculations use half of the loop's time: one part at a time, and then the loop is free for as long."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic, pause: Sleep = sleep) -> None:
        self._monotonic, self._pause = monotonic, pause
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def part(self) -> AsyncIterator[None]:
        """Wait for the turn of this part, and behind it for as long as it took."""
        async with self._turn:
            began = self._monotonic()
            try:
                yield
            finally:
                await self._pause(min(_LONGEST_PAUSE, self._monotonic() - began))


class JsonReader:
    """Reads one long text at a time; after each part of it the loop is free for as long as that part took."""

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic, pause: Sleep = sleep) -> None:
        self._share = LoopShare(monotonic, pause)
        self._turn = asyncio.Lock()

    async def read(self, text: bytes, level: int) -> Any:
        """Return what a text says, or raise ValueError; `level` is that of the fields of a spec, the document has 1."""
        if len(text) <= _SHORT:
            return decode_json(text)
        async with self._turn:
            parts = read_in_parts(text, level)
            while True:
                async with self._share.part():
                    try:
                        next(parts)
                    except StopIteration as end:
                        return end.value


def decode_json(text: bytes, level: int = 3) -> Any:
    """Return what a text says at once, or raise ValueError."""
    return finish(read_in_parts(text, level))


def read_in_parts(text: bytes, level: int) -> Parts:
    """Return what a text says, or raise ValueError.

    A server keeps objects with ten thousand levels, and with a million lists. What is deeper than anyone means is
    read as null. Of a text with very many objects and lists, a field that is longer than a whole spec may be is read as
    a text of that length: the parser of the spec refuses it for its size.
    """
    if text.count(b"[") + text.count(b"{") > MOST_OPENED:
        text = yield from _cut(text, level, lambda part: b'"%b"' % (b" " * len(part)), longer_than=MAX_SPEC_BYTES)
    try:
        return json.loads(text)
    except RecursionError:
        yield
    text = yield from _cut(text, MAX_JSON_DEPTH + 1, lambda _part: b"null")
    yield
    return json.loads(text)


def is_too_much(page: bytes) -> bool:
    """Whether a page of several objects takes too long to be read at once."""
    return len(page) > _SHORT and sum(map(page.count, (b"[", b"{", b","))) > MOST_IN_A_PAGE


def _cut(text: bytes, level: int, put: Callable[[bytes], bytes], *, longer_than: int = 0) -> Parts:
    """Return a text with something else for its objects and lists on a level, if they are long enough."""
    parts, depth, start, begun = list[bytes](), 0, 0, 0
    for number, token in enumerate(_TOKEN.finditer(text), 1):
        if token[0] in b"[{":
            depth += 1
            begun = token.start() if depth == level else begun
        elif token[0] in b"]}":
            if depth == level and token.end() - begun > longer_than:
                parts += [text[start:begun], put(text[begun : token.end()])]
                start = token.end()
            depth -= 1
        if number % _PART == 0:
            yield
    if depth >= level:  # it is not closed, which is for the library to say
        return b"".join([*parts, text[start:begun]])
    return b"".join([*parts, text[start:]])


MAX_RESPONSE_BYTES = 16 << 20  # bytes: an object has at most a few megabytes, a page of 500 usual ones has one or two
_LONGEST_NAME = 1_000  # characters: names have at most 253, versions twenty digits or so
_VERSION = "resourceVersion"
_EVENTS = ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")


def decode_error(
    code: int, reason: str | None, headers: Mapping[str, str] | None, found: object, text: bytes = b""
) -> ApiRefusedError:
    """Return the reason of a refusal: a Status, or the text of a proxy between us and the server."""
    status = _object(found)
    details = _object(status.get("details"))
    causes = details.get("causes")
    return ApiRefusedError(
        code=code,
        reason=_text(status.get("reason")) or reason or "",
        message=_text(status.get("message")) or text.decode("utf-8", "replace").strip(),
        retry_after=_seconds((headers or {}).get("Retry-After") or details.get("retryAfterSeconds")),
        causes=tuple(_text(_object(cause).get("reason")) for cause in causes) if isinstance(causes, list) else (),
    )


def check(verb: str, found: object) -> dict[str, Any]:
    """Return a server's answer to a request, or raise ValueError if it has another form."""
    if not isinstance(found, dict):
        raise ValueError("its answer is no document")
    if verb == "list":
        items, about = found.get("items"), found.get("metadata")
        is_page = isinstance(items, list | None) and isinstance(about, dict | None)
        if not is_page or not all(isinstance(_object(about).get(key), str | None) for key in ("continue", _VERSION)):
            raise ValueError("its answer is no list")
        for item in items or ():
            _check_object(item)
    elif verb != "delete":  # which is answered by the object, or by a Status
        _check_object(found)
    return found


def _check_object(found: object) -> None:
    """Raise ValueError for an object without a name: it could not even be logged."""
    about = _object(_object(found).get("metadata"))
    texts = [about.get("name"), about.get("namespace", ""), about.get(_VERSION, "")]
    if not about.get("name") or not all(isinstance(text, str) and len(text) <= _LONGEST_NAME for text in texts):
        raise ValueError("an object has no name")


async def iter_lines(chunks: AsyncIterator[bytes], longest: int = MAX_RESPONSE_BYTES) -> AsyncIterator[bytes]:
    """Yield whole lines of a stream that comes in pieces; a rest without an end is none.

    Raise OverflowError for a line that is longer than the longest.
    """
    parts: list[bytes] = []
    length = 0
    async for chunk in chunks:
        first, *more = chunk.split(b"\n")
        parts.append(first)
        length += len(first)
        for piece in more:
            if line := b"".join(parts):
                yield line
            parts, length = [piece], len(piece)
        if length > longest:
            raise OverflowError(f"a line of the watch has more than {longest} bytes")


def decode_watch_event(line: object) -> tuple[str, dict[str, Any]]:
    """Return the event in a line of a watch; raise ApiRefusedError for an error, ValueError for anything else."""
    found = _object(line)
    kind, document = found.get("type"), found.get("object")
    if kind not in _EVENTS or not isinstance(document, dict):
        raise ValueError("a line of the watch is no event")
    if kind == "ERROR":
        code = document.get("code")
        raise decode_error(code if isinstance(code, int) else 0, None, None, document)
    if kind != "BOOKMARK":
        _check_object(document)
    version = _object(document.get("metadata")).get(_VERSION)
    if not isinstance(version, str) or not 0 < len(version) <= _LONGEST_NAME:
        raise ValueError("an event of the watch has no resourceVersion")
    return kind, document


def clock_skew(date: str | None, ours: float) -> float | None:
    """Return by how much our clock is ahead of the server's Date, if it says one."""
    with suppress(TypeError, ValueError, OverflowError):
        return ours - parsedate_to_datetime(date or "").timestamp()
    return None


def _object(found: object) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


def _text(found: object) -> str:
    return found if isinstance(found, str) else ""


def _seconds(found: object) -> float | None:
    with suppress(ValueError, OverflowError):
        return max(0.0, float(found)) if isinstance(found, str | int | float) else None
    return None


MAX_RETRY_DELAY = 5.0  # seconds between two tries
LEADER_RECHECK = (
    0.25  # seconds until a queue that may not write asks again: a lease that was renewed late may be ours still
)
_FOR_GOOD = frozenset({400, 405, 413, 422})


class ErrorClass(Enum):
    """What an answer means for its caller."""

    RETRYABLE = "passing"  # it may be otherwise soon
    REJECTED = "final"  # it will never be otherwise
    ALREADY_EXISTS = "exists"
    NOT_FOUND = "gone"
    NAMESPACE_TERMINATING = "ending"  # the namespace is being deleted: nothing in it matters


def classify(error: ApiError) -> ErrorClass:
    """Return what an answer means."""
    if not isinstance(error, ApiRefusedError):
        return ErrorClass.RETRYABLE
    if error.code == 403 and "NamespaceTerminating" in error.causes:
        return ErrorClass.NAMESPACE_TERMINATING
    if error.code == 409 and error.reason == "AlreadyExists":
        return ErrorClass.ALREADY_EXISTS
    if error.code == 404:
        return ErrorClass.NOT_FOUND
    return ErrorClass.REJECTED if error.code in _FOR_GOOD else ErrorClass.RETRYABLE


def is_already_deleted(error: ApiError) -> bool:
    """Whether an answer to a deletion says that there is nothing to delete: it is gone, or another one has its name."""
    is_another = isinstance(error, ApiRefusedError) and error.code == 409
    return is_another or classify(error) is not ErrorClass.RETRYABLE


def retry_delay(error: ApiError, tries: int) -> float:
    """Return how many seconds to wait before the next try, after so many."""
    asked = error.retry_after if isinstance(error, ApiRefusedError) else None
    return min(MAX_RETRY_DELAY, max(asked or 0.0, 0.25 * 2.0 ** min(tries, 10)))

"""What an API server's answers say: check(...), lines(...), event(...), refusal(...), skew_of(...).

Whatever stands between us and the server may answer anything: what has not the shape of an answer is a ValueError.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any

from kron.adapters.cluster.json_text import read_json
from kron.errors import ApiRefusedError

LONGEST_ANSWER = 16 << 20  # bytes: an object has at most a few megabytes, a page of 500 usual ones has one or two
_LONGEST_NAME = 1_000  # characters: names have at most 253, versions twenty digits or so
_VERSION = "resourceVersion"
_EVENTS = ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")


def refusal(
    code: int, reason: str | None, headers: Mapping[str, str] | None, body: bytes | dict[str, Any]
) -> ApiRefusedError:
    """Return what the server said no with: a Status, or whatever stands between us and the server had to say."""
    status: Any = body
    text = ""
    if isinstance(body, bytes):
        text = body.decode("utf-8", "replace").strip()
        try:
            status = read_json(body)
        except ValueError:
            status = {}
    status = _object(status)
    details = _object(status.get("details"))
    causes = details.get("causes")
    return ApiRefusedError(
        code=code,
        reason=_text(status.get("reason")) or reason or "",
        message=_text(status.get("message")) or text,
        retry_after=_seconds((headers or {}).get("Retry-After") or details.get("retryAfterSeconds")),
        causes=tuple(_text(_object(cause).get("reason")) for cause in causes) if isinstance(causes, list) else (),
    )


def check(verb: str, found: object) -> dict[str, Any]:
    """Return what a server answered to a request, or raise ValueError if it is no such answer."""
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
    """Raise ValueError for what has no name: of which object it speaks cannot even be logged."""
    about = _object(_object(found).get("metadata"))
    texts = [about.get("name"), about.get("namespace", ""), about.get(_VERSION, "")]
    if not about.get("name") or not all(isinstance(text, str) and len(text) <= _LONGEST_NAME for text in texts):
        raise ValueError("an object has no name")


async def lines(chunks: AsyncIterator[bytes], longest: int = LONGEST_ANSWER) -> AsyncIterator[bytes]:
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


def event(line: bytes) -> tuple[str, dict[str, Any]]:
    """Return what a line of a watch tells; raise ApiRefusedError for an error, ValueError for what is no event."""
    found = _object(read_json(line))
    kind, document = found.get("type"), found.get("object")
    if kind not in _EVENTS or not isinstance(document, dict):
        raise ValueError("a line of the watch is no event")
    if kind == "ERROR":
        code = document.get("code")
        raise refusal(code if isinstance(code, int) else 0, None, None, document)
    if kind != "BOOKMARK":
        _check_object(document)
    version = _object(document.get("metadata")).get(_VERSION)
    if not isinstance(version, str) or not 0 < len(version) <= _LONGEST_NAME:
        raise ValueError("an event of the watch has no resourceVersion")
    return kind, document


def skew_of(date: str | None, ours: float) -> float | None:
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

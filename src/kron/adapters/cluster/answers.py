"""What an API server's answers say: lines(...), event(...), refusal(...), skew_of(...)."""

from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any

from kron.adapters.cluster.json_text import read_json
from kron.errors import ApiRefusedError


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
    if not isinstance(status, dict):
        status = {}
    details = status.get("details") or {}
    seconds = (headers or {}).get("Retry-After") or details.get("retryAfterSeconds")
    retry_after = None
    with suppress(TypeError, ValueError):
        retry_after = max(0.0, float(seconds)) if seconds is not None else None
    return ApiRefusedError(
        code=code,
        reason=str(status.get("reason") or reason or ""),
        message=str(status.get("message") or text),
        retry_after=retry_after,
        causes=tuple(str(cause.get("reason", "")) for cause in details.get("causes") or ()),
    )


async def lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield whole lines, however long, of a stream that comes in pieces; a rest without an end is none."""
    parts: list[bytes] = []
    async for chunk in chunks:
        first, *more = chunk.split(b"\n")
        parts.append(first)
        for piece in more:
            if line := b"".join(parts):
                yield line
            parts = [piece]


def event(line: bytes) -> tuple[str, dict[str, Any]]:
    """Return what a line of a watch tells; raise ApiRefusedError for an error, ValueError for what is no event."""
    found = read_json(line)
    kind, document = (found.get("type"), found.get("object")) if isinstance(found, dict) else (None, None)
    if not isinstance(kind, str) or not isinstance(document, dict):
        raise ValueError("a line of the watch is no event")
    if kind == "ERROR":
        raise refusal(int(document.get("code") or 0), None, None, document)
    return kind, document


def skew_of(date: str | None, ours: float) -> float | None:
    """Return by how much our clock is ahead of the server's Date, if it says one."""
    with suppress(TypeError, ValueError):
        return ours - parsedate_to_datetime(date or "").timestamp()
    return None

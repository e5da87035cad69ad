"""ChangeFeed: server-sent events that tell browsers to fetch the page again."""

import asyncio
import json
from collections.abc import MutableMapping, Sequence
from typing import Any

from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from kron.decision.decision import Decision
from kron.engine.ports import RunObserver
from kron.engine.runs import JobRun
from kron.rules.job_record import PeriodRecord, RunEnd
from kron.rules.job_spec import JobSpec

MOST = 64  # clients at a time; other pages poll
_TOGETHER = 0.5  # seconds whose changes are one message
_ALL = ""  # not an identity: all jobs
_NAMED = 50  # jobs in a message, at most; `more` says that there are others
_PATIENCE = 20.0  # seconds in which a client must read a message, and between two keep-alives
_HEADERS = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no")]


class _Subscriber:
    """A client. Changes that are not sent yet are merged into one message."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self.changed: set[str] = set()
        self.news = asyncio.Event()
        self.is_over = False

    def tell(self, changed: set[str]) -> None:
        """Add changes to the next message."""
        if len(self.changed) <= _NAMED:
            self.changed |= changed
        self.news.set()

    def end(self) -> None:
        """End after the current message."""
        self.is_over = True
        self.news.set()

    async def next(self, gone: "asyncio.Task[None]") -> bytes:
        """Wait for the next message and return it; empty at the end."""
        waiting = asyncio.ensure_future(self.news.wait())
        try:
            await asyncio.wait({waiting, gone}, timeout=self._patience, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        if self.is_over or gone.done():
            return b""
        if not self.news.is_set():
            return b": still here\n\n"
        self.news.clear()
        changed, self.changed = self.changed, set()
        is_all = _ALL in changed or len(changed) > _NAMED
        message = {"jobs": sorted(changed - {_ALL})[:_NAMED], "more": is_all}
        return f"event: change\ndata: {json.dumps(message)}\n\n".encode()


class ChangeFeed(RunObserver[JobRun]):
    """Observes the engine, and serves `/events`. A client that does not read is disconnected."""

    def __init__(self, *, most: int = MOST, patience: float = _PATIENCE) -> None:
        self._most, self._patience = most, patience
        self._subscribers: set[_Subscriber] = set()
        self._changed: set[str] = set()
        self.generation = 0  # counts changes of what is due
        self._timer: asyncio.TimerHandle | None = None

    def on_closed(self, work: JobSpec, _: PeriodRecord, __: Decision) -> None:
        """A period is over."""
        self._note(work.identity)

    def on_started(self, runs: Sequence[JobRun]) -> None:
        """Runs begin."""
        for run in runs:
            self._note(run.attempt.identity)

    def on_ended(self, ended: Sequence[tuple[JobRun, RunEnd]]) -> None:
        """Runs have ended."""
        for run, _ in ended:
            self._note(run.attempt.identity)

    def on_suspended(self, identity: str, *, suspended: bool) -> None:  # noqa: ARG002
        """A job is suspended, or resumed."""
        self.generation += 1
        self._note(identity)

    def on_news(self) -> None:
        """Something concerns all jobs."""
        self.generation += 1
        self._note(_ALL)

    def _note(self, identity: str) -> None:
        if not self._subscribers:
            return
        if len(self._changed) <= _NAMED:
            self._changed.add(identity)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_TOGETHER, self._tell)

    def _tell(self) -> None:
        self._timer = None
        changed, self._changed = self._changed, set()
        for subscriber in self._subscribers:
            subscriber.tell(changed)

    def close(self) -> None:
        """Disconnect all clients."""
        if self._timer is not None:
            self._timer.cancel()
        for subscriber in self._subscribers:
            subscriber.end()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one client until it leaves or the feed closes."""
        if len(self._subscribers) >= self._most:
            full = PlainTextResponse("too many clients listen already\n", 503, {"retry-after": "30"})
            await full(scope, receive, send)
            return
        subscriber, gone = _Subscriber(self._patience), asyncio.ensure_future(_leaves(receive))
        self._subscribers.add(subscriber)
        try:
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            part = b"retry: 5000\n\n"
            while part:
                async with asyncio.timeout(self._patience):
                    await send(_body(part, more=True))
                part = await subscriber.next(gone)
            await send(_body(b"", more=False))
        except TimeoutError:  # the server closes its connection
            pass
        finally:
            self._subscribers.discard(subscriber)
            gone.cancel()


async def _leaves(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _body(part: bytes, *, more: bool) -> MutableMapping[str, Any]:
    return {"type": "http.response.body", "body": part, "more_body": more}

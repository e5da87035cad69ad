"""Reflector: fills a store with every object of a resource, and then with every change, for as long as it runs."""

import random
import time
from collections.abc import Callable
from contextlib import aclosing
from http import HTTPStatus
from typing import Any, Generic, Literal

from kron.adapters.kubernetes.cache import Key, ResourceStore, T
from kron.adapters.kubernetes.client import ApiClient, Resource
from kron.adapters.kubernetes.responses import Backoff, sleep
from kron.errors import AnswerTooLongError, ApiError, ApiMalformedError, ApiRefusedError, ApiUnreachableError

RestartCause = Literal["expired", "closed", "broken", "refused"]

PAGE = 500  # objects of a page at most
LONGEST_PAGE = 4_000_000  # bytes of JSON, which take up to forty times as much memory while they are read
_FEWER = 8  # of a page that is too long, an eighth is asked for; a page of one object is read, whatever its length
_SHORTEST, _LONGEST = 300.0, 600.0  # seconds of a watch, drawn each time, so that they do not all end together
_LASTED = 5.0  # seconds after which a watch has gone well, however it ends
_MOST_ASKED = 1_000_000  # objects of a list that are asked for; a server that always has one more page is broken


class Reflector(Generic[T]):
    """Lists in pages, watches from there with bookmarks, and starts again with a list when a version is gone."""

    def __init__(
        self,
        api: ApiClient,
        resource: Resource,
        namespace: str,
        store: ResourceStore[T],
        *,
        on_error: Callable[[ApiError], object],
        on_restart: Callable[[RestartCause], object],
        selector: str = "",
        backoff: Backoff | None = None,
        chance: Callable[[], float] = random.random,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`on_error` hears that the server cannot be listed or watched for now; it is tried again."""
        self.has_synced = False  # a complete list was handed over; stays
        self._on_error, self._on_restart = on_error, on_restart
        self._api = api
        self._resource = resource
        self._namespace = namespace
        self._store = store
        self._selector = selector
        self._backoff = backoff or Backoff()
        self._chance = chance
        self._monotonic = monotonic
        self._since = ""  # the version up to which the store knows everything; empty: list first
        self.is_watching = False  # whether the server agrees to be watched
        self._heard_at = self._asked_at = monotonic()

    @property
    def last_contact(self) -> float:
        """The monotonic time of the last sign of life; an open watch that has not fallen silent is one."""
        return self._monotonic() if self.is_watching else self._heard_at

    async def run(self) -> None:
        """Keep the store true until cancelled. No answer of the server ends it."""
        while True:
            error: ApiError | None = None
            cause: RestartCause = "closed"
            try:
                if not self._since:
                    await self._list()
                await self._watch()
            except ApiRefusedError as refused:
                cause, error = ("expired" if refused.code == HTTPStatus.GONE else "refused"), refused
            except ApiUnreachableError as unreachable:
                cause, error = "broken", unreachable
            was_open, is_malformed = self._close(), isinstance(error, ApiMalformedError | AnswerTooLongError)
            if cause == "expired" or is_malformed:  # the same line would come again and again
                self._since = ""
            if cause != "expired" and error is not None and (is_malformed or not was_open):
                self._on_error(error)  # what was open and broke is first tried again, and may be back at once
            self._on_restart(cause)
            await self._backoff.wait(error.retry_after if isinstance(error, ApiRefusedError) else None)

    async def refresh(self) -> None:
        """Hand a complete list over now, beside the watch, which may be behind; ApiError if that fails."""
        await self._replace(*await self._objects())

    async def _list(self) -> None:
        found, self._since = await self._objects()
        await self._replace(found, self._since)
        self.has_synced = True

    async def _replace(self, found: dict[Key, T | None], version: str) -> None:
        for _ in self._store.replace(found, version, self._namespace):
            await sleep(0.0)

    async def _objects(self) -> tuple[dict[Key, T | None], str]:
        """Return all there is, and of which version that is."""
        found: dict[Key, T | None] = {}
        query = {"labelSelector": self._selector} if self._selector else {}
        limit = PAGE
        asked = 0
        while asked < _MOST_ASKED:
            asked += limit
            try:
                page = await self._page(query, limit)
            except AnswerTooLongError:
                if limit == 1:
                    raise
                limit = max(1, limit // _FEWER)
                continue
            self._heard_at = self._monotonic()
            for document in page.get("items") or ():
                found[_key(document)] = self._store.parse(document)
                await sleep(0.0)  # a turn between two: reading a large one takes milliseconds
            about = page.get("metadata") or {}
            if not (token := about.get("continue")):
                return found, about.get("resourceVersion", "")
            query["continue"] = token
            limit = min(PAGE, 2 * limit)  # the large ones may lie behind us
        raise ApiMalformedError(server=self._api.server, reason=f"its list has more than {_MOST_ASKED:,} objects")

    async def _page(self, query: dict[str, str], limit: int) -> dict[str, Any]:
        longest = LONGEST_PAGE if limit > 1 else None
        asked = {"limit": str(limit), **query}
        return await self._api.request("list", self._resource, self._namespace, query=asked, longest=longest)

    async def _watch(self) -> None:
        self._asked_at = self._monotonic()
        seconds = _SHORTEST + (_LONGEST - _SHORTEST) * self._chance()
        events = self._api.watch(
            self._resource,
            self._namespace,
            self._since,
            selector=self._selector,
            seconds=seconds,
            on_open=self._open,
        )
        async with aclosing(events):
            async for kind, document in events:
                self._take(kind, document)
                self._since = document["metadata"]["resourceVersion"]
                await sleep(0.0)  # a turn, also if the next one is in the buffer already

    def _take(self, kind: str, document: dict[str, Any]) -> None:
        match kind:
            case "ADDED" | "MODIFIED":
                self._store.take(document)
            case "DELETED":
                self._store.remove(_key(document), document["metadata"]["resourceVersion"])

    def _open(self) -> None:
        self.is_watching = True

    def _close(self) -> bool:
        """Return whether the watch was open, which it is no longer; one that has lasted ends the longer waiting."""
        was_open, self.is_watching = self.is_watching, False
        if was_open:
            self._heard_at = self._monotonic()
            if self._heard_at - self._asked_at >= _LASTED:
                self._backoff.reset()
        return was_open


def _key(document: dict[str, Any]) -> Key:
    about = document["metadata"]
    return about.get("namespace", ""), about["name"]

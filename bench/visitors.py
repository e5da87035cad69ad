"""Visitors: open pages of a daemon, as browsers hold them: they listen, and fetch again on each change."""

import http.client
import json
from pathlib import Path
from threading import Event, Thread
from time import monotonic, perf_counter
from typing import NamedTuple

PAUSE = 2.25  # seconds between two looks of one page, as its script has it


class PageTiming(NamedTuple):
    """One answer: milliseconds until its first byte, and bytes."""

    first: float
    size: int


class Door:
    """Where a daemon of ours listens."""

    def __init__(self, folder: Path) -> None:
        lines = (folder / "said").read_text("utf-8").splitlines()
        events = (json.loads(line) for line in lines if line.startswith("{"))
        address = next(event["address"] for event in events if event["event"] == "Listening")
        self._host = str(address).split("/")[2]
        self._headers = {"Authorization": f"Bearer {(folder / 'state' / 'token').read_text().strip()}"}

    def look(self, path: str) -> PageTiming:
        """Ask for a page over a new connection."""
        begun = perf_counter()
        answer = self.open(path)
        first = answer.read(1)
        at = perf_counter()
        if answer.status != http.HTTPStatus.OK:
            raise RuntimeError(f"{path} was answered by {answer.status}")
        return PageTiming((at - begun) * 1e3, len(first + answer.read()))

    def open(self, path: str) -> http.client.HTTPResponse:
        """Return an answer that is to be read yet."""
        connection = http.client.HTTPConnection(self._host, timeout=30)
        connection.request("GET", path, headers={**self._headers, "Connection": "close"})
        return connection.getresponse()


class Visitors:
    """So many open pages, until they are closed."""

    def __init__(self, door: Door, number: int) -> None:
        self._door, self._over = door, Event()
        self.looks: list[PageTiming] = []
        self._threads = [Thread(target=self._stay, daemon=True) for _ in range(number)]

    def __enter__(self) -> "Visitors":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(PAUSE + 30)

    def _stay(self) -> None:
        listening, last = self._door.open("/events"), 0.0
        while not self._over.is_set() and (line := listening.readline()):
            if line.startswith(b"data:") and monotonic() > last + PAUSE:
                self.looks.append(self._door.look("/"))
                last = monotonic()
        listening.close()

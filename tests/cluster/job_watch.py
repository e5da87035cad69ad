"""JobWatch: every Job that the server ever stored, including deleted ones, seen by a watch of the tests.

The audit log alone does not show them all: when a client dies between the commit of its create and the answer, the
server logs another code than 201, although the Job exists.
"""

import threading
from contextlib import suppress
from http.client import HTTPException

from tests.cluster.client import ClusterClient, Document, Refused, path
from tests.cluster.wait import wait_until

_AT_A_TIME = 30  # seconds of one watch request
_PAUSE = 0.1  # seconds between two of them
_GONE = 410


class JobWatch:
    """One thread that follows the Jobs of all namespaces. It resumes after the server was restarted."""

    def __init__(self, client: ClusterClient) -> None:
        self._client = client
        self._seen: dict[str, Document] = {}  # metadata by uid
        self._version = ""  # the newest resourceVersion seen
        self._thread = threading.Thread(target=self._follow, name="job-watch", daemon=True)
        self._closed = threading.Event()

    def start(self) -> None:
        """Return once the Jobs that exist now are known."""
        self._list()
        self._thread.start()

    def close(self) -> None:
        """End the thread with its next event or request; it never keeps the process alive."""
        self._closed.set()

    def stored(self, namespace: str) -> list[Document]:
        """Return the metadata of all Jobs of a namespace, among them those that exist now."""
        present = {each["metadata"]["uid"] for each in self._client.list("Job", namespace)}
        wait_until(lambda: present <= self._seen.keys(), what="all Jobs that exist in the watch")
        return [each for each in list(self._seen.values()) if each["namespace"] == namespace]

    def _follow(self) -> None:
        while not self._closed.wait(_PAUSE):
            with suppress(OSError, HTTPException, ValueError, Refused):  # the server is away, or a line was cut
                if self._watch() == _GONE:
                    self._list()

    def _watch(self) -> int:
        """Take up events until the request ends; return the code of an error event, else 0."""
        for kind, found in self._client.watch("Job", self._version, seconds=_AT_A_TIME):
            if kind == "ERROR":
                return int(found.get("code", 0))
            self._take(found)
        return 0

    def _list(self) -> None:
        found = self._client.ask("GET", path("Job", ""))
        for job in found["items"]:
            self._take(job)
        self._version = found["metadata"]["resourceVersion"]

    def _take(self, job: Document) -> None:
        self._seen[job["metadata"]["uid"]] = job["metadata"]
        self._version = job["metadata"]["resourceVersion"]

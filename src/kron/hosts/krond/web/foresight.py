"""Foresight: questions about the future, asked of processes of their own: the load of a span, and feeds of it."""

import json
import subprocess
import sys
from collections.abc import Generator, Sequence
from threading import Lock, Timer
from typing import Any

from kron.engine.jobs.job import Job
from kron.errors import ControlError
from kron.instant import Instant, format_instant

_COMMAND = (sys.executable, "-P", "-m", "kron.hosts.krond.web.foreseeing")
_MOST = 3  # processes at a time
_MOST_FEEDS = 2  # of these: who reads one slowly does not keep others from seeing the load
_LOAD = "load"
_LONGEST = 120.0  # seconds of one
_PART = 64 * 1024  # bytes passed on at a time


class Foresight:
    """Its methods block: they are for threads. Three questions are answered at a time, each within two minutes."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._asked: dict[subprocess.Popen[bytes], str] = {}  # and for which form
        self._is_open = True

    def load(self, jobs: Sequence[Job], since: Instant, until: Instant) -> dict[str, Any]:
        """Return how many start, and when."""
        found: dict[str, Any] = json.loads(b"".join(self.ask(_LOAD, jobs, since, until)))
        return found

    def ask(self, form: str, jobs: Sequence[Job], since: Instant, until: Instant) -> Generator[bytes, None, None]:
        """Yield the answer as it comes; who does not want all of it closes the iterator."""
        told = [(job.record.name, job.record.identity, job.work.definition) for job in jobs if not job.is_suspended]
        span = {"since": format_instant(since), "until": format_instant(until)}
        question = json.dumps({"form": form, **span, "jobs": told}).encode()
        process = self._begin(form)
        limit = Timer(_LONGEST, self._give_up, [process])
        limit.daemon = True
        limit.start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(question)
            process.stdin.close()
            while part := process.stdout.read(_PART):
                yield part
            if process.wait():
                raise ControlError(reason="that takes too long to count here; `kron forecast` has time")
        finally:
            limit.cancel()
            self._end(process)

    def close(self) -> None:
        """Wait for no answer any more."""
        self._is_open = False
        for process in list(self._asked):
            process.kill()

    def _begin(self, form: str) -> "subprocess.Popen[bytes]":
        with self._lock:
            feeds = sum(each != _LOAD for each in self._asked.values())
            is_full = len(self._asked) >= _MOST or (form != _LOAD and feeds >= _MOST_FEEDS)
            if is_full or not self._is_open:
                raise ControlError(reason="others ask for what comes already; try again in a minute")
            pipe = subprocess.PIPE
            process = subprocess.Popen(_COMMAND, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
            self._asked[process] = form
            return process

    def _give_up(self, process: "subprocess.Popen[bytes]") -> None:
        """End a process; others may be asked for at once, however slowly its answer is read."""
        process.kill()
        with self._lock:
            self._asked.pop(process, None)

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        self._give_up(process)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()

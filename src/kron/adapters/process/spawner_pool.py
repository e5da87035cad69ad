"""UserSpawners: all starts of one user and group, in order, by one spawner at a time; the messages it gets."""

import asyncio
import os
import resource
import signal
import time
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from kron.adapters.process.launch import LaunchSpec
from kron.adapters.process.output_collector import OutputCollector
from kron.adapters.process.procfs import ProcessStat, find_ended_session_leaders, find_session_leaders
from kron.adapters.process.spawner_client import ProcessExit, SpawnerProcess, SpawnerReport, SpawnRequest
from kron.adapters.process.spool import Spool, SpoolFiles
from kron.rules.job_record import RunHandle

if TYPE_CHECKING:
    from kron.adapters.process.runner import ProcessRunner

_TOGETHER = 32  # starts in one message, with at most two open files each, of which the kernel passes 253
_AHEAD = 96  # starts that a spawner has before it: some 60 ms of work, should this loop be busy for as long
_DESCRIPTORS_OF_A_START = 2
_PATIENCE, _STEP = 2.0, 0.002  # seconds that a spawner has for ending, and between two looks
_RENEWAL = 1.0  # seconds that a new spawner has before others go on without it: twenty times what it takes
_BIRTH = 0.05  # seconds from fork to exec: a hundred times what it takes


class UserSpawners:
    """Starts that wait, the spawner that takes them, and older spawners whose children still live."""

    def __init__(self, user: str, group: str, host: "ProcessRunner") -> None:
        self._user, self._group = user, group
        self._host = host
        self._pending: deque[SpawnRequest] = deque()
        self._current: SpawnerProcess | None = None
        self._next: SpawnerProcess | None = None  # takes over as soon as it is ready
        self._processes: set[SpawnerProcess] = set()
        self._ticks: dict[str, RunHandle] = {}  # of the living, by run id
        self._sending = asyncio.Lock()
        self._room = asyncio.Event()
        self._pumping = False
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        # Descriptors in flight in a socket count against the limit of their sender, too.
        self._ahead = max(1, min(_AHEAD, soft // 4 // _DESCRIPTORS_OF_A_START))
        self._together = min(_TOGETHER, self._ahead)

    def owns_pid(self, pid: int) -> bool:
        """Whether a process is one of its spawners, or the child of one that may have died without our knowing yet."""
        return any(process.has(pid) or process.may_have_more for process in self._processes)

    def knows(self, pid: int) -> bool:
        """Whether a process is one of its spawners, or a child that one of them has reported or noted."""
        return any(process.has(pid) for process in self._processes)

    def start(self, starts: Iterable[SpawnRequest]) -> None:
        """Start these, after those that wait already."""
        self._pending.extend(starts)
        if not self._pumping:
            self._pumping = True
            self._host.create_task(self._pump())

    async def prepare(self) -> None:
        """Have a spawner ready, so that the first starts do not wait for it."""
        await self._spawner()

    def cancel_pending(self, run_id: str) -> bool:
        """Give up a start that has not been asked for yet; whether there was one."""
        for start in self._pending:
            if start.run_id == run_id:
                self._pending.remove(start)
                return True
        return False

    async def renew(self) -> None:
        """Use a new spawner for the next starts, one that has looked up users and groups again.

        A new spawner that is slow to get ready delays nothing: the old one is used until then.
        """
        if self._current is None:
            return
        try:
            process = SpawnerProcess(self._user, self._group, self._heard, self._gone)
        except OSError:  # the old one does, for now
            return
        self._processes.add(process)
        slower, self._next = self._next, process
        if slower is not None:
            slower.retire()
        process.ready.add_done_callback(lambda _: self._switch_to(process))
        await asyncio.wait([process.ready], timeout=_RENEWAL)

    def _switch_to(self, process: SpawnerProcess) -> None:
        if self._next is not process:  # a later one will
            return
        self._next = None
        new = None if process.ready.cancelled() else process  # None: the next start gets the reason
        old, self._current = self._current, new
        self._room.set()
        if old is not None:
            old.retire()

    def kill_stuck(self, seconds: float) -> None:
        """Kill spawners that hang; `seconds` have passed since the last look. Their starts are recovered."""
        for process in list(self._processes):
            if process.is_stuck(seconds):
                process.kill()

    async def close(self) -> None:
        """Let the spawners go. Those without children have ended afterwards."""
        self._pending.clear()
        idle = [process for process in self._processes if not process.running and not process.in_flight]
        for process in self._processes:
            process.close()
        self._current = self._next = None
        self._processes.clear()
        for process in idle:
            await asyncio.to_thread(_wait_for, process.pid)

    # --- starting -----------------------------------------------------------------------------------------------------

    async def _pump(self) -> None:
        try:
            while self._pending:
                process = await self._spawner()
                while process is not None and process is self._current and self._pending:
                    await self._feed(process)
        finally:
            self._pumping = False

    async def _spawner(self) -> SpawnerProcess | None:
        """Return a spawner that is ready; without one, all that wait are refused."""
        if self._current is None:
            try:
                self._current = SpawnerProcess(self._user, self._group, self._heard, self._gone)
            except OSError as error:
                self._refuse(f"no spawner could be started: {error.strerror}")
                return None
            self._processes.add(self._current)
        process = self._current
        await asyncio.wait([process.ready])
        if process.ready.cancelled():
            self._refuse(process.refusal or f"the spawner of {self._user or 'this user'} ended before it was ready")
            if self._current is process:
                self._current = None
            return None
        return process

    async def _feed(self, process: SpawnerProcess) -> None:
        if not self._has_room(process):
            self._room.clear()
            await self._room.wait()
        async with self._sending:
            if self._current is not process:  # it died meanwhile, or was retired
                return
            chunk = [self._pending.popleft() for _ in range(min(self._together, len(self._pending)))]
            failed, unsent = await self._host.run_in_thread(
                partial(send, process, chunk, self._host.spools, self._host.collector)
            )
        if failed:
            self._host.on_report(SpawnerReport(ended=failed))
        if unsent:
            self._pending.extendleft(reversed(unsent))
            if self._current is process:  # dead, though it did not say so yet
                self._current = None

    def _has_room(self, process: SpawnerProcess) -> bool:
        return not process.in_flight or (len(process.in_flight) <= self._ahead - self._together and not process.is_full)

    def _refuse(self, reason: str) -> None:
        refused = [ProcessExit(start.run_id, not_started=reason) for start in self._pending]
        self._pending.clear()
        self._host.on_report(SpawnerReport(ended=refused))

    # --- what the spawner says ----------------------------------------------------------------------------------------

    def _heard(self, news: SpawnerReport) -> None:
        if self._current is None or self._has_room(self._current):
            self._room.set()
        for started in news.started:
            self._ticks[started.run_id] = started
        for ended in news.ended:
            self._ticks.pop(ended.run_id, None)
        self._host.on_report(news)

    def _gone(self, process: SpawnerProcess) -> None:
        if self._current is process:
            self._current = None
        self._room.set()
        self._host.create_task(self._recover(process))

    async def _recover(self, process: SpawnerProcess) -> None:
        """Find out how the starts and processes of a dead spawner ended. A retired spawner has none left."""
        async with self._sending:  # what was being sent has arrived or has not
            await asyncio.to_thread(_wait_for, process.pid)  # from here on its children are ours
            process.read_rest()
            begun = process.started_count()
            self._room.set()
        starts = [start for start, _ in process.in_flight]
        # At most one: the last that it began, if it was stopped before it could note the process.
        perhaps, never = starts[: begun - process.answered], starts[begun - process.answered :]
        uid = None if process.ready.cancelled() else process.ready.result()[0]
        found = await asyncio.to_thread(_look_for, {start.run_id: uid for start in perhaps})
        if perhaps and not found:
            ended = [each for each in find_ended_session_leaders(uid) if not self._host.knows(each[0])]
            found = {perhaps[0].run_id: ended[0]} if len(ended) == 1 else {}
        news = SpawnerReport([RunHandle(run_id, pid, known.ticks) for run_id, (pid, known) in found.items()])
        # Begun, and not there: it may have run and ended, or have failed to start. That cannot be known.
        news.ended += [ProcessExit(start.run_id) for start in perhaps if start.run_id not in found]
        if begun:  # the next one starts the rest
            cancel(never, self._host.collector)
        else:  # the next one might die as soon, and the next
            news.ended += [
                ProcessExit(start.run_id, not_started="its spawner died before it was started") for start in never
            ]
        orphans = [self._ticks.pop(run_id) for run_id in process.running.values()]
        if news:
            self._host.on_report(news)
        self._host.watch_orphans([*orphans, *news.started])
        process.close()
        self._processes.discard(process)
        if begun and never:
            self._pending.extendleft(reversed(never))
            self.start(())


def _look_for(users: dict[str, int | None]) -> dict[str, tuple[int, ProcessStat]]:
    """Find the leaders of starts begun. One that was just being born shows its environment a little later."""
    found = find_session_leaders(users)
    if len(found) < len(users):
        time.sleep(_BIRTH)
        found = find_session_leaders(users)
    return found


def _wait_for(pid: int) -> None:
    """Wait for the end of a spawner that is about to end, or kill it: its user may have stopped it."""
    with suppress(ChildProcessError):  # already reaped
        for _ in range(2):
            end = time.monotonic() + _PATIENCE
            while time.monotonic() < end:
                if os.waitpid(pid, os.WNOHANG)[0]:
                    return
                time.sleep(_STEP)
            os.kill(pid, signal.SIGKILL)


_COLLECTED = ("capture", "syslog")


def send(
    process: SpawnerProcess, starts: Sequence[SpawnRequest], spools: SpoolFiles, collector: OutputCollector
) -> tuple[list[ProcessExit], list[SpawnRequest]]:
    """Give some starts spool files and ask for them; return those that failed, and those that were not taken.

    In a thread.
    """
    failed: list[ProcessExit] = []
    sent, requests, assigned = [], [], []
    descriptors: list[list[int]] = []
    try:
        for start in starts:
            try:
                own, opened = _open(start, spools)
            except OSError as error:
                failed.append(ProcessExit(start.run_id, not_started=f"output file: {error.strerror}"))
                continue
            sent.append(start)
            requests.append(_request(start))
            assigned.append(own)
            descriptors.append(opened)
        if sent:
            spools.assign(spool for own in assigned for spool in own)
            for own in assigned:
                collector.add(own)
            process.send(sent, requests, descriptors)
    except (BrokenPipeError, ConnectionResetError):
        cancel(sent, collector)
        return failed, sent
    except (OSError, ValueError) as error:  # a full disk, too many files under way, or a value that cannot be sent
        spools.remove(spool.name for own in assigned for spool in own)
        cancel(sent, collector)
        failed += [ProcessExit(start.run_id, not_started=f"it cannot be asked for: {error}") for start in sent]
    finally:
        for opened in descriptors:
            for descriptor in opened:
                os.close(descriptor)
    return failed, []


def cancel(starts: Iterable[SpawnRequest], collector: OutputCollector) -> None:
    """Remove the spool files of starts that did not happen."""
    for start in starts:
        collector.cancel(start.run_id)


def _open(start: SpawnRequest, spools: SpoolFiles) -> tuple[list[Spool], list[int]]:
    """Return the spool files of a start, and their descriptors; OSError if they cannot be had, and then it has none."""
    command = start.command
    own: list[Spool] = []
    descriptors: list[int] = []
    try:
        for stream, where in (("stdout", command.stdout), ("stderr", command.stderr)):
            if where in _COLLECTED:
                name, descriptor = spools.take()
                descriptors.append(descriptor)
                own.append(Spool(name, start.run_id, stream, None if where == "syslog" else command.output_limit))
    except OSError:
        for descriptor in descriptors:
            os.close(descriptor)
        spools.remove(spool.name for spool in own)
        raise
    return own, descriptors


def _request(start: SpawnRequest) -> LaunchSpec:
    command = start.command
    stdout, stderr = ("fd" if where in _COLLECTED else where for where in (command.stdout, command.stderr))
    umask = -1 if command.umask is None else command.umask
    return (
        command.argv, start.environment(), command.cwd, umask, command.limits, command.stdin, stdout, stderr,
    )  # fmt: skip

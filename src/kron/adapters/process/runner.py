"""ProcessRunner: starts processes on this host, as the users they should run as, and reports how each ended."""

import asyncio
import os
import resource
import signal
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

from kron.adapters.process.output_collector import OutputCollector
from kron.adapters.process.procfs import read_stat
from kron.adapters.process.spawner_client import ProcessExit, SpawnerReport, SpawnRequest, end
from kron.adapters.process.spawner_pool import UserSpawners
from kron.adapters.process.spool import SpoolFiles
from kron.adapters.process.supervision import (
    OrphanReaper,
    ProcessGroup,
    RecordedProcess,
    become_subreaper,
    find_survivors,
    lives,
)
from kron.adapters.process.syslog import Syslog
from kron.rules.job_record import RunHandle

T = TypeVar("T")

_MOST_FILES_AHEAD = 4096  # spool files
_GATHERING = 0.05  # seconds for which news waits for more of it while a burst is started
_TURN = 0.02  # seconds between two looks while a job leaves more orphans than one look reaps
_TICK, _QUICK_TICK = 1.0, 0.2  # seconds between polls of what is not reported; quick while a caller waits
_SHARE = 20  # times as long as a look at the survivors took, which is some 20 us for each, they are left alone


class ProcessRunner:
    """`started` and `ended` get lists: each start is reported once as started and then once as ended, or, if it could
    not be started, only as ended. They are called on the event loop that `open` was called on."""

    def __init__(
        self,
        output: str | os.PathLike[str],
        *,
        started: Callable[[list[RunHandle]], object],
        ended: Callable[[list[ProcessExit]], object],
        lost: Callable[[str, int], object] = lambda _run_id, _lines: None,
        seized: Callable[[str], object] = lambda _run_id: None,
        syslog: Syslog | None = None,
    ) -> None:
        """`lost` gets the run id and the number of lines that the host's log dropped, `seized` the id of a run that was
        killed because it took disk space again and again."""
        self.spools = SpoolFiles(output)
        self._files_ahead = 0  # spool files that are made before they are needed
        self._is_stocking = False
        self._started = started
        self._ended = ended
        self._lanes: dict[tuple[str, str], UserSpawners] = {}
        self._pending: dict[str, tuple[str, str]] = {}  # starts without a report yet, with their lane
        self._active: dict[str, RunHandle] = {}
        self._news = SpawnerReport()  # not yet passed to the host
        self._telling: asyncio.TimerHandle | None = None
        self._heard: asyncio.Future[None] | None = None  # done when there is more news, for `catch_up`
        self._doomed: dict[str, timedelta] = {}  # to be ended as soon as they have started
        self._groups: dict[str, ProcessGroup] = {}  # being terminated, until the grace is over or none of them is left
        self._parted: asyncio.Future[None] | None = None  # done when no group is being terminated
        self._orphans: dict[int, str] = {}  # run ids of adopted children
        self._survivors: set[RunHandle] = set()  # that are not children of this process
        self._rest_until = 0.0  # when they are looked at again, in the event loop's time
        self._tasks: set[asyncio.Task[None]] = set()
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="kron output files")
        self._lost, self._seized = lost, seized
        self.collector = OutputCollector(
            self.spools.folder, self.is_starting, self._on_lost, seized=self._on_seized, syslog=syslog
        )
        self._reaper = OrphanReaper(lambda pid: any(lane.owns_pid(pid) for lane in self._lanes.values()))
        self._tick: asyncio.TimerHandle | None = None
        self._looked = 0.0  # the event loop's time
        # Descriptors that may be held for processes that are ended: files and sockets need some, too.
        self._spare = resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 8

    async def open(self) -> None:
        """Make the output folder if it is missing, and begin to collect the files in it."""
        self._loop = asyncio.get_running_loop()
        earlier = await self.run_in_thread(self.spools.open)
        become_subreaper()
        self.collector.start(earlier)
        self._looked = self._loop.time()
        self._tick = self._loop.call_later(_TICK, self._look)

    def prepare(self, user: str, group: str, files: int) -> None:
        """Make a spawner of a user and so many spool files ahead, so that the first starts do not wait for them."""
        self._files_ahead = max(self._files_ahead, min(files, _MOST_FILES_AHEAD))
        self.create_task(self._lane((user, group)).prepare())
        self._stock()

    def start_many(self, starts: Iterable[SpawnRequest]) -> None:
        """Start these as soon as may be, each user's in this order. Returns at once."""
        lanes: dict[tuple[str, str], list[SpawnRequest]] = defaultdict(list)
        for start in starts:
            lanes[start.command.user, start.command.group].append(start)
        for key, own in lanes.items():
            self._pending.update(dict.fromkeys((start.run_id for start in own), key))
            self._lane(key).start(own)

    def is_starting(self) -> bool:
        """Whether there are starts without a report yet."""
        return bool(self._pending)

    def terminate(self, run_id: str, grace: timedelta) -> None:
        """Send SIGTERM to the group, and SIGKILL to the processes that are left when the grace is over.

        A start that has not happened yet does not happen.
        """
        if (process := self._active.get(run_id)) is not None:
            if run_id not in self._groups:
                held = len(self._groups) < self._spare
                group = self._groups[run_id] = ProcessGroup(process.pid, process.start_ticks, held=held)
                group.signal(signal.SIGTERM)
                self._loop.call_later(grace.total_seconds(), self._finish_off, run_id)
        elif (key := self._pending.get(run_id)) is not None:
            if self._lanes[key].cancel_pending(run_id):
                self.on_report(
                    SpawnerReport(ended=[ProcessExit(run_id, not_started="it was ended before it was started")])
                )
            else:
                self._doomed[run_id] = grace

    def kill(self, run_id: str) -> None:
        """Send SIGKILL to the group at once."""
        if (process := self._active.get(run_id)) is not None:
            group = self._groups.get(run_id) or ProcessGroup(process.pid, process.start_ticks, held=True)
            group.signal(signal.SIGKILL)
            if run_id not in self._groups:
                group.close()
        else:
            self.terminate(run_id, timedelta())

    async def reattach(self, recorded: Iterable[RecordedProcess]) -> list[RunHandle]:
        """Return the runs of an earlier host that still live; their ends will be reported, without an exit code.

        Output of all the others is complete. To be called once, before anything is started.
        """
        survivors = await self.run_in_thread(partial(find_survivors, list(recorded)))
        self._active.update((survivor.run_id, survivor) for survivor in survivors)
        self._survivors.update(survivors)
        self.collector.end_all_except({survivor.run_id for survivor in survivors})
        self._hurry()
        return survivors

    async def catch_up(self, patience: float, *, with_starts: bool) -> None:
        """Return when `ended` was called for all processes that are gone by now, at the latest after so many seconds.

        The spawners that reap them may have been stopped, too. `with_starts`: starts that no spawner has answered
        count, as they may have begun and ended.
        """
        asked = [*self._active, *(self._pending if with_starts else ())]
        until = self._loop.time() + patience
        while any(map(self._is_unheard, asked)) and (left := until - self._loop.time()) > 0:
            self._heard = self._loop.create_future()
            self._rest_until = 0.0
            self._hurry()
            await asyncio.wait([self._heard], timeout=min(left, _QUICK_TICK))
        self._heard = None
        self._pass_on()

    def _is_unheard(self, run_id: str) -> bool:
        process = self._active.get(run_id)
        return run_id in self._pending if process is None else not lives(process.pid, process.start_ticks)

    async def refresh(self) -> None:
        """Look up users and groups again for the starts that follow. Running processes are not affected."""
        await asyncio.gather(*(lane.renew() for lane in list(self._lanes.values())))

    def kill_terminating(self) -> None:
        """Send SIGKILL to all processes that are still being terminated."""
        for run_id in list(self._groups):
            self._finish_off(run_id)

    async def close(self, *, wait: bool = True) -> None:
        """Release everything. Active runs continue and write their output; a later host may reattach to them.

        If `wait` is set, wait for groups that are being terminated: the leader may have ended before the others.
        """
        if self._groups and wait:
            self._parted = self._loop.create_future()
            self._hurry()
            await self._parted
        if self._tick is not None:
            self._tick.cancel()
        self._pass_on()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for lane in self._lanes.values():
            await lane.close()
        for group in self._groups.values():
            group.close()
        await self.run_in_thread(self.collector.close)
        self._threads.shutdown()

    def _lane(self, key: tuple[str, str]) -> UserSpawners:
        if key not in self._lanes:
            self._lanes[key] = UserSpawners(*key, self)
        return self._lanes[key]

    def free_space(self, patience: float) -> None:
        """Give disk space back that output need not have; returns after some seconds at most. From any thread."""
        self.collector.free_space(patience)

    def _stock(self) -> None:
        """Make spool files ahead, unless starts need the disk just now."""
        if self.spools.lacks(self._files_ahead) and not self._is_stocking and not self._pending:
            self._is_stocking = True
            self.create_task(self._make_files())

    async def _make_files(self) -> None:
        try:
            with suppress(OSError):  # a full disk: the start that needs a file reports it
                while await self.run_in_thread(partial(self.spools.stock, self._files_ahead)) and not self._pending:
                    pass
        finally:
            self._is_stocking = False

    # --- for lanes ----------------------------------------------------------------------------------------------------

    def on_report(self, news: SpawnerReport) -> None:
        """Take news of executions, and pass it on: during a burst a little later, many together."""
        for started in news.started:
            self._pending.pop(started.run_id, None)
            self._active[started.run_id] = started
        for ended in news.ended:
            self._pending.pop(ended.run_id, None)
            self._active.pop(ended.run_id, None)
            self._doomed.pop(ended.run_id, None)
            self.collector.end(ended.run_id)
        self._news.started += news.started
        self._news.ended += news.ended
        if self._heard is not None and not self._heard.done():
            self._heard.set_result(None)
        if not self._pending:
            self._pass_on()
        elif self._telling is None:
            self._telling = self._loop.call_later(_GATHERING, self._pass_on)
        if self._doomed:
            for started in news.started:
                if (grace := self._doomed.pop(started.run_id, None)) is not None:
                    self.terminate(started.run_id, grace)

    def _pass_on(self) -> None:
        if self._telling is not None:
            self._telling.cancel()
            self._telling = None
        news, self._news = self._news, SpawnerReport()
        if news.started:
            self._started(news.started)
        if news.ended:
            self._ended(news.ended)

    def watch_orphans(self, orphans: Sequence[RunHandle]) -> None:
        """Poll processes whose spawner has died: they are children of this process now, or have no parent here."""
        for orphan in orphans:
            known = read_stat(orphan.pid)
            if known is not None and known.parent == os.getpid():
                self._orphans[orphan.pid] = orphan.run_id
            else:
                self._survivors.add(orphan)
        self._hurry()

    def knows(self, pid: int) -> bool:
        """Whether it is known which execution a child of this process is, or that it is none."""
        return pid in self._orphans or any(lane.knows(pid) for lane in self._lanes.values())

    def run_in_thread(self, call: Callable[[], T]) -> Awaitable[T]:
        """Call something that may wait for the disk, after whatever else does."""
        return self._loop.run_in_executor(self._threads, call)

    def create_task(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that takes a while."""
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _on_seized(self, run_id: str) -> None:
        self._loop.call_soon_threadsafe(self._kill_seizer, run_id)

    def _kill_seizer(self, run_id: str) -> None:
        if run_id in self._active:  # its surviving descendants are out of reach
            self.kill(run_id)
            self._seized(run_id)

    def _on_lost(self, run_id: str, lines: int) -> None:
        self._loop.call_soon_threadsafe(self._lost, run_id, lines)

    # --- polling ------------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        ended = self._ended_survivors()
        ended += [end(self._orphans.pop(pid), status) for pid, status in self._reaper.reap() if pid in self._orphans]
        if ended:
            self.on_report(SpawnerReport(ended=ended))
        before, self._looked = self._looked, self._loop.time()
        for run_id in [run_id for run_id, group in self._groups.items() if not group.signal(0)]:
            self._let_go_of(run_id)
        self._stock()
        for lane in self._lanes.values():  # while this loop was held up, or frozen, spawners may have been, too
            lane.kill_stuck(min(self._looked - before, _TICK))
        quick = self._orphans or self._survivors or self._parted is not None
        pause = _TURN if self._reaper.has_more else _QUICK_TICK if quick else _TICK
        self._tick = self._loop.call_later(pause, self._look)

    def _hurry(self) -> None:
        if self._tick is not None:
            self._tick.cancel()
            self._look()

    def _ended_survivors(self) -> list[ProcessExit]:
        if (begun := self._loop.time()) < self._rest_until:
            return []
        gone = [each for each in self._survivors if not lives(each.pid, each.start_ticks)]
        self._survivors.difference_update(gone)
        self._rest_until = self._loop.time() + _SHARE * (self._loop.time() - begun)
        return [ProcessExit(each.run_id) for each in gone]

    def _finish_off(self, run_id: str) -> None:
        if run_id in self._groups:
            self._groups[run_id].signal(signal.SIGKILL)
            self._let_go_of(run_id)

    def _let_go_of(self, run_id: str) -> None:
        self._groups.pop(run_id).close()
        if self._parted is not None and not self._groups and not self._parted.done():
            self._parted.set_result(None)

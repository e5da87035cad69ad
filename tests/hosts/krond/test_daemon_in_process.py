"""A daemon inside this process: its shutdown, and its end after an internal error."""

import asyncio
import os
import signal
import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import pytest

from kron.adapters.system_time import system_now
from kron.errors import ControlError
from kron.hosts.krond.control_api import ControlApi
from kron.hosts.krond.daemon import Daemon
from kron.hosts.krond.events import EventQueue, JobEvents
from kron.hosts.krond.file_reader import ReadRequest, read_files
from kron.hosts.krond.state_directory import StateDirectory
from kron.rules.events import Event
from kron.theory.trace_format import TraceHeader
from kron.trace.job_recorder import JobRecorder
from kron.trace.monitor import OnlineMonitor
from tests.hosts.krond.krond_process import NEVER

T = TypeVar("T")
Handlers = Mapping[str, Callable[[Mapping[str, object]], Awaitable[object]]]
JOB = f"[jobs.a]\n{NEVER}\ncommand = ['true']\n[jobs.b]\n{NEVER}\ncommand = ['sleep', '0.5']\n"
JOB += f"[jobs.stubborn]\n{NEVER}\ncommand = \"trap '' TERM; touch ready; sleep 1000\"\nshell = true\ngrace = '1h'\n"


JOB += f"[jobs.parent]\n{NEVER}\nshell = true\ngrace = '1h'\n"
JOB += "command = \"(trap '' TERM; touch ready; sleep 1000) & wait\"\n"


class BrokenQueue(EventQueue):
    """A queue with a bug, which the loop meets when it reports an end."""

    def __call__(self, call: Callable[..., object], *arguments: object) -> None:
        if "on_ended" in arguments:
            raise ZeroDivisionError("a bug")
        super().__call__(call, *arguments)


async def no_reload() -> dict[str, object]:
    raise AssertionError("it must not be called")


def run_daemon(
    folder: Path, life: Callable[[Daemon, Handlers], Awaitable[T]], queue: type[EventQueue] = EventQueue
) -> tuple[T, list[Event]]:
    """Run a daemon, and return the result and the emitted events."""
    file = folder / "krond.toml"
    file.write_text(f"[defaults]\ncwd = '{folder}'\n{JOB}", "utf-8")
    file.chmod(0o644)
    emitted: list[Event] = []

    async def live() -> T:
        state = StateDirectory(folder / "state")
        state.lock()
        found = read_files(ReadRequest([str(file)], None))
        recorder = JobRecorder(system_now, lambda _: None)
        job_events = JobEvents(emitted.append)
        monitor = OnlineMonitor(TraceHeader("kron"), emitted.append)
        observers, events = [job_events, recorder], queue(system_now)
        daemon = Daemon(state, found.settings, emitted.append, observers, recorder, monitor, events)
        handlers = ControlApi(daemon, daemon.queries(job_events.last_results), no_reload, job_events, []).handlers()
        try:
            await daemon.start(list(found.jobs))
            async with asyncio.timeout(60):
                return await life(daemon, handlers)
        finally:
            state.unlock()

    return asyncio.run(live()), emitted


def test_an_end_that_the_ledger_refuses_is_emitted_once_and_sets_only_its_job_aside(tmp_path: Path) -> None:
    async def life(daemon: Daemon, handlers: Handlers) -> None:
        await handlers["trigger"]({"job": "b"})
        with closing(sqlite3.connect(tmp_path / "state" / "ledger.db")) as connection, connection:
            connection.execute("UPDATE entry SET ended = at, result = 'unknown'")
        ending = asyncio.ensure_future(daemon.run())
        while not daemon.engine.set_aside:
            await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=0.01)
        await handlers["trigger"]({"job": "a"})
        daemon.on_stop_signal()
        await ending

    _, emitted = run_daemon(tmp_path, life)

    refused = [event.fields for event in emitted if event.name == "ClaimRefused"]
    assert [(each["name"], each["period_id"]) for each in refused] == [("b", None)]
    assert "has ended already: unknown" in str(refused[0]["reason"])
    assert [event.fields["name"] for event in emitted if event.name == "JobSetAside"] == ["b"]
    assert [event.fields["result"] for event in emitted if event.name == "RunEnded"] == ["succeeded"] * 2
    assert "LedgerAppendFailed" not in {event.name for event in emitted}


def test_a_krond_that_cannot_go_on_says_so_and_ends(tmp_path: Path) -> None:
    async def life(daemon: Daemon, handlers: Handlers) -> str:
        await handlers["trigger"]({"job": "a"})
        with pytest.raises(ControlError) as raised:
            await daemon.run()
        return raised.value.message

    said, emitted = run_daemon(tmp_path, life, BrokenQueue)

    assert said == "it cannot go on, which is a bug of it; please report this: ZeroDivisionError: a bug"
    caught = next(event for event in emitted if event.name == "ErrorCaught")
    assert "on_ended" in str(caught.fields["trace"])


def test_a_krond_with_an_internal_error_does_not_wait_for_terminating_runs(tmp_path: Path) -> None:
    async def life(daemon: Daemon, handlers: Handlers) -> int:
        await handlers["trigger"]({"job": "stubborn"})
        while not ((process := next(iter(daemon.engine.running.values())).handle) and (tmp_path / "ready").exists()):
            await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=0.01)
        daemon.terminate_runs()
        await handlers["trigger"]({"job": "a"})
        with pytest.raises(ControlError, match="it cannot go on"):
            await daemon.run()
        return process.pid

    pid, _ = run_daemon(tmp_path, life, BrokenQueue)

    os.killpg(pid, signal.SIGKILL)


def test_a_terminating_run_has_its_grace_until_a_further_signal(tmp_path: Path) -> None:
    async def until(claim: Callable[[], object]) -> None:
        while not claim():
            await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=0.01)

    async def life(daemon: Daemon, handlers: Handlers) -> None:
        await handlers["trigger"]({"job": "parent"})
        await until((tmp_path / "ready").exists)
        daemon.on_stop_signal()
        daemon.on_stop_signal()
        ending = asyncio.ensure_future(daemon.run())
        await until(lambda: daemon.surface.ended)
        with pytest.raises(ControlError, match="krond is ending and takes no more commands"):
            await handlers["suspend"]({"jobs": ["a"]})
        assert not ending.done()
        daemon.on_stop_signal()
        await ending

    _, emitted = run_daemon(tmp_path, life)

    assert [event.fields["result"] for event in emitted if event.name == "RunEnded"] == ["stopped"]


def test_a_bug_that_shows_while_it_drains_ends_it_as_well(tmp_path: Path) -> None:
    async def life(daemon: Daemon, handlers: Handlers) -> None:
        await handlers["trigger"]({"job": "a"})
        daemon.stop()
        with pytest.raises(ControlError, match="it cannot go on"):
            await daemon.run()

    run_daemon(tmp_path, life, BrokenQueue)


def test_from_the_moment_it_is_asked_to_stop_nothing_can_be_asked_for(tmp_path: Path) -> None:
    async def life(daemon: Daemon, handlers: Handlers) -> None:
        daemon.stop()
        with pytest.raises(ControlError, match="krond is draining and starts no more runs"):
            await handlers["trigger"]({"job": "a"})
        await daemon.run()

    assert "RunStarted" not in [event.name for event in run_daemon(tmp_path, life)[1]]


def test_a_repeated_stop_command_still_waits_for_runs(tmp_path: Path) -> None:
    async def life(daemon: Daemon, handlers: Handlers) -> None:
        await handlers["trigger"]({"job": "b"})
        for _ in range(2):
            await handlers["stop"]({})
        daemon.on_stop_signal()
        await daemon.run()

    _, emitted = run_daemon(tmp_path, life)

    assert [event.fields["result"] for event in emitted if event.name == "RunEnded"] == ["succeeded"]

"""A daemon inside this process: what it does when it is asked to end, and when it cannot go on."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TypeVar

import pytest

from kron.adapters.system_now import system_now
from kron.engine.jobs.execution import Execution
from kron.errors import ControlError
from kron.hosts.krond.chronicle import Chronicler
from kron.hosts.krond.daemon import Daemon, Watching
from kron.hosts.krond.operations import Operations
from kron.hosts.krond.reading import Question, read_files
from kron.hosts.krond.recording import JobRecorder
from kron.hosts.krond.state import State
from kron.hosts.krond.telling import Telling
from kron.hosts.monitor import Monitor
from kron.rules.event import Event
from kron.rules.job_record import End
from kron.theory.trace import Header
from tests.hosts.krond.daemon import NEVER

T = TypeVar("T")
Handlers = Mapping[str, Callable[[Mapping[str, object]], Awaitable[object]]]
JOB = f"[jobs.a]\n{NEVER}\ncommand = ['true']\n[jobs.b]\n{NEVER}\ncommand = ['sleep', '0.5']\n"
JOB += f"[jobs.stubborn]\n{NEVER}\ncommand = \"trap '' TERM; touch ready; sleep 1000\"\nshell = true\ngrace = '1h'\n"


JOB += f"[jobs.parent]\n{NEVER}\nshell = true\ngrace = '1h'\n"
JOB += "command = \"(trap '' TERM; touch ready; sleep 1000) & wait\"\n"


class Fault:
    """A witness with a bug."""

    def on_begun(self, *_: object) -> None: ...

    def on_closed(self, *_: object) -> None: ...

    def on_ended(self, _execution: Execution, _end: End) -> None:
        raise ZeroDivisionError("a bug")


async def no_reload() -> dict[str, object]:
    raise AssertionError("nobody asks for it")


def lived(folder: Path, life: Callable[[Daemon, Handlers], Awaitable[T]], *witnesses: Fault) -> tuple[T, list[Event]]:
    """Return what came of a life, and what was told of it."""
    file = folder / "krond.toml"
    file.write_text(f"[defaults]\ncwd = '{folder}'\n{JOB}", "utf-8")
    file.chmod(0o644)
    told: list[Event] = []

    async def live() -> T:
        state = State(folder / "state")
        state.take()
        found = read_files(Question([str(file)], None))
        recorder = JobRecorder(system_now, lambda _: None)
        chronicler = Chronicler(told.append, recorder, *witnesses)
        watching = Watching(recorder, Monitor(Header("kron"), told.append), Telling(system_now))
        daemon = Daemon(state, found.settings, told.append, chronicler, watching)
        handlers = Operations(daemon, no_reload, chronicler, []).handlers()
        try:
            await daemon.begin(list(found.jobs))
            async with asyncio.timeout(60):
                return await life(daemon, handlers)
        finally:
            state.release()

    return asyncio.run(live()), told


def test_a_krond_that_cannot_go_on_says_so_and_ends(tmp_path: Path) -> None:
    async def life(daemon: Daemon, handlers: Handlers) -> str:
        await handlers["trigger"]({"job": "a"})
        with pytest.raises(ControlError) as raised:
            await daemon.wait()
        return raised.value.message

    said, told = lived(tmp_path, life, Fault())

    assert said == "it cannot go on, which is a bug of it; please report this: ZeroDivisionError: a bug"
    caught = next(event for event in told if event.name == "ErrorCaught")
    assert "on_ended" in str(caught.fields["trace"])


def test_a_krond_that_cannot_go_on_waits_for_nobody_who_is_being_ended(tmp_path: Path) -> None:
    async def life(daemon: Daemon, handlers: Handlers) -> int:
        await handlers["trigger"]({"job": "stubborn"})
        while not ((process := next(iter(daemon.book.running.values())).process) and (tmp_path / "ready").exists()):
            await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=0.01)
        daemon.end_children()
        await handlers["trigger"]({"job": "a"})
        with pytest.raises(ControlError, match="it cannot go on"):
            await daemon.wait()
        return process.pid

    pid, _ = lived(tmp_path, life, Fault())

    os.killpg(pid, signal.SIGKILL)


def test_who_is_left_of_what_was_ended_has_its_grace_until_somebody_insists(tmp_path: Path) -> None:
    async def until(claim: Callable[[], object]) -> None:
        while not claim():
            await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=0.01)

    async def life(daemon: Daemon, handlers: Handlers) -> None:
        await handlers["trigger"]({"job": "parent"})
        await until((tmp_path / "ready").exists)
        daemon.on_signal()
        daemon.on_signal()
        ending = asyncio.ensure_future(daemon.wait())
        await until(lambda: daemon.surface.ended)
        with pytest.raises(ControlError, match="krond ends, and takes nothing up any more"):
            await handlers["suspend"]({"jobs": ["a"]})
        assert not ending.done()
        daemon.on_signal()
        await ending

    _, told = lived(tmp_path, life)

    assert [event.fields["result"] for event in told if event.name == "RunEnded"] == ["stopped"]


def test_a_bug_that_shows_while_it_drains_ends_it_as_well(tmp_path: Path) -> None:
    async def life(daemon: Daemon, handlers: Handlers) -> None:
        await handlers["trigger"]({"job": "a"})
        daemon.stop()
        with pytest.raises(ControlError, match="it cannot go on"):
            await daemon.wait()

    lived(tmp_path, life, Fault())


def test_from_the_moment_it_is_asked_to_stop_nothing_can_be_asked_for(tmp_path: Path) -> None:
    async def life(daemon: Daemon, handlers: Handlers) -> None:
        daemon.stop()
        with pytest.raises(ControlError, match="krond drains, and starts nothing any more"):
            await handlers["trigger"]({"job": "a"})
        await daemon.wait()

    assert "RunStarted" not in [event.name for event in lived(tmp_path, life)[1]]


def test_whoever_asks_it_to_stop_again_waits_as_well(tmp_path: Path) -> None:
    async def life(daemon: Daemon, handlers: Handlers) -> None:
        await handlers["trigger"]({"job": "b"})
        for _ in range(2):
            await handlers["stop"]({})
        daemon.on_signal()
        await daemon.wait()

    _, told = lived(tmp_path, life)

    assert [event.fields["result"] for event in told if event.name == "RunEnded"] == ["succeeded"]

"""What a krond answers on its socket while it starts, and to whoever waits for a run."""

import asyncio
from pathlib import Path

import pytest

from kron.adapters.system_clock import system_now
from kron.errors import ControlError
from kron.hosts.krond.chronicle import Chronicler
from kron.hosts.krond.daemon import Daemon, Watching
from kron.hosts.krond.operations import Operations
from kron.hosts.krond.recording import JobRecorder
from kron.hosts.krond.state import State
from kron.hosts.krond.telling import Telling
from kron.hosts.monitor import Monitor
from kron.rules.files.settings import Settings
from kron.theory.trace import Header


def ignore(_: object) -> None:
    """Hear of something."""


def chronicler_of(recorder: JobRecorder) -> Chronicler:
    return Chronicler(ignore, recorder)


def test_before_krond_is_ready_it_only_tells_how_it_is(tmp_path: Path) -> None:
    async def ask(command: str) -> object:
        recorder = JobRecorder(system_now, ignore)
        chronicler = chronicler_of(recorder)
        watching = Watching(recorder, Monitor(Header("kron"), ignore), Telling(system_now))
        daemon = Daemon(State(tmp_path), Settings(), ignore, chronicler, watching)

        async def reload() -> dict[str, object]:
            raise AssertionError("nothing is there to reload")

        return await Operations(daemon, reload, chronicler, []).handlers()[command]({"job": "a"})

    for command in ("trigger", "suspend", "reload", "jobs"):
        with pytest.raises(ControlError, match="not ready yet"):
            asyncio.run(ask(command))
    status = asyncio.run(ask("status"))
    assert isinstance(status, dict)
    assert status["ready"] is False


def test_whoever_waits_for_a_run_that_is_given_up_is_told() -> None:
    async def wait() -> str:
        chronicler = chronicler_of(JobRecorder(system_now, ignore))
        asyncio.get_running_loop().call_soon(chronicler.on_given_up, "run 1")
        return await chronicler.ended("run 1")

    assert asyncio.run(wait()) == "replaced"

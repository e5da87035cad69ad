"""The control socket of a krond that starts, and requests that wait for a run."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from kron.adapters.system_time import system_now
from kron.errors import ControlError
from kron.hosts.krond.control_api import ControlApi
from kron.hosts.krond.daemon import Daemon
from kron.hosts.krond.events import EventQueue, JobEvents
from kron.hosts.krond.state_directory import StateDirectory
from kron.jobfile.settings import Settings
from kron.theory.trace_format import TraceHeader
from kron.trace.job_recorder import JobRecorder
from kron.trace.monitor import OnlineMonitor


def ignore(_: object) -> None:
    """Hear of something."""


def ask(folder: Path, command: str, asked: Mapping[str, object], *, ready: bool) -> object:
    """Return what a daemon without jobs answers."""

    async def live() -> object:
        recorder = JobRecorder(system_now, ignore)
        chronicler = JobEvents(ignore)
        monitor, queue = OnlineMonitor(TraceHeader("kron"), ignore), EventQueue(system_now)
        daemon = Daemon(StateDirectory(folder), Settings(), ignore, [chronicler], recorder, monitor, queue)
        daemon.surface.ready = ready

        async def reload() -> dict[str, object]:
            raise AssertionError("nothing is there to reload")

        return await ControlApi(daemon, daemon.queries(chronicler.last_results), reload, chronicler, []).handlers()[
            command
        ](asked)

    return asyncio.run(live())


@pytest.mark.parametrize(
    ("command", "asked", "error"),
    [
        ("trigger", {}, "job must be a text, found nothing"),
        ("trigger", {"job": 3}, "job must be a text, found 3"),
        ("suspend", {"jobs": "a"}, 'jobs must be a list of texts, and not empty, found "a"'),
        ("suspend", {"jobs": []}, "jobs must be a list of texts, and not empty, found []"),
        ("resume", {"jobs": [["a"]]}, 'jobs must be a list of texts, and not empty, found [["a"]]'),
        ("next", {"count": "many"}, 'count must be a number from 1 to 10,000, found "many"'),
        ("next", {"count": True}, "count must be a number from 1 to 10,000, found true"),
        ("next", {"count": 100_000}, "count must be a number from 1 to 10,000, found 100000"),
        ("next", {"job": {"a": 1}}, 'job must be a text, found {"a": 1}'),
        ("wait", {"run_id": None}, "run_id must be a text, found nothing"),
    ],
)
def test_a_request_that_says_nonsense_is_refused_in_words(
    tmp_path: Path, command: str, asked: Mapping[str, object], error: str
) -> None:
    with pytest.raises(ControlError) as raised:
        ask(tmp_path, command, asked, ready=True)

    assert (raised.value.message, raised.value.exit_code) == (error, 2)


def test_before_krond_is_ready_it_answers_status_only(tmp_path: Path) -> None:
    for command in ("trigger", "suspend", "reload", "jobs"):
        with pytest.raises(ControlError, match="not ready yet"):
            ask(tmp_path, command, {"job": "a"}, ready=False)
    status = ask(tmp_path, "status", {}, ready=False)
    assert isinstance(status, dict)
    assert status["ready"] is False


async def test_a_client_that_waits_for_a_given_up_run_gets_an_answer() -> None:
    chronicler = JobEvents(ignore)
    asyncio.get_running_loop().call_soon(chronicler.on_retry_dropped, "run 1")

    assert (await chronicler.wait_for_end("run 1")) == "replaced"

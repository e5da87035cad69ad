"""Tests of DiskCall: an error reaches the caller, and the event loop does not report it a second time."""

import asyncio
import gc
from threading import Event
from typing import Any, Never

import pytest

from kron.errors import ControlError
from kron.hosts.krond.file_watch import DiskCall


def watched() -> list[str]:
    """Return a list of what the exception handler of the running loop gets from now on."""
    caught = list[str]()

    def handle(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        caught.append(context["message"])

    asyncio.get_running_loop().set_exception_handler(handle)
    return caught


def fail() -> Never:
    raise ControlError(reason="the reader has failed")


async def test_an_error_of_a_call_reaches_its_caller_alone() -> None:
    caught = watched()
    with pytest.raises(ControlError, match="the reader has failed"):
        await DiskCall(fail).answer()
    gc.collect()

    assert caught == []


async def test_an_error_of_a_call_that_was_given_up_reaches_no_one() -> None:
    answers = Event()

    def hang() -> Never:
        answers.wait()
        fail()

    caught = watched()
    call = DiskCall(hang)
    with pytest.raises(ControlError, match=r"within 0\.01 s"):
        await call.answer(0.01)
    answers.set()
    with pytest.raises(ControlError, match="the reader has failed"):
        call.result()  # it is over, and what it has to say is on its way to the loop
    await asyncio.get_running_loop().run_in_executor(None, answers.wait)  # the loop takes up what came before
    del call
    gc.collect()

    assert caught == []

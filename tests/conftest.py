"""Settings for all tests: hypothesis, the time limit of a test, SIGINT and the garbage collector.

hypothesis draws half as many examples as by default and has no deadline, because a busy machine is no bug. A test that
exceeds its time limit fails, so that a hung loop does not hold up the run. A test that is an async function runs in an
event loop of its own.

A shell that runs the tests in the background ignores SIGINT for them; it is restored here for the processes they start.
The garbage collector skips the collected tests, which exist before the first one runs.
"""

import asyncio
import gc
import inspect
import signal
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

LONGEST = 900  # seconds for one test, its fixtures aside: far more than the longest sweep takes on a busy machine
LONGEST_ASYNC = 120  # seconds for the body of an async test: one that waits for something that does not happen fails
AGAIN = 10  # seconds until it is interrupted again: an event loop may report the first interruption and go on

settings.register_profile("kron", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kron")


def pytest_configure() -> None:
    gc.disable()  # until all tests are collected
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, object, object]:
    return (yield from _limited())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    return (yield from _limited())


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    test = pyfuncitem.obj
    if not inspect.iscoroutinefunction(test):
        return None

    async def in_time() -> None:
        async with asyncio.timeout(LONGEST_ASYNC):
            await test(**{name: pyfuncitem.funcargs[name] for name in inspect.signature(test).parameters})

    asyncio.run(in_time())
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Generator[None, object, object]:
    return (yield from _limited())


def _limited() -> Generator[None, object, object]:
    if not hasattr(signal, "setitimer"):  # Windows, where the tests of the library run without this limit
        return (yield)
    signal.signal(signal.SIGALRM, _interrupt)
    signal.setitimer(signal.ITIMER_REAL, LONGEST, AGAIN)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _interrupt(*_: object) -> None:
    pytest.fail(f"it has not ended within {LONGEST} s")

"""How hypothesis searches in these tests: half as long as usual, and by no stopwatch: a busy machine is no bug.

No test waits for ever: a loop that waits for something that does not happen fails, and does not hold up the run.

What processes of these tests inherit: a shell that runs the tests in the background has SIGINT ignored for them.
What the garbage collector looks at: not at the tests themselves, which are all there before the first one runs.
"""

import gc
import signal
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

LONGEST = 900  # seconds for one test, its fixtures aside: far more than the longest sweep takes on a busy machine
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

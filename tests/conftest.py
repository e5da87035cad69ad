"""How hypothesis searches in these tests: half as long as usual, and by no stopwatch: a busy machine is no bug.

And what processes of these tests inherit: whoever runs them in the background has SIGINT ignored for them.
"""

import signal

from hypothesis import HealthCheck, settings

settings.register_profile("kron", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kron")


def pytest_configure() -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)

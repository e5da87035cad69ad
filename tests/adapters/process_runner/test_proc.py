"""Which process is the leader of a run, by what it carries in its environment."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from kron.adapters.process_runner.proc import find_leaders


@contextmanager
def sleeping(**environment: str) -> Iterator[int]:
    """Have a process that leads a session, and carries these variables."""
    process = subprocess.Popen(["/bin/sleep", "1000"], env=environment, start_new_session=True)
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def test_a_run_is_found_by_its_id() -> None:
    with sleeping(A="KRON_RUN_ID=no", KRON_RUN_ID="proc-run-1", Z="last") as pid:
        assert find_leaders(["proc-run-1"])["proc-run-1"][0] == pid


def test_a_hook_is_never_taken_for_the_run_that_it_tells_of() -> None:
    with sleeping(KRON_RUN_ID="proc-run-2", KRON_HOOK_ID="proc-hook-2") as pid:
        assert find_leaders(["proc-run-2"]) == {}
        assert find_leaders(["proc-hook-2"])["proc-hook-2"][0] == pid

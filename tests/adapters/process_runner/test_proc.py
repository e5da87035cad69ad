"""Which process is the leader of a run, by what it carries in its environment."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from kron.adapters.process_runner.proc import find_leaders


@contextmanager
def waiting(**environment: str) -> Iterator[int]:
    """Have a process that leads a session, and carries these variables."""
    command, pipe = ["/bin/sh", "-c", "echo here; read end"], subprocess.PIPE
    with subprocess.Popen(command, env=environment, start_new_session=True, stdin=pipe, stdout=pipe) as process:
        assert process.stdout is not None
        process.stdout.readline()  # while it is being executed, it shows nothing yet
        yield process.pid
        process.kill()


def test_a_run_is_found_by_its_id() -> None:
    with waiting(A="KRON_RUN_ID=no", KRON_RUN_ID="proc-run-1", Z="last") as pid:
        assert find_leaders(["proc-run-1"])["proc-run-1"][0] == pid


def test_a_hook_is_never_taken_for_the_run_that_it_tells_of() -> None:
    with waiting(KRON_RUN_ID="proc-run-2", KRON_HOOK_ID="proc-hook-2") as pid:
        assert find_leaders(["proc-run-2"]) == {}
        assert find_leaders(["proc-hook-2"])["proc-hook-2"][0] == pid

"""Tests of procfs: the leader of a run is found by its environment."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from kron.adapters.process.procfs import find_ended_session_leaders, find_session_leaders, read_stat


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
        assert find_session_leaders({"proc-run-1": os.geteuid()})["proc-run-1"][0] == pid


def test_a_hook_is_never_taken_for_the_run_that_it_reports() -> None:
    with waiting(KRON_RUN_ID="proc-run-2", KRON_HOOK_ID="proc-hook-2") as pid:
        assert find_session_leaders({"proc-run-2": os.geteuid()}) == {}
        assert find_session_leaders({"proc-hook-2": os.geteuid()})["proc-hook-2"][0] == pid


def test_a_process_of_another_user_is_not_the_leader_of_a_run() -> None:
    with waiting(KRON_RUN_ID="proc-run-3"):
        assert find_session_leaders({"proc-run-3": os.geteuid() + 1}) == {}
        assert find_session_leaders({"proc-run-3": None}) == {}


def test_of_two_processes_with_the_same_id_the_earlier_one_is_the_leader() -> None:
    with waiting(KRON_RUN_ID="proc-run-4") as first:
        begun = read_stat(first)
        assert begun is not None
        while time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK") < begun.ticks + 1:
            pass
        with waiting(KRON_RUN_ID="proc-run-4"):
            assert find_session_leaders({"proc-run-4": os.geteuid()})["proc-run-4"][0] == first


def test_a_leader_is_found_while_it_executes_one_program_after_the_other() -> None:
    itself = 'exec sh -c "$0" "$0"'
    with subprocess.Popen(
        ["/bin/sh", "-c", itself, itself], env={"KRON_RUN_ID": "proc-run-5"}, start_new_session=True
    ) as process:
        found = [find_session_leaders({"proc-run-5": os.geteuid()}) for _ in range(300)]
        process.kill()

    assert [each for each in found if each["proc-run-5"][0] != process.pid] == []


def test_a_leader_that_has_ended_is_found_until_it_is_reaped() -> None:
    process = subprocess.Popen(["true"], start_new_session=True)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

    assert process.pid in dict(find_ended_session_leaders(os.geteuid()))
    assert process.pid not in dict(find_ended_session_leaders(os.geteuid() + 1))

    process.wait()

    assert process.pid not in dict(find_ended_session_leaders(os.geteuid()))

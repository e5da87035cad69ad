"""Job files whose child processes record their runs, and how to read the records and find survivors."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kron.adapters.process.procfs import list_pids

_TELL = 'echo "$0 $KRON_RUN_ID $KRON_JOB $KRON_ATTEMPT ${KRON_PERIOD_ID:--}"'  # one write at the end of the file


class RecordingJob(NamedTuple):
    """A job that runs every minute, at a second of its own."""

    name: str
    body: str = "true"  # what it does between its two words
    policy: str = ""  # further keys of its table
    minutes: int = 1  # of its window

    def table(self, diary: Path, note: str = "") -> str:
        """Return its part of a job file."""
        script = f"{_TELL.replace('$0', 'begin')} >> {diary}; {self.body}; {_TELL.replace('$0', 'end')} >> {diary}"
        return (
            f"[jobs.{self.name}]\nschedule = '* * * * *'\nwindow = 'after,{self.minutes * 60 - 1}s'\n"
            f"command = '''{script}'''\nshell = true\ncwd = '/'\nenv = {{NOTE = '{note}'}}\n{self.policy}\n"
        )


RECORDING_JOBS = (
    *(RecordingJob(f"quick-{number}", policy=f"deadline = '{number * 20}s'") for number in range(10)),
    *(RecordingJob(f"wide-{number}", minutes=4, policy="deadline = '1m'") for number in range(3)),
    *(RecordingJob(f"slow-{seconds}", f"sleep {seconds}", "deadline = '5m'") for seconds in (1, 2, 4, 8)),
    *(RecordingJob(f"long-{number}", "sleep 9", "deadline = '5m'\nconcurrency = 'replace'") for number in range(3)),
    *(RecordingJob(f"many-{number}", "sleep 3", "deadline = '2m'\nconcurrency = 'allow'") for number in range(3)),
    *(
        RecordingJob(f"fails-{number}", "exit 1", "deadline = '5m'\nretries = 2\nretry_delay = '1s'")
        for number in range(3)
    ),
)


class Word(NamedTuple):
    """What a child said of itself."""

    what: str  # begin, end
    run_id: str
    job: str
    attempt: str
    period: str  # - for none


def words(diary: Path) -> list[Word]:
    """Return what the children said, in the order in which it happened."""
    return [Word(*line.split()) for line in diary.read_text("ascii").splitlines()] if diary.exists() else []


def living(file: Path) -> dict[str, int]:
    """Return by run id the processes that lead a run of a job file."""
    return dict(_leaders(f"KRON_IDENTITY={file}:"))


def _leaders(mark: str) -> Iterator[tuple[str, int]]:
    for pid in list_pids():
        try:
            environment = Path(f"/proc/{pid}/environ").read_text("utf-8", "replace").split("\0")
            if any(each.startswith(mark) for each in environment) and os.getsid(pid) == pid:
                (run_id,) = (each for each in environment if each.startswith("KRON_RUN_ID="))
                yield run_id.partition("=")[2], pid
        except OSError:  # it has just gone
            continue

"""send(process, starts, spools, collector): starts go to a spawner; those that it did not get come back."""

import os
from collections.abc import Iterable, Sequence

from kron.adapters.process_runner.execution import Exit, Start
from kron.adapters.process_runner.launch import Request
from kron.adapters.process_runner.output_collector import OutputCollector
from kron.adapters.process_runner.spawner_process import SpawnerProcess
from kron.adapters.process_runner.spool import Spool, SpoolFiles

_COLLECTED = ("capture", "syslog")


def send(
    process: SpawnerProcess, starts: Sequence[Start], spools: SpoolFiles, collector: OutputCollector
) -> tuple[list[Exit], list[Start]]:
    """Give some starts spool files and ask for them; return those that failed, and those that were not taken.

    In a thread.
    """
    failed: list[Exit] = []
    sent, requests, assigned = [], [], []
    descriptors: list[list[int]] = []
    try:
        for start in starts:
            try:
                own, opened = _open(start, spools)
            except OSError as error:
                failed.append(Exit(start.run_id, not_started=f"output file: {error.strerror}"))
                continue
            sent.append(start)
            requests.append(_request(start))
            assigned.append(own)
            descriptors.append(opened)
        if sent:
            spools.assign(spool for own in assigned for spool in own)
            for own in assigned:
                collector.add(own)
            process.send(sent, requests, descriptors)
    except (BrokenPipeError, ConnectionResetError):
        cancel(sent, collector)
        return failed, sent
    except (OSError, ValueError) as error:  # a full disk, too many files under way, or a value that cannot be sent
        spools.remove(spool.name for own in assigned for spool in own)
        cancel(sent, collector)
        failed += [Exit(start.run_id, not_started=f"it cannot be asked for: {error}") for start in sent]
    finally:
        for opened in descriptors:
            for descriptor in opened:
                os.close(descriptor)
    return failed, []


def cancel(starts: Iterable[Start], collector: OutputCollector) -> None:
    """Remove the spool files of starts that did not happen."""
    for start in starts:
        collector.cancel(start.run_id)


def _open(start: Start, spools: SpoolFiles) -> tuple[list[Spool], list[int]]:
    """Return the spool files of a start, and their descriptors; OSError if they cannot be had, and then it has none."""
    command = start.command
    own: list[Spool] = []
    descriptors: list[int] = []
    try:
        for stream, where in (("stdout", command.stdout), ("stderr", command.stderr)):
            if where in _COLLECTED:
                name, descriptor = spools.take()
                descriptors.append(descriptor)
                own.append(Spool(name, start.run_id, stream, None if where == "syslog" else command.output_limit))
    except OSError:
        for descriptor in descriptors:
            os.close(descriptor)
        spools.remove(spool.name for spool in own)
        raise
    return own, descriptors


def _request(start: Start) -> Request:
    command = start.command
    stdout, stderr = ("fd" if where in _COLLECTED else where for where in (command.stdout, command.stderr))
    umask = -1 if command.umask is None else command.umask
    return (
        command.argv, start.environment(), command.cwd, umask, command.limits, command.stdin, stdout, stderr,
    )  # fmt: skip

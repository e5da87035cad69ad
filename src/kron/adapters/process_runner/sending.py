"""send(process, starts, slots, owner): starts go to a spawner; those that failed, and those nobody took, come back."""

import os
from collections.abc import Iterable, Sequence

from kron.adapters.process_runner.execution import Exit, Start
from kron.adapters.process_runner.slots import Slots
from kron.adapters.process_runner.spawner_process import SpawnerProcess


def send(
    process: SpawnerProcess, starts: Sequence[Start], slots: Slots, owner: tuple[int, int]
) -> tuple[list[Exit], list[Start]]:
    """Open the files of some starts and ask for them; return those that failed, and those that nobody took.

    In a thread.
    """
    failed: list[Exit] = []
    sent, requests, descriptors = [], [], []
    try:
        for start in starts:
            try:
                request, opened = slots.open(start, owner)
            except OSError as error:
                failed.append(Exit(start.run_id, not_started=f"output file: {error.strerror}"))
                continue
            sent.append(start)
            requests.append(request)
            descriptors.append(opened)
        if sent:
            slots.record(sent)
            process.send(sent, requests, descriptors)
    except (BrokenPipeError, ConnectionResetError):
        give_back(sent, slots)
        return failed, sent
    except (OSError, ValueError) as error:  # a full disk, too many files under way, or a value that cannot be sent
        give_back(sent, slots)
        failed += [Exit(start.run_id, not_started=f"it cannot be asked for: {error}") for start in sent]
    finally:
        for own in descriptors:
            for descriptor in own:
                os.close(descriptor)
    return failed, []


def give_back(starts: Iterable[Start], slots: Slots) -> None:
    """Let the files of starts that did not happen be used by others."""
    for start in starts:
        slots.give_back(start.run_id)

"""What /proc shows: when a process started, the kernel's boot, and which processes carry a run's id."""

import os
import time
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

RUN_ID = "KRON_RUN_ID"
HOOK_ID = "KRON_HOOK_ID"  # of a hook's command: it carries the run's id, too, but is not the run
_EXEC_LIMIT = 1.0  # seconds of waiting for processes in the middle of an exec: the disk of their program may hang
_EXEC_STEP = 0.001


class ProcessStat:
    """The fields of /proc/PID/stat that tell one process from another."""

    __slots__ = ("group", "has_no_environment", "parent", "session", "state", "ticks")

    def __init__(self, text: bytes) -> None:
        fields = text[text.rindex(b")") + 2 :].split()  # the name may hold anything, parentheses too
        self.state = fields[0].decode()
        self.parent, self.group, self.session = int(fields[1]), int(fields[2]), int(fields[3])
        self.ticks = int(fields[19])
        self.has_no_environment = fields[47] == fields[48] != b"0"  # where it begins and ends; 0 during an exec

    @property
    def is_alive(self) -> bool:
        """Whether it still runs: a zombie has ended."""
        return self.state not in "ZXx"

    @property
    def is_stopped(self) -> bool:
        """Whether a signal or a tracer has stopped it."""
        return self.state in "Tt"


def read_stat(pid: int) -> ProcessStat | None:
    """Return what is known of a process, None if there is none."""
    text = _read(f"/proc/{pid}/stat")
    return ProcessStat(text) if text else None


def boot_id() -> str:
    """Return what names this boot of the kernel."""
    return _read("/proc/sys/kernel/random/boot_id").decode().strip()


def since_boot() -> timedelta:
    """Return how long ago this boot was."""
    return timedelta(seconds=time.clock_gettime(time.CLOCK_BOOTTIME))


def list_pids() -> Iterator[int]:
    """Yield the numbers of all processes."""
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def find_session_leaders(users: Mapping[str, int | None]) -> dict[str, tuple[int, ProcessStat]]:
    """Return the living leader of each run or hook, found by the id in its environment; one without is left out.

    Every process can put an id into its own environment. So the leader is a process of the user id that the run has
    here, and of several the one that began first: the others can know the id from it alone.
    """
    wanted = {run_id.encode(): run_id for run_id in users}
    found: dict[str, tuple[int, ProcessStat]] = {}
    if not wanted:
        return found
    until = time.monotonic() + _EXEC_LIMIT
    for pid in list_pids():
        known = read_stat(pid)
        if known is None or known.session != pid or not known.is_alive:
            continue  # descendants carry the id as well: the leader is the one that leads a session of its own
        run_id = wanted.get(_id_in(_environment(pid, until)))
        if run_id is None or users[run_id] not in _users(pid):
            continue
        if run_id not in found or known.ticks < found[run_id][1].ticks:
            found[run_id] = (pid, known)
    return found


def _environment(pid: int, until: float) -> bytes:
    """Return the environment of a process, empty if it is not ours to see.

    A process in the middle of an exec shows none. It is looked at again: a run whose program executes another one would
    be taken for gone.
    """
    while True:
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            return b""
        known = read_stat(pid)
        shows_all = environment or known is None or not known.is_alive or known.has_no_environment
        if shows_all or time.monotonic() > until:
            return environment
        time.sleep(_EXEC_STEP)


def find_ended_session_leaders(uid: int | None) -> list[tuple[int, ProcessStat]]:
    """Return the children of this process that led a session of a user, have ended, and are not reaped yet."""
    found = [(pid, read_stat(pid)) for pid in list_children()]
    return [
        (pid, known)
        for pid, known in found
        if known is not None and not known.is_alive and known.session == pid and uid in _users(pid)
    ]


def _users(pid: int) -> set[int]:
    """Return the user ids that a process has: real, effective, saved and of the file system."""
    _, _, rest = _read(f"/proc/{pid}/status").partition(b"\nUid:")
    return set(map(int, rest.partition(b"\n")[0].split()))


def _id_in(environment: bytes) -> bytes:
    for name in (HOOK_ID, RUN_ID):
        _, here, rest = (b"\0" + environment).partition(b"\0%s=" % name.encode())
        if here:
            return rest.partition(b"\0")[0]
    return b""


def list_children() -> list[int]:
    """Return the numbers of this process's own children."""
    found: list[int] = []
    for thread in os.listdir("/proc/self/task"):
        found += map(int, _read(f"/proc/self/task/{thread}/children").split())
    if not found:  # a kernel without that file
        me = os.getpid()
        found = [pid for pid in list_pids() if (known := read_stat(pid)) and known.parent == me]
    return found


def _read(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:  # it has gone, or is not ours to look at
        return b""
    try:
        parts = []
        while part := os.read(descriptor, 65536):
            parts.append(part)
        return b"".join(parts)
    except OSError:
        return b""
    finally:
        os.close(descriptor)

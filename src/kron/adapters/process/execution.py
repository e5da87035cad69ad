"""What a host tells the process runner, and what it hears of each run."""

from dataclasses import dataclass, field
from datetime import timedelta

from kron.adapters.process.procfs import RUN_ID
from kron.jobfile.host_job import Command


@dataclass(frozen=True, slots=True)
class SpawnRequest:
    """What to start, under which id; `env` goes over the command's own and gets the id added."""

    run_id: str
    command: Command
    env: tuple[tuple[str, str], ...] = ()
    id_variable: str = RUN_ID  # of the variable that has the id, or HOOK_ID of what is beside the executions

    def environment(self) -> tuple[tuple[str, str], ...]:
        """Return the variables beside those that every child of its user has."""
        return (*self.command.env, *self.env, (self.id_variable, self.run_id))


@dataclass(frozen=True, slots=True)
class StartedProcess:
    """A process lives: together, pid, start time (the kernel's ticks since boot) and boot name it for ever."""

    run_id: str
    pid: int
    start_ticks: int


@dataclass(frozen=True, slots=True)
class ProcessExit:
    """How it ended: a code, or a signal's name, or why it never began; none of them: nobody saw it."""

    run_id: str
    exit_code: int | None = None
    signal: str | None = None
    not_started: str | None = None


@dataclass(frozen=True, slots=True)
class RecordedProcess:
    """What a host wrote down about an execution before it died; without a pid, it died before it could.

    Without a pid, the process is looked for by its environment, which every process can forge: it must be of this user
    (None: no process is), and have begun about then, counted from the boot (None: at any time).
    """

    run_id: str
    boot_id: str
    pid: int | None = None
    start_ticks: int | None = None
    uid: int | None = None
    began: timedelta | None = None


@dataclass(slots=True)
class SpawnerReport:
    """What has become of some executions, in this order."""

    started: list[StartedProcess] = field(default_factory=list)
    ended: list[ProcessExit] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.started or self.ended)

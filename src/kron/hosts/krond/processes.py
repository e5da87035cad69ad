"""Processes: the runner of a host's jobs, on the process runner: executions in, processes and their ends out."""

import os
from collections.abc import Iterable, Sequence

from kron.adapters.process_runner.execution import Exit, Recorded, Start, Started
from kron.adapters.process_runner.runner import ProcessRunner
from kron.decision.seed import period_id
from kron.engine.jobs.execution import Ending, Execution, Listener
from kron.engine.jobs.store import Unfinished
from kron.instant import ZERO, format_instant
from kron.rules.files.host_job import HostJob


class Processes:
    """Starts what is recorded, and tells a listener what became of it."""

    def __init__(self, output: str | os.PathLike[str]) -> None:
        self._runner = ProcessRunner(output, started=self._on_started, ended=self._on_ended)
        self._listener: Listener | None = None

    async def open(self) -> None:
        """Begin to collect output."""
        await self._runner.open()

    async def close(self) -> None:
        """Let go; what runs goes on."""
        await self._runner.close()

    async def find(self, unfinished: Sequence[Unfinished], listener: Listener) -> list[str]:
        """Return the names of the runs that go on, and watch them."""
        self._listener = listener
        recorded = [
            Recorded(
                each.attempt.run_id,
                each.attempt.boot,
                None if each.process is None else each.process.pid,
                None if each.process is None else each.process.ticks,
            )
            for each in unfinished
        ]
        return [started.run_id for started in await self._runner.reattach(recorded)]

    # --- the port -----------------------------------------------------------------------------------------------------

    def start(self, executions: Sequence[Execution], listener: Listener) -> None:
        """Begin them."""
        self._listener = listener
        self._runner.start_many(_start(execution) for execution in executions)

    def terminate(self, execution: Execution) -> None:
        """Ask one to end, and make sure that it does."""
        job = execution.work.payload
        self._runner.terminate(execution.run_id, job.command.grace if isinstance(job, HostJob) else ZERO)

    def abandon(self) -> None:
        """Let go of everything without a word."""
        self._listener = None

    def _on_started(self, started: Iterable[Started]) -> None:
        if self._listener is not None:
            for each in started:
                self._listener.on_process(each.run_id, each.pid, each.start_ticks)

    def _on_ended(self, ended: Iterable[Exit]) -> None:
        if self._listener is not None:
            for each in ended:
                ending = Ending(each.exit_code, each.signal, each.not_started or "")
                self._listener.on_end(each.run_id, ending)


def _start(execution: Execution) -> Start:
    job, attempt = execution.work.payload, execution.attempt
    assert isinstance(job, HostJob)
    nominal, chosen = attempt.nominal, attempt.chosen
    env = {
        "KRON_JOB": job.name,
        "KRON_IDENTITY": job.identity,
        "KRON_PERIOD_ID": "" if nominal is None else period_id(nominal),
        "KRON_NOMINAL_TIME": "" if nominal is None else format_instant(nominal),
        "KRON_CHOSEN_TIME": "" if chosen is None else format_instant(chosen),
        "KRON_ATTEMPT": str(attempt.attempt),
    }
    return Start(attempt.run_id, job.command, tuple(env.items()))

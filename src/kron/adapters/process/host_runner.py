"""HostRunner: the engine's runner port for jobs of this host, on the process runner."""

import asyncio
import json
import os
import pwd
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial

from kron.adapters.process.procfs import since_boot
from kron.adapters.process.runner import ProcessRunner
from kron.adapters.process.spawner_client import ProcessExit, SpawnRequest
from kron.adapters.process.supervision import RecordedProcess
from kron.decision.seed import period_id
from kron.engine.ledger import HistoryReader
from kron.engine.ports import RunListener
from kron.engine.runs import JobRun, RunResult
from kron.instant import SECOND, Instant, format_instant
from kron.jobfile.host_job import HostJob
from kron.rules.job_record import RunHandle, UnfinishedRun

_USERS_AHEAD = 4  # spawners made in advance: each takes some 6 MB, and saves a start 50 ms
_FILES_AHEAD = 2_000  # likewise: two for each of a thousand starts at once
_CAPTURED = "capture"
_FREEING = 2.0  # seconds for looking at all output
# Seconds for hearing which processes have ended; within those after a freeze a spawner that stays stopped is replaced.
_AFTER_FREEZE, _AFTER_STALL = 5.0, 1.0


class HostRunner:
    """Starts runs as processes, and reports their ends to a listener; it also runs the commands of hooks."""

    def __init__(
        self,
        output: str | os.PathLike[str],
        history: HistoryReader,
        now: Callable[[], Instant],
        *,
        lost: Callable[[str, int], object],
        killed: Callable[[str], object],
    ) -> None:
        """`lost` gets a run id and how many lines syslog dropped, `killed` the id of a run killed for disk space."""
        self._runner = ProcessRunner(output, started=self._on_started, ended=self._on_ended, lost=lost, seized=killed)
        self.open, self.close, self.refresh = self._runner.open, self._runner.close, self._runner.refresh
        self.is_starting, self.kill_terminating = self._runner.is_starting, self._runner.kill_terminating
        self.free_space = partial(self._runner.free_space, _FREEING)  # from any thread
        self._history, self._now = history, now
        self._listener: RunListener[JobRun] | None = None
        self._runs: dict[str, JobRun] = {}  # by their ids, until their end is reported
        self._commands: dict[str, asyncio.Future[ProcessExit]] = {}  # of hooks, by their ids

    def prepare_for(self, jobs: Iterable[HostJob]) -> None:
        """Make spawners and spool files ahead for these jobs: those of the users that have the most of them."""
        files: Counter[tuple[str, str]] = Counter()
        for job in jobs:
            command = job.command
            files[command.user, command.group] += (command.stdout, command.stderr).count(_CAPTURED)
        ahead = min(files.total(), _FILES_AHEAD)
        for user, group in (key for key, _ in files.most_common(_USERS_AHEAD)):
            self._runner.prepare(user, group, ahead)

    async def run_command(self, start: SpawnRequest, limit: float) -> ProcessExit | None:
        """Run a command beside the jobs; return how it ended, None if it was terminated after `limit` seconds."""
        ended = self._commands[start.run_id] = asyncio.get_running_loop().create_future()
        self._runner.start_many([start])
        try:
            async with asyncio.timeout(limit):
                return await asyncio.shield(ended)
        except TimeoutError:
            self._runner.terminate(start.run_id, SECOND)
            await ended
            return None

    # --- the port -----------------------------------------------------------------------------------------------------

    def start(self, runs: Sequence[JobRun], listener: RunListener[JobRun]) -> None:
        """Start runs in their order."""
        self._listener = listener
        self._runs.update((run.run_id, run) for run in runs)
        self._runner.start_many(map(_spawn_request, runs))

    def stop(self, run: JobRun) -> None:
        """Terminate a run, and kill it after its grace."""
        self._runner.terminate(run.run_id, run.work.grace)

    async def reattach(self, runs: Sequence[JobRun], listener: RunListener[JobRun]) -> Collection[str]:
        """Return the ids of the runs that survived, and watch them; one without a handle is looked for."""
        self._listener = listener
        by_id = {run.run_id: run for run in runs}
        self._runs.update(by_id)
        unfinished = [UnfinishedRun(run.attempt, run.handle) for run in runs]
        found = await self._runner.reattach(recorded(unfinished, self._history, self._now()))
        alive = {each.run_id for each in found}
        for run_id in by_id.keys() - alive:
            self._runs.pop(run_id, None)
        self._on_started(each for each in found if by_id[each.run_id].handle is None)
        return alive

    async def catch_up(self, *, stood_still: bool) -> None:
        """Report to the listener which processes have ended by now."""
        await self._runner.catch_up(_AFTER_FREEZE if stood_still else _AFTER_STALL, with_starts=stood_still)

    def detach(self) -> None:
        """Report nothing from now on."""
        self._listener = None

    def _on_started(self, started: Iterable[RunHandle]) -> None:
        if self._listener is not None:
            for each in started:
                if (run := self._runs.get(each.run_id)) is not None:
                    self._listener.on_started(run, each)

    def _on_ended(self, ended: Iterable[ProcessExit]) -> None:
        for each in ended:
            if (command := self._commands.pop(each.run_id, None)) is not None:
                if not command.done():
                    command.set_result(each)
            elif (run := self._runs.pop(each.run_id, None)) is not None and self._listener is not None:
                self._listener.on_ended(run, RunResult(each.exit_code, each.signal, each.not_started or ""))


def _spawn_request(run: JobRun) -> SpawnRequest:
    job, attempt = run.work.payload, run.attempt
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
    return SpawnRequest(attempt.run_id, job.command, tuple(env.items()))


def recorded(unfinished: Iterable[UnfinishedRun], history: HistoryReader, now: Instant) -> list[RecordedProcess]:
    """Return by what each is recognised: its process, or else the user that it runs as, and when it was to begin."""
    found = []
    for each in unfinished:
        run_id, boot = each.attempt.run_id, each.attempt.boot_id
        if each.process is not None:
            found.append(RecordedProcess(run_id, boot, each.process.pid, each.process.start_ticks))
        else:
            began = since_boot() - (now - each.attempt.started)
            found.append(
                RecordedProcess(run_id, boot, uid=_uid(history.definition(each.attempt.definition_key)), began=began)
            )
    return found


def _uid(definition: str | None) -> int | None:
    """Return the user id of a definition's processes; None if the host does not know that user."""
    command = json.loads(definition or "{}").get("command")
    user = command.get("user") if isinstance(command, dict) else None
    if user == "":
        return os.geteuid()
    try:
        return pwd.getpwnam(str(user)).pw_uid
    except KeyError:
        return None

"""ControlApi: what a running krond does for each command that arrives on its socket, and for its page."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from kron._version import __version__
from kron.cron.zone import load_zone
from kron.decision.decision import Decision
from kron.errors import ControlError, SchedulerNotRunningError
from kron.hosts.krond.control_protocol import (
    MOST_NEXT,
    optional_count,
    require_string,
    require_strings,
)
from kron.hosts.krond.control_server import CommandHandler, Row, Rows
from kron.hosts.krond.daemon import Daemon
from kron.hosts.krond.events import JobEvents
from kron.instant import Instant, format_instant
from kron.jobfile.host_job import HostJob
from kron.web.queries import JobQueries, JobSummary, UpcomingRun
from kron.web.source import parse_until

_NEXT = 10


class ControlApi:
    """Answers for one daemon. `reload` is what SIGHUP does, too. For its page it is the control of jobs."""

    def __init__(
        self,
        daemon: Daemon,
        queries: JobQueries,
        reload: Callable[[], Awaitable[dict[str, object]]],
        chronicler: JobEvents,
        configs: Sequence[str],
    ) -> None:
        self._daemon, self._queries, self._reload = daemon, queries, reload
        self._chronicler, self._configs = chronicler, list(configs)

    def handlers(self) -> Mapping[str, CommandHandler]:
        """Return what can be asked for."""
        once_ready: dict[str, CommandHandler] = {
            "jobs": self._jobs,
            "next": self._next,
            "suspend": self._suspend,
            "resume": self._resume,
            "trigger": self._trigger,
            "reload": self._on_reload,
            "wait": self._wait,
        }
        guarded = {name: self._once_ready(handler) for name, handler in once_ready.items()}
        return {"ping": self._ping, "status": self._status, "stop": self._stop, **guarded}

    def _once_ready(self, handler: CommandHandler) -> CommandHandler:
        async def answer(asked: Mapping[str, Any]) -> object:
            self._require_ready()
            return await handler(asked)

        return answer

    def _require_ready(self) -> None:
        if not self._daemon.surface.ready:  # runs of an earlier life are not recovered yet
            raise ControlError(reason="krond is starting, and not ready yet")
        if self._daemon.surface.ended:
            raise ControlError(reason="krond is ending and takes no more commands")

    # --- what it does with jobs ---------------------------------------------------------------------------------------

    async def suspend(self, identities: Sequence[str], until: Instant | None) -> None:
        """Suspend jobs until an instant or until they are resumed."""
        self._require_ready()
        await self._daemon.engine.suspend(identities, until)

    async def resume(self, identities: Sequence[str]) -> None:
        """Resume jobs; ControlError names those that their files still suspend."""
        self._require_ready()
        await self._daemon.engine.resume(identities)
        jobs = [job for identity in identities if (job := self._daemon.surface.jobs.get(identity)) is not None]
        held = [
            f"{job.file}:{job.line_of('suspend')} still suspends {job.identity}" for job in jobs if job.policy.suspend
        ]
        if held:
            others = [job.identity for job in jobs if not job.policy.suspend]
            raise ControlError(reason="; ".join([*held, *(f"{identity} is resumed" for identity in others)]))

    async def trigger(self, identity: str) -> str:
        """Start a run outside the periods of its job, and return its id."""
        self._require_ready()
        try:
            return await self._daemon.engine.trigger(identity)
        except SchedulerNotRunningError as error:
            raise ControlError(reason="krond is draining and starts no more runs") from error

    # --- the commands -------------------------------------------------------------------------------------------------

    async def _ping(self, _: Mapping[str, Any]) -> object:
        return None

    async def _status(self, _: Mapping[str, Any]) -> object:
        daemon, surface, queries = self._daemon, self._daemon.surface, self._queries
        active = [run.to_dict() for run in queries.running()]
        failed = await daemon.ledger_health.ask()
        coming, ahead = None, None
        if surface.ready:
            coming, ahead = await asyncio.to_thread(lambda: (queries.next_run(), queries.clock_ahead()))
        return {
            "pid": os.getpid(),
            "version": __version__,
            "started_at": format_instant(surface.started_at),
            "ready": surface.ready,
            "draining": surface.draining,
            "state": str(daemon.state.path),
            "config": self._configs,
            "listen": surface.listen,
            "failed_listen": None if surface.failed_listen is None else surface.failed_listen._asdict(),
            "failed_ledger": None if failed is None else {"since": format_instant(failed.since), "error": failed.error},
            "jobs": len(daemon.engine.specs()),
            "next": None if coming is None else _named(coming),
            "clock_ahead": None if ahead is None else ahead.to_dict(),
            "active": active,
            "failed_reload": surface.failed_reload,
            "failed_files": [each._asdict() for each in surface.failed_files],
            "set_aside": [{"identity": identity, "error": why} for identity, why in daemon.engine.set_aside.items()],
            "monitor": {"on": True, "violations": daemon.monitor.violations},
        }

    async def _jobs(self, _: Mapping[str, Any]) -> object:
        return Rows(lambda: map(self._job_row, self._queries.summaries()))

    def _job_row(self, job: JobSummary) -> dict[str, object]:
        assert isinstance(job.written, HostJob)
        place = {"file": job.written.file, "line": job.written.line}
        return {"identity": job.record.identity, "name": job.record.name, **place, **job.to_dict()}

    async def _next(self, asked: Mapping[str, Any]) -> object:
        identities = self._queries.find_declared(require_string(asked, "job")) if asked.get("job") else None
        count = optional_count(asked, "count", _NEXT, most=MOST_NEXT)
        found = self._queries.upcoming(count, identities)
        return Rows(lambda: map(_next_row, found))

    async def _suspend(self, asked: Mapping[str, Any]) -> object:
        identities = self._queries.find_declared(*require_strings(asked, "jobs"))
        until = self._until(require_string(asked, "until"), identities[0]) if asked.get("until") else None
        await self.suspend(identities, until)
        return {"identities": identities, "until": until and format_instant(until)}

    async def _resume(self, asked: Mapping[str, Any]) -> object:
        identities = self._queries.find_declared(*require_strings(asked, "jobs"))
        await self.resume(identities)
        return {"identities": identities}

    async def _trigger(self, asked: Mapping[str, Any]) -> object:
        (identity,) = self._queries.find_declared(require_string(asked, "job"))
        return await self.trigger(identity)

    async def _wait(self, asked: Mapping[str, Any]) -> object:
        return await self._chronicler.wait_for_end(require_string(asked, "run_id"))

    async def _on_reload(self, _: Mapping[str, Any]) -> object:
        return await self._reload()

    async def _stop(self, asked: Mapping[str, Any]) -> object:
        loop = asyncio.get_running_loop()
        loop.call_soon(self._daemon.stop)
        if asked.get("now"):
            loop.call_soon(self._daemon.terminate_runs)
        return None

    def _until(self, text: str, identity: str) -> Instant:
        zone = load_zone(self._daemon.surface.jobs[identity].timezone)
        return parse_until(text, zone, self._daemon.clock.now())


def _next_row(found: UpcomingRun | None) -> Row:
    return None if found is None else found.to_dict()


def _named(decision: Decision) -> dict[str, object]:
    """Return a decision by what it is recognised by, and its second."""
    named = decision.to_dict()
    return {key: named[key] for key in ("identity", "period_id", "chosen_time", "seed_hash")}

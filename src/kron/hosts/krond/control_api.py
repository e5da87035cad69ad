"""ControlApi: what a running krond does for each command that arrives on its socket."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

from kron._version import __version__
from kron.cron.wall_time import is_duration, read_moment
from kron.cron.zone import Zone, load_zone
from kron.decision.decision import Decision
from kron.engine.jobs.control import Trigger
from kron.engine.jobs.job_state import JobState
from kron.errors import ControlError, InvalidDefinitionError, InvalidInstantError
from kron.hosts.krond.control_protocol import (
    MOST_NEXT,
    find_identities,
    optional_count,
    require_string,
    require_strings,
)
from kron.hosts.krond.control_server import CommandHandler, Row, Rows
from kron.hosts.krond.daemon import Daemon
from kron.hosts.krond.events import JobEvents
from kron.hosts.krond.upcoming import ahead_until, clock_ahead, first_of, next_decisions, next_run
from kron.instant import Instant, format_instant
from kron.jobfile.host_job import HostJob
from kron.jobfile.values import parse_long_duration

_NEXT = 10
_TOGETHER = 200  # jobs that are suspended or resumed in one step of the loop


class ControlApi:
    """Answers for one daemon. `reload` is what SIGHUP does, too."""

    def __init__(
        self,
        daemon: Daemon,
        reload: Callable[[], Awaitable[dict[str, object]]],
        chronicler: JobEvents,
        configs: Sequence[str],
    ) -> None:
        self._daemon, self._reload, self._chronicler, self._configs = daemon, reload, chronicler, list(configs)

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
            if not self._daemon.surface.ready:  # what goes on of an earlier life is not known yet
                raise ControlError(reason="krond is starting, and not ready yet")
            if self._daemon.surface.ended:
                raise ControlError(reason="krond ends, and takes nothing up any more")
            return await handler(asked)

        return answer

    async def _ping(self, _: Mapping[str, Any]) -> object:
        return None

    async def _status(self, _: Mapping[str, Any]) -> object:
        daemon, surface = self._daemon, self._daemon.surface
        active = [
            {
                "run_id": run.run_id,
                "identity": run.attempt.identity,
                "pid": None if run.handle is None else run.handle.pid,
                "started_at": format_instant(run.attempt.started),
            }
            for run in daemon.runs.running.values()
        ]
        now, jobs = daemon.clock.now(), list(daemon.book.jobs.values()) if surface.ready else []
        failed = await daemon.ledger_health.ask()
        coming, ahead = await asyncio.to_thread(lambda: (next_run(jobs, now), clock_ahead(jobs, now)))
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
            "jobs": len(daemon.book.jobs),
            "next": None if coming is None else _named(coming),
            "clock_ahead": None if ahead is None else ahead.to_dict(),
            "active": active,
            "failed_reload": surface.failed_reload,
            "failed_files": [each._asdict() for each in surface.failed_files],
            "set_aside": [{"identity": identity, "error": why} for identity, why in daemon.book.aside.items()],
            "monitor": {"on": True, "violations": daemon.monitor.violations},
        }

    async def _jobs(self, _: Mapping[str, Any]) -> object:
        now, found = self._daemon.clock.now(), list(self._daemon.book.jobs.values())
        return Rows(lambda: (self._job(job, now) for job in found))

    def _job(self, job: JobState, now: Instant) -> dict[str, object]:
        found = self._daemon.surface.jobs.get(job.record.identity, job.work.payload)
        assert isinstance(found, HostJob)
        first, ahead = first_of(job, now), ahead_until(job, now)
        chosen = None if first is None else first.chosen_time
        last = self._chronicler.last_results.get(job.record.identity)
        outcome, result = last or (None, None)
        return {
            "identity": found.identity,
            "name": found.name,
            "file": found.file,
            "line": found.line,
            "schedule": found.schedule,
            "timezone": found.timezone,
            "description": found.description,
            "suspended": job.is_suspended,
            "active": len(job.active),
            "declared_at": format_instant(job.record.declared_at),
            "next_chosen_time": None if chosen is None else format_instant(chosen),
            "seed_hash": None if first is None else first.seed_hash,
            "clock_ahead_until": None if ahead is None else format_instant(ahead),
            "last_outcome": outcome,
            "last_result": result,
        }

    async def _next(self, asked: Mapping[str, Any]) -> object:
        jobs = self._daemon.book.jobs
        if asked.get("job"):
            jobs = {identity: jobs[identity] for identity in self._find(require_string(asked, "job"))}
        count, now = optional_count(asked, "count", _NEXT, most=MOST_NEXT), self._daemon.clock.now()
        found = list(jobs.values())
        return Rows(lambda: map(_next_row, next_decisions(found, now, count)))

    async def _suspend(self, asked: Mapping[str, Any]) -> object:
        identities = self._find(*require_strings(asked, "jobs"))
        until = self._until(require_string(asked, "until"), identities[0]) if asked.get("until") else None
        for part in _parts(identities):
            await self._daemon.suspend(part, until)
        return {"identities": identities, "until": until and format_instant(until)}

    async def _resume(self, asked: Mapping[str, Any]) -> object:
        identities = self._find(*require_strings(asked, "jobs"))
        for part in _parts(identities):
            await self._daemon.resume(part)
        jobs = [job for identity in identities if (job := self._daemon.surface.jobs.get(identity)) is not None]
        held = [
            f"{job.file}:{job.line_of('suspend')} still suspends {job.identity}" for job in jobs if job.policy.suspend
        ]
        if held:
            others = [job.identity for job in jobs if not job.policy.suspend]
            raise ControlError(reason="; ".join([*held, *(f"{identity} is resumed" for identity in others)]))
        return {"identities": identities}

    async def _trigger(self, asked: Mapping[str, Any]) -> object:
        (identity,) = self._find(require_string(asked, "job"))

        def trigger(now: Instant) -> Trigger:
            if self._daemon.engine.is_draining:  # it may have been asked to stop while this waited
                raise ControlError(reason="krond drains, and starts nothing any more")
            return Trigger(self._daemon.book, identity, now, has_room=self._daemon.runs.free_slots() > 0)

        return await self._daemon.engine.apply(trigger)

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

    def _find(self, *words: str) -> list[str]:
        names = ((job.record.name, identity) for identity, job in self._daemon.book.jobs.items())
        return find_identities(words, names, self._daemon.surface.errors())

    def _moment(self, text: str, zone: Zone) -> Instant:
        try:
            return read_moment(text, zone, self._daemon.clock.now())
        except InvalidInstantError as error:
            raise InvalidInstantError(text=text, has_zone=True, may_last=True) from error

    def _until(self, text: str, identity: str) -> Instant:
        now = self._daemon.clock.now()
        try:
            until = (now + parse_long_duration("until", text)).replace(microsecond=0)
        except OverflowError as error:
            raise ControlError(reason=f"{text} from now lies after the year 9999", exit_code=2) from error
        except InvalidDefinitionError:
            if is_duration(text):
                raise
            until = self._moment(text, load_zone(self._daemon.surface.jobs[identity].timezone))
        if until <= now:
            raise ControlError(reason=f"{format_instant(until)} has passed; name a time to come", exit_code=2)
        return until


def _parts(identities: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the identities part by part: what is due meanwhile is started between two of them."""
    for start in range(0, len(identities), _TOGETHER):
        yield identities[start : start + _TOGETHER]


def _next_row(found: tuple[Decision, JobState] | None) -> Row:
    if found is None:
        return None
    decision, job = found
    return {**decision.to_dict(), "name": job.record.name, "suspended": job.is_suspended}


def _named(decision: Decision) -> dict[str, object]:
    """Return a decision by what it is recognised by, and its second."""
    named = decision.to_dict()
    return {key: named[key] for key in ("identity", "period_id", "chosen_time", "seed_hash")}

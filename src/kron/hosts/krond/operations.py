"""Operations: what a running krond does when it is asked over its socket, by the name of the command."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from heapq import merge, nsmallest
from itertools import islice
from operator import itemgetter
from typing import Any

from kron._version import __version__
from kron.cron.zone import Zone, load_zone
from kron.decision.decision import Decision
from kron.engine.jobs.changes import Trigger
from kron.errors import ControlError, InvalidDefinitionError, InvalidInstantError
from kron.hosts.krond.ahead import First, ahead_until, clock_ahead, decisions_of, firsts, next_run
from kron.hosts.krond.chronicle import Chronicler
from kron.hosts.krond.control import Handler
from kron.hosts.krond.daemon import Daemon
from kron.hosts.krond.names import find_identity
from kron.hosts.krond.request import number_of, text_of, texts_of
from kron.hosts.moments import is_duration, read_moment
from kron.instant import Instant, format_instant
from kron.rules.coming import effective
from kron.rules.files.host_job import HostJob
from kron.rules.files.values import read_days

_NEXT = 10


class Operations:
    """Answers for one daemon. `reload` is what SIGHUP does, too."""

    def __init__(
        self,
        daemon: Daemon,
        reload: Callable[[], Awaitable[dict[str, object]]],
        chronicler: Chronicler,
        configs: Sequence[str],
    ) -> None:
        self._daemon, self._reload, self._chronicler, self._configs = daemon, reload, chronicler, list(configs)

    def handlers(self) -> Mapping[str, Handler]:
        """Return what can be asked for."""
        once_ready: dict[str, Handler] = {
            "jobs": self._jobs,
            "next": self._next,
            "suspend": self._suspend,
            "resume": self._resume,
            "trigger": self._trigger,
            "reload": self._on_reload,
            "wait": self._wait,
        }
        guarded = {name: self._once_ready(handler) for name, handler in once_ready.items()}
        return {"status": self._status, "stop": self._stop, **guarded}

    def _once_ready(self, handler: Handler) -> Handler:
        async def answer(asked: Mapping[str, Any]) -> object:
            if not self._daemon.surface.ready:  # what goes on of an earlier life is not known yet
                raise ControlError(reason="krond is starting, and not ready yet")
            if self._daemon.surface.ended:
                raise ControlError(reason="krond ends, and takes nothing up any more")
            return await handler(asked)

        return answer

    async def _status(self, _: Mapping[str, Any]) -> object:
        daemon, surface = self._daemon, self._daemon.surface
        active = [
            {
                "run_id": run.run_id,
                "identity": run.attempt.identity,
                "pid": None if run.process is None else run.process.pid,
                "started_at": format_instant(run.attempt.started),
            }
            for run in daemon.book.running.values()
        ]
        now, jobs = daemon.clock.now(), list(daemon.book.jobs.values()) if surface.ready else []
        coming = await asyncio.to_thread(next_run, firsts(jobs), now)
        ahead = await asyncio.to_thread(clock_ahead, jobs, now)
        return {
            "pid": os.getpid(),
            "version": __version__,
            "started_at": format_instant(surface.started_at),
            "ready": surface.ready,
            "draining": surface.draining,
            "state": str(daemon.state.path),
            "config": self._configs,
            "listen": surface.listen,
            "jobs": len(daemon.book.jobs),
            "next": None if coming is None else _named(coming),
            "clock_ahead": None if ahead is None else ahead.to_dict(),
            "active": active,
            "failed_reload": surface.failed_reload,
            "failed_files": [failed._asdict() for failed in surface.failed_files],
            "monitor": {"on": True, "violations": daemon.monitor.violations},
        }

    async def _jobs(self, _: Mapping[str, Any]) -> object:
        jobs, found = firsts(self._daemon.book.jobs.values()), self._daemon.surface.jobs
        return await asyncio.to_thread(lambda: [self._job(each, found) for each in jobs])

    def _job(self, known: First, jobs: Mapping[str, HostJob]) -> dict[str, object]:
        job = known.job
        found, last = jobs[job.record.identity], self._chronicler.last.get(job.record.identity)
        now = self._daemon.clock.now()
        first, ahead = known.find(now), ahead_until(job, now)
        chosen = None if first is None else first.chosen_time
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
            jobs = {identity: jobs[identity] for identity in [self._find(text_of(asked, "job"))]}
        count, now = number_of(asked, "count", _NEXT), self._daemon.clock.now()
        return await asyncio.to_thread(_upcoming, firsts(jobs.values()), count, now)

    async def _suspend(self, asked: Mapping[str, Any]) -> object:
        identities = [self._find(name) for name in texts_of(asked, "jobs")]
        until = self._until(text_of(asked, "until"), identities[0]) if asked.get("until") else None
        await self._daemon.suspend(identities, until)
        return {"identities": identities, "until": until and format_instant(until)}

    async def _resume(self, asked: Mapping[str, Any]) -> object:
        identities = [self._find(name) for name in texts_of(asked, "jobs")]
        await self._daemon.resume(identities)
        jobs = [job for identity in identities if (job := self._daemon.surface.jobs.get(identity)) is not None]
        held = [
            f"{job.file}:{job.line_of('suspend')} still suspends {job.identity}" for job in jobs if job.policy.suspend
        ]
        if held:
            others = [job.identity for job in jobs if not job.policy.suspend]
            raise ControlError(reason="; ".join([*held, *(f"{identity} is resumed" for identity in others)]))
        return {"identities": identities}

    async def _trigger(self, asked: Mapping[str, Any]) -> object:
        identity = self._find(text_of(asked, "job"))

        def trigger(now: Instant) -> Trigger:
            if self._daemon.engine.is_hushed:  # it may have been asked to stop while this waited
                raise ControlError(reason="krond drains, and starts nothing any more")
            return Trigger(self._daemon.book, identity, now)

        return await self._daemon.engine.change(trigger)

    async def _wait(self, asked: Mapping[str, Any]) -> object:
        return await self._chronicler.ended(text_of(asked, "run_id"))

    async def _on_reload(self, _: Mapping[str, Any]) -> object:
        return await self._reload()

    async def _stop(self, asked: Mapping[str, Any]) -> object:
        loop = asyncio.get_running_loop()
        loop.call_soon(self._daemon.stop)
        if asked.get("now"):
            loop.call_soon(self._daemon.end_children)
        return None

    def _find(self, name: str) -> str:
        names = ((job.record.name, identity) for identity, job in self._daemon.book.jobs.items())
        return find_identity(name, names, tuple(failed.file for failed in self._daemon.surface.failed_files))

    def _moment(self, text: str, zone: Zone) -> Instant:
        try:
            return read_moment(text, zone, self._daemon.clock.now())
        except InvalidInstantError as error:
            raise InvalidInstantError(text=text, has_zone=True, may_last=True) from error

    def _until(self, text: str, identity: str) -> Instant:
        now = self._daemon.clock.now()
        try:
            until = (now + read_days("until", text)).replace(microsecond=0)
        except OverflowError as error:
            raise ControlError(reason=f"{text} from now lies after the year 9999", exit_code=2) from error
        except InvalidDefinitionError:
            if is_duration(text):
                raise
            until = self._moment(text, load_zone(self._daemon.surface.jobs[identity].timezone))
        if until <= now:
            raise ControlError(reason=f"{format_instant(until)} has passed; name a time to come", exit_code=2)
        return until


def _upcoming(jobs: Sequence[First], count: int, now: Instant) -> list[dict[str, object]]:
    """Return the next decisions of all jobs; it is for a thread."""
    found = []
    for number, each in enumerate(jobs):
        if (first := each.find(now)) is not None:
            found.append((effective(first), number, each.job))
    # Those whose first period is not among the first so many have none among them.
    streams = (decisions_of(job, now) for _, _, job in nsmallest(count, found))
    return [
        {**decision.to_dict(), "name": job.record.name, "suspended": job.is_suspended}
        for _, decision, job in islice(merge(*streams, key=itemgetter(0)), count)
    ]


def _named(decision: Decision) -> dict[str, object]:
    """Return a decision by what it is recognised by, and its second."""
    named = decision.to_dict()
    return {key: named[key] for key in ("identity", "period_id", "chosen_time", "seed_hash")}

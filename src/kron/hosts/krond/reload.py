"""reload_files(daemon, asked, first): what the files say now, taken up by a daemon that runs."""

import asyncio
from collections.abc import Awaitable, Callable

from kron.adapters.files.job_files import sort_findings
from kron.engine.emitter import Emitter
from kron.errors import KronError
from kron.errors.diagnostics import Diagnostic
from kron.hosts.krond.daemon import Daemon
from kron.hosts.krond.file_reader import FailedFiles, ReadRequest, fingerprints, read_in_subprocess
from kron.hosts.krond.file_watch import LONGEST, DiskCall, Snapshot
from kron.instant import format_instant
from kron.jobfile.settings import Settings


async def reload_files(
    daemon: Daemon, asked: ReadRequest, first: Settings, note: Callable[[Snapshot], object] = lambda _: None
) -> dict[str, object]:
    """Read the files again, and declare what they say now; `first` are the settings that need a restart.

    `note` gets what tells whether the files were changed after they were read. The jobs of a file with errors stay as
    they are; if settings are unknown, all jobs do.
    """
    try:
        # If krond ends meanwhile, the reader finds its socket closed, and ends as soon as its disk answers.
        known = daemon.engine.specs().values()
        reading = DiskCall(lambda: read_in_subprocess(asked._replace(known=fingerprints(known))))
        found = await reading.answer(2 * LONGEST)  # it has a limit of its own
        note(found.snapshot)
        failed = found.failed_files
        is_usable = found.is_usable and not _lost_settings(daemon.settings, found.settings, failed)
        fixed = _fixed(first, found.settings) if is_usable else []
        findings = sort_findings([*found.findings, *fixed])
        if fixed or not is_usable:
            if failed:
                daemon.mark_failed(failed)
            return _refuse(daemon, findings)
        await daemon.runner.refresh()
        declared = await daemon.declare(list(found.jobs), failed)
    except KronError as error:  # they cannot be read now, or not be remembered
        message = "krond was asked to stop" if daemon.surface.draining else error.message
        return _refuse(daemon, [Diagnostic("error", "krond", message, "")])
    daemon.apply_settings(found.settings)
    daemon.mark_failed(failed)
    for finding in findings:
        if finding.level != "error":
            tell_finding(daemon.emitter, finding)
        await asyncio.sleep(0)  # noqa: TID251  # there may be thousands, and starts do not wait for them
    identities = {name: getattr(declared, name) for name in ("added", "changed", "removed", "unchanged")}
    answer: dict[str, object] = {
        "ok": not failed,
        "declared_at": format_instant(declared.at),
        **identities,
        "findings": [finding.to_dict() for finding in findings],
    }
    daemon.emitter.tell("Reloaded", **{name: len(found) for name, found in identities.items()})
    if failed:
        _mark_failed_reload(daemon, [finding for finding in findings if finding.level == "error"])
        answer["failed_files"] = [each._asdict() for each in daemon.surface.failed_files]
    else:
        daemon.surface.failed_reload = None
    return answer


def _refuse(daemon: Daemon, findings: list[Diagnostic]) -> dict[str, object]:
    """Keep all jobs as they are, and return why."""
    return {"ok": False, "findings": _mark_failed_reload(daemon, findings)}


def _mark_failed_reload(daemon: Daemon, findings: list[Diagnostic]) -> list[dict[str, object]]:
    """Show until the next reload why this one has failed, and return it."""
    found = [finding.to_dict() for finding in findings]
    daemon.surface.failed_reload = found
    daemon.emitter.tell("ReloadFailed", errors=[str(found) for found in findings if found.level == "error"])
    return found


def _lost_settings(before: Settings, after: Settings, failed: FailedFiles) -> bool:
    """Whether a failed file had settings that are in force, and could not be read far enough to see them."""
    readable = {file for file, _ in after.places.values()}
    return any(file in failed and file not in readable for file, _ in before.places.values())


def _fixed(before: Settings, after: Settings) -> list[Diagnostic]:
    """Return what was changed although it needs a restart, at the line that says it, or said it before."""
    message, fix = "was changed, which needs a restart", "restart krond, or leave it as it was"
    places = {**before.places, **after.places}
    return [
        Diagnostic("error", f"krond.{key}", message, fix, *places[key])
        for key in ("state", "listen", "token_file")
        if getattr(before, key) != getattr(after, key)
    ]


def tell_finding(emitter: Emitter, finding: Diagnostic) -> None:
    """Emit a warning or a notice as an event."""
    fields = finding.to_dict()
    emitter.tell(f"{str(fields.pop('level')).capitalize()}Found", **fields)


class Hangups:
    """Reloads for SIGHUP: one at a time, and one more for all signals that come meanwhile."""

    def __init__(self, reload: Callable[[], Awaitable[object]]) -> None:
        """`reload` raises nothing."""
        self._reload = reload
        self._is_asked = self._is_closed = False
        self._task: asyncio.Task[None] | None = None

    def __call__(self) -> None:
        """Take a signal."""
        self._is_asked = True
        if self._task is None and not self._is_closed:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """End what is under way. Signals that come from now on are ignored."""
        self._is_closed = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while self._is_asked:
            self._is_asked = False
            await self._reload()
        self._task = None

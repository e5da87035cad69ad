"""work_of(job) -> Work: a job of a host's files as the engine declares it, with its definition as one text."""

import json
from dataclasses import asdict, fields

from kron.instant import format_duration
from kron.rules.command import Command
from kron.rules.files.host_job import NO_HOOKS, HostJob
from kron.rules.work import Work

_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True)
_FIELDS = tuple(field.name for field in fields(Command))


def work_of(job: HostJob) -> Work:
    """Return the work of a job; whatever it says is part of its definition, but for where it says it."""
    definition = {
        "schedule": job.schedule,
        "timing": None if job.timing is None else job.timing.to_dict(),
        "policy": job.policy.to_dict(),
        "command": _command(job.command),
        "retries": job.retries,
        "retry_delay": format_duration(job.retry_delay),
        "description": job.description,
    }
    if job.hooks != NO_HOOKS:
        definition["hooks"] = {**asdict(job.hooks), "late_after": format_duration(job.hooks.late_after)}
    return Work(
        job.identity,
        job.name,
        job.timing,
        job.policy,
        _ENCODER.encode(definition),
        payload=job,
        retries=job.retries,
        retry_delay=job.retry_delay,
        timeout=job.command.timeout,
        grace=job.command.grace,
    )


def _command(command: Command) -> dict[str, object]:
    found = {name: getattr(command, name) for name in _FIELDS}
    for name in ("timeout", "grace"):
        if found[name] is not None:
            found[name] = format_duration(found[name])
    return found

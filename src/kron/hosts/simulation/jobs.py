"""Jobs of a scenario from what people have: registrations of the library, or the jobs of a file."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kron.cron.dialect import POSIX
from kron.cron.expression import Expression, parse
from kron.errors import InvalidDefinitionError
from kron.hosts.simulation.scenario import Behaviour, Job
from kron.instant import ZERO
from kron.rules.files.host_job import HostJob


def jobs_of_registrations(registrations: Sequence[Sequence[Any]], behaviour: Behaviour) -> tuple[Job, ...]:
    """Return the jobs of a list that the library would accept; callbacks are replaced by drawn ones."""
    return tuple(Job(name, cron, delay, behaviour) for name, cron, _, delay in registrations)


def jobs_of_file(jobs: Sequence[HostJob], timezone: str, behaviour: Behaviour) -> tuple[Job, ...]:
    """Return the jobs of a file, each under its name; one with a window, or in another zone, is refused."""
    found = []
    for job in jobs:
        timing = job.timing
        if timing is None:
            raise InvalidDefinitionError(field="schedule", found=job.schedule, reason="names no time to be simulated")
        if timing.window.duration != ZERO:
            raise InvalidDefinitionError(
                field="window", found=job.name, reason="cannot be simulated yet", fix="leave @win out to try the rest"
            )
        if timing.schedule.timezone != timezone:
            reason = f"must be that of the simulation, {timezone}"
            raise InvalidDefinitionError(field="timezone", found=timing.schedule.timezone, reason=reason)
        found.append(replace(Job(job.name, _posix(timing.schedule.expression)), behaviour=behaviour))
    return tuple(found)


def _posix(expression: Expression) -> str:
    """Return the same expression in the plain language that traces are written in."""
    fields = (expression.minute, expression.hour, expression.day, expression.month, expression.weekday)
    text = " ".join("*" if field.full else ",".join(str(value) for value in field) for field in fields)
    if parse(text, POSIX).either_day != expression.either_day:
        reason = "has a day field that begins with * beside another one, which the plain language cannot say"
        raise InvalidDefinitionError(field="schedule", found=expression.text, reason=reason)
    return text

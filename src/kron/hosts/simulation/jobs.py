"""Jobs of a scenario from what people have: registrations of the library, or the jobs of a file."""

from collections.abc import Sequence
from typing import Any, Literal

from kron.cron.dialect import POSIX
from kron.cron.expression import Expression, parse
from kron.decision.timing import Timing
from kron.hosts.simulation.scenario import Behaviour, Job
from kron.rules.files.host_job import HostJob


def jobs_of_registrations(registrations: Sequence[Sequence[Any]], behaviour: Behaviour) -> tuple[Job, ...]:
    """Return the jobs of a list that the library would accept; callbacks are replaced by drawn ones."""
    return tuple(Job(name, cron, delay, behaviour) for name, cron, _, delay in registrations)


def jobs_of_file(
    jobs: Sequence[HostJob], timezone: str, behaviour: Behaviour
) -> tuple[tuple[Job, ...], Literal["extended", "posix"]]:
    """Return the jobs of a file, each under its name and with its own identity, and the dialect that says them all.

    Those that have no times, as of @reboot, are left out.

    What the plain language can say is said in it, because then the judge of the trace needs to believe nobody.
    """
    timed = [(job.name, job.timing) for job in jobs if job.timing is not None]
    plain = [_posix(timing, timezone) for _, timing in timed]
    if all(plain):
        texts = [text for text in plain if text is not None]
        return tuple(
            Job(name, text, behaviour=behaviour) for (name, _), text in zip(timed, texts, strict=True)
        ), "posix"
    return tuple(
        Job(name, _line(timing, timezone), behaviour=behaviour, identity=timing.identity) for name, timing in timed
    ), "extended"


def _line(timing: Timing, timezone: str) -> str:
    """Return the schedule line; a zone that lines leave out is that of the scheduler, so theirs is always said."""
    line = timing.to_line()
    zone = timing.schedule.timezone
    return f"{line} @tz({zone})" if zone == "UTC" != timezone else line


def _posix(timing: Timing, timezone: str) -> str | None:
    """Return the same in the plain language that traces are written in, None if that cannot say it."""
    modifiers = timing.modifiers()
    if timing.schedule.timezone == timezone:
        modifiers = [each for each in modifiers if not each.startswith("@tz")]
    if modifiers or timing.schedule.timezone != timezone:
        return None
    text = _plain(timing.schedule.expression)
    return text if parse(text, POSIX).either_day == timing.schedule.expression.either_day else None


def _plain(expression: Expression) -> str:
    fields = (expression.minute, expression.hour, expression.day, expression.month, expression.weekday)
    return " ".join("*" if field.full else ",".join(str(value) for value in field) for field in fields)

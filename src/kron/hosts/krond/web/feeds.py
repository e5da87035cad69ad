"""wanted(sight, job, since, until) -> which jobs, and which span, a feed is about."""

from datetime import timedelta

from kron.cron.zone import UTC_ZONE
from kron.engine.jobs.job import Job
from kron.errors import ControlError, InvalidDefinitionError
from kron.hosts.krond.web.sight import Sight
from kron.hosts.moments import read_moment
from kron.instant import Instant, format_instant
from kron.rules.expected import later

_USUAL = 7 * 86_400  # seconds
_LONGEST = timedelta(days=400)


def wanted(sight: Sight, job: str, since: str, until: str) -> tuple[list[Job], Instant, Instant]:
    """Return the jobs, one or all, and the span: from now on and for a week, if nothing else is said."""
    now = sight.now().replace(microsecond=0)
    jobs, zone = sight.jobs(), UTC_ZONE
    if job:
        found = sight.job(sight.find(job, ""))
        if found is None:
            raise ControlError(reason=f"{job} is not defined any more")
        jobs = [found]
        zone = zone if found.work.timing is None else found.work.timing.schedule.zone
    begin = read_moment(since, zone, now) if since else now
    end = read_moment(until, zone, now) if until else later(begin, _USUAL)
    if end < begin:
        raise InvalidDefinitionError(field="to", found=until, reason=f"lies before from, {format_instant(begin)}")
    if end - begin > _LONGEST:
        raise InvalidDefinitionError(field="to", found=until, reason=f"lies more than {_LONGEST.days} days after from")
    return jobs, begin, end

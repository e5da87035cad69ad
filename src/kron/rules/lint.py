"""lint(job, now) -> findings: what is valid and yet unlikely to be what its author meant."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import islice, pairwise

from kron.cron.calendar import longest
from kron.cron.schedule import Gaps, Repeated, Schedule
from kron.cron.zone import Table
from kron.decision.report import Report, report
from kron.instant import MICROSECOND, ZERO, Instant, format_duration, format_instant
from kron.rules.finding import Finding
from kron.rules.job import Job

RISK_WORTH_A_WARNING = 0.01  # one period in a hundred; excluding single days on purpose stays below it
_YEARS_AHEAD = timedelta(
    days=3 * 366
)  # three years show every yearly change of the clocks and a leap year often enough
_FAR_AHEAD = timedelta(days=41 * 366)  # the rarest expression, a leap day on one weekday, comes within forty years
_SPANS_LOOKED_AT = 10_000  # of long windows fewer periods are enough
_PERIODS_LOOKED_AT = 400  # more than a year of a daily job


def lint(job: Job, now: Instant) -> list[Finding]:
    """Return the warnings about a valid job, as of now."""
    periods = list(islice(job.timing.schedule.between(now, now + _FAR_AHEAD), _PERIODS_LOOKED_AT))
    return [warning for check in _CHECKS for warning in check(job, now, periods)]


def _warning(field: str, message: str, fix: str = "") -> Finding:
    return Finding("warning", field, message, fix)


# --- each check -------------------------------------------------------------------------------------------------------


def _missing_days(job: Job, _now: Instant, _periods: list[Instant]) -> Iterator[Finding]:
    expression = job.timing.schedule.expression
    if expression.day.full or expression.either_day:
        return
    days, months = expression.day, expression.month
    lacking = [month for month in months if not any(day <= longest(month) for day in days)]
    if lacking:
        names = ", ".join(months.unit.name_of(month).capitalize() for month in lacking)
        yield _warning("day", f"never matches in {names}: no day {days.first} there", "use day 28 to run every month")
    if 2 in months and days.first == 29:
        yield _warning("day", "29 February occurs in leap years only", "use day 28 to run every year")


def _either_day(job: Job, _now: Instant, _periods: list[Instant]) -> Iterator[Finding]:
    expression = job.timing.schedule.expression
    if expression.either_day and not (expression.day.full or expression.weekday.full):
        yield _warning(
            "weekday",
            "day and weekday are both restricted, so a day that matches either of them runs",
        )


def _uneven_steps(job: Job, _now: Instant, _periods: list[Instant]) -> Iterator[Finding]:
    expression = job.timing.schedule.expression
    texts = expression.text.split()
    for text, field, size in zip(texts, (expression.minute, expression.hour), (60, 24), strict=False):
        step = text.removeprefix("*/")
        if not text.startswith("*/") or not step.isdigit() or size % int(step) == 0:
            continue
        unit = field.unit.name
        if int(step) >= size:
            yield _warning(unit, f"{text} names only {unit} 0", f"the largest step that repeats is {size // 2}")
        else:
            last = size - field.last
            yield _warning(unit, f"{text} does not divide {size}: the last step before the turn is {last}, not {step}")


def _clock_changes(job: Job, now: Instant, _periods: list[Instant]) -> Iterator[Finding]:
    schedule = job.timing.schedule
    if schedule.expression.hour.full:  # such a line follows real time through the night
        return
    table = schedule.zone.table_at(now + _YEARS_AHEAD)
    indices = range(table.segment(now) + 1, table.segment(now + _YEARS_AHEAD) + 1)
    gap = next((i for i in indices if _named_between(schedule, table, i, gap=True)), None)
    fold = next((i for i in indices if _named_between(schedule, table, i, gap=False)), None)
    if gap is not None and schedule.gap is Gaps.SKIP:
        yield _warning(
            "schedule",
            f"names a time that does not exist on {_night(table, gap)} in {schedule.timezone}: that run is skipped",
            "add @dst(gap=shift) to run right after the gap",
        )
    if fold is not None and schedule.repeated is Repeated.BOTH:
        yield _warning(
            "schedule",
            f"names a time that occurs twice on {_night(table, fold)} in {schedule.timezone}: it runs both times",
            "add @dst(repeated=first) to run once",
        )


def _named_between(schedule: Schedule, table: Table, i: int, *, gap: bool) -> bool:
    before, after = table.starts[i] + table.offsets[i - 1], table.starts[i] + table.offsets[i]
    low, high = (before, after) if gap else (after, before)
    wall = schedule.expression.after(low - MICROSECOND)
    return wall is not None and wall < high


def _night(table: Table, i: int) -> str:
    return (table.starts[i] + table.offsets[i - 1]).date().isoformat()


def _overlapping_windows(job: Job, _now: Instant, periods: list[Instant]) -> Iterator[Finding]:
    spacing = min((later - earlier for earlier, later in pairwise(periods)), default=None)
    duration = job.timing.window.duration
    if spacing is not None and duration > spacing:
        yield _warning(
            "window",
            f"{format_duration(duration)} is longer than the shortest spacing, {format_duration(spacing)}: "
            "windows overlap and periods may run out of order",
            f"shorten it to {format_duration(spacing)}",
        )


def _unschedulable(job: Job, _now: Instant, periods: list[Instant]) -> Iterator[Finding]:
    timing = job.timing
    if not timing.constraints:
        return
    reports: list[Report] = []
    spans = 0
    for nominal in periods:
        reports.append(report(timing, nominal))
        spans += len(reports[-1].spans)
        if spans > _SPANS_LOOKED_AT:
            break
    expected = sum(found.risk for found in reports) / max(len(reports), 1)
    if expected > RISK_WORTH_A_WARNING:
        least = min(reports, key=lambda found: found.share)
        yield _warning(
            "constraint",
            f"{expected:.0%} of the periods will find no allowed second; in the worst, {format_instant(least.start)}, "
            f"{least.share:.1%} of the window is allowed",
            "widen the window or the constraint, or move the schedule into the allowed time",
        )


def _no_deadline(job: Job, _now: Instant, _periods: list[Instant]) -> Iterator[Finding]:
    if job.policy.deadline == ZERO:
        yield _warning(
            "deadline", "is 0s: a restart at the chosen second loses that run", "add @policy(deadline=10m) or longer"
        )


_CHECKS: tuple[Callable[[Job, Instant, list[Instant]], Iterator[Finding]], ...] = (
    _uneven_steps,
    _missing_days,
    _either_day,
    _clock_changes,
    _overlapping_windows,
    _unschedulable,
    _no_deadline,
)

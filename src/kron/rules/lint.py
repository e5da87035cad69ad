"""Linter(now).check(timing, policy) -> findings: what is valid and yet unlikely to be what its author meant."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import islice, pairwise

from kron.cron.expression import max_days
from kron.cron.schedule import GapPolicy, RepeatedPolicy, Schedule
from kron.cron.zone import UTC_ZONE, OffsetTable
from kron.decision.feasibility import FeasibilityForecast, YearFeasibility
from kron.decision.timing import Timing
from kron.errors import Fix, Remedy
from kron.errors.diagnostics import Diagnostic
from kron.instant import MICROSECOND, ZERO, Instant, format_duration, format_instant
from kron.rules.policy import Policy

RISK_WORTH_A_WARNING = 0.01  # one period in a hundred; excluding single days on purpose stays below it
_YEARS_AHEAD = timedelta(
    days=3 * 366
)  # three years show every yearly change of the clocks and a leap year often enough
_FAR_AHEAD = timedelta(days=41 * 366)  # the rarest expression, a leap day on one weekday, comes within forty years
_PERIODS_LOOKED_AT = 400  # more than a year of a daily job
_LATER = Fix("deadline", "10m", "or longer")
_LARGEST_CHANGE = timedelta(hours=3)  # of the clocks of any zone, in the years to come


class Linter:
    """Warns about many jobs. What it found out about a schedule holds for all jobs that share it."""

    def __init__(self, now: Instant) -> None:
        self._now = now
        self._schedules: dict[
            int, tuple[Schedule, list[Diagnostic]]
        ] = {}  # by identity, and kept, so that it stays one's
        self._spacings: dict[int, timedelta | None] = {}
        self._risks: dict[object, list[Diagnostic]] = {}
        self._outlook = FeasibilityForecast(now)

    def check(self, timing: Timing, policy: Policy) -> list[Diagnostic]:
        """Return the warnings about one valid job."""
        found = self._of_schedule(timing.schedule) + self._overlapping_windows(timing)
        return found + self._unschedulable(timing) + _no_deadline(policy)

    def _of_schedule(self, schedule: Schedule) -> list[Diagnostic]:
        known = self._schedules.get(id(schedule))
        if known is None:
            found = [warning for check in _CHECKS for warning in check(schedule, self._now)]
            known = self._schedules[id(schedule)] = schedule, found
        return known[1]

    def _overlapping_windows(self, timing: Timing) -> list[Diagnostic]:
        duration, schedule = timing.window.duration, timing.schedule
        if duration <= _surely_apart(schedule):
            return []
        if id(schedule) not in self._spacings:
            pairs = pairwise(_periods(schedule, self._now))
            self._spacings[id(schedule)] = min((later - earlier for earlier, later in pairs), default=None)
        spacing = self._spacings[id(schedule)]
        if spacing is None or duration <= spacing:
            return []
        message = (
            f"{format_duration(duration)} is longer than the shortest spacing, {format_duration(spacing)}: "
            "windows overlap and periods may run out of order"
        )
        return [_warning("window", message, f"shorten it to {format_duration(spacing)}")]

    def _unschedulable(self, timing: Timing) -> list[Diagnostic]:
        if not timing.constraints:
            return []
        key = (id(timing.schedule), timing.window, timing.distribution, timing.constraints)
        if key not in self._risks:
            self._risks[key] = list(_unschedulable(self._outlook.forecast(timing)))
        return self._risks[key]


def _periods(schedule: Schedule, now: Instant) -> Iterator[Instant]:
    return islice(schedule.between(now, now + _FAR_AHEAD), _PERIODS_LOOKED_AT)


def _warning(field: str, message: str, fix: Remedy = "") -> Diagnostic:
    return Diagnostic("warning", field, message, fix)


# --- each check -------------------------------------------------------------------------------------------------------


def _missing_days(schedule: Schedule, _now: Instant) -> Iterator[Diagnostic]:
    expression = schedule.expression
    if expression.day.is_full or expression.matches_either_day:
        return
    days, months = expression.day, expression.month
    lacking = [month for month in months if not any(day <= max_days(month) for day in days)]
    if lacking:
        names = ", ".join(months.unit.name_of(month).capitalize() for month in lacking)
        yield _warning("schedule", f"never matches in {names}: no day {days.first}", "use day 28 to run every month")
    if 2 in months and days.first == 29:
        yield _warning("schedule", "29 February occurs in leap years only", "use day 28 to run every year")


def _either_day(schedule: Schedule, _now: Instant) -> Iterator[Diagnostic]:
    expression = schedule.expression
    if expression.matches_either_day and not (expression.day.is_full or expression.weekday.is_full):
        yield _warning(
            "schedule",
            "day and weekday are both restricted, so a day that matches either of them runs",
        )


def _uneven_steps(schedule: Schedule, _now: Instant) -> Iterator[Diagnostic]:
    expression = schedule.expression
    texts = expression.text.split()
    for text, field, size in zip(texts, (expression.minute, expression.hour), (60, 24), strict=False):
        step = text.removeprefix("*/")
        if not text.startswith("*/") or not step.isdigit() or size % int(step) == 0:
            continue
        unit = field.unit.name
        if int(step) >= size:
            yield _warning("schedule", f"{text} names only {unit} 0", f"the largest step that repeats is {size // 2}")
        else:
            last = size - field.last
            yield _warning("schedule", f"{text} does not divide {size}: the last step is {last}, not {step}")


def _clock_changes(schedule: Schedule, now: Instant) -> Iterator[Diagnostic]:
    if schedule.expression.hour.is_full:  # such a line follows real time through the night
        return
    table = schedule.zone.table_at(now + _YEARS_AHEAD)
    indices = range(table.segment(now) + 1, table.segment(now + _YEARS_AHEAD) + 1)
    gap = next((i for i in indices if _named_between(schedule, table, i, gap=True)), None)
    fold = next((i for i in indices if _named_between(schedule, table, i, gap=False)), None)
    if gap is not None and schedule.gap is GapPolicy.SKIP:
        yield _warning(
            "schedule",
            f"names a time that does not exist on {_night(table, gap)} in {schedule.timezone}: that run is skipped",
            Fix("gap", GapPolicy.SHIFT.value, "to run right after the gap"),
        )
    if fold is not None and schedule.repeated is RepeatedPolicy.BOTH:
        yield _warning(
            "schedule",
            f"names a time that occurs twice on {_night(table, fold)} in {schedule.timezone}: it runs both times",
            Fix("repeated", RepeatedPolicy.FIRST.value, "to run once"),
        )


def _named_between(schedule: Schedule, table: OffsetTable, i: int, *, gap: bool) -> bool:
    before, after = table.starts[i] + table.offsets[i - 1], table.starts[i] + table.offsets[i]
    low, high = (before, after) if gap else (after, before)
    wall = schedule.expression.after(low - MICROSECOND)
    return wall is not None and wall < high


def _night(table: OffsetTable, i: int) -> str:
    return (table.starts[i] + table.offsets[i - 1]).date().isoformat()


def _surely_apart(schedule: Schedule) -> timedelta:
    """Return a time that certainly lies between two occurrences, read from the text and not from the calendar."""
    expression = schedule.expression
    minutes, hours = list(expression.minute), list(expression.hour)
    inside = [later - earlier for earlier, later in pairwise(minutes)]
    across = [later - earlier for earlier, later in pairwise(hours)] + [24 - hours[-1] + hours[0]]
    least = min([*inside, *(60 * hour + minutes[0] - minutes[-1] for hour in across)])
    return timedelta(minutes=least) - (ZERO if schedule.zone is UTC_ZONE else _LARGEST_CHANGE)


def _unschedulable(prospect: YearFeasibility | None) -> Iterator[Diagnostic]:
    if prospect is not None and prospect.failing_share > RISK_WORTH_A_WARNING:
        yield _warning(
            "constraint",
            f"{prospect.failing_share:.0%} of the periods will find no allowed second; in the worst, "
            f"{format_instant(prospect.worst)}, {prospect.allowed:.1%} of the window is allowed",
            "widen the window or the constraint, or move the schedule into the allowed time",
        )


def _no_deadline(policy: Policy) -> list[Diagnostic]:
    if policy.deadline != ZERO:
        return []
    return [_warning("deadline", "is 0s: a restart at the chosen second loses that run", _LATER)]


_CHECKS: tuple[Callable[[Schedule, Instant], Iterator[Diagnostic]], ...] = (
    _uneven_steps,
    _missing_days,
    _either_day,
    _clock_changes,
)

"""Entries and spans for forecast tests, and the slow way to list the decisions of a span."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

from hypothesis import strategies as st

from kron.decision.decide import decide
from kron.decision.decision import Decision
from kron.decision.timing import Timing
from kron.forecast.runs import ForecastJob, TimeSpan
from kron.rules.periods import effective_time

NOON = datetime(2026, 3, 29, 12, tzinfo=UTC)  # the day on which the clocks of Europe go forward
LINES = (
    "*/20 * * * *",
    "0 * * * *",
    "*/15 * * * * @win(after,30m)",
    "*/30 * * * * @win(around,2h)",
    "0 * * * * @win(after,90m) @dist(skewLate)",
    "*/10 * * * * @win(after,1h) @only(between=12:00-12:20)",
    "30 2 * * * @tz(Europe/Paris) @win(around,26h)",
    "0 */2 * * * @tz(Asia/Kolkata) @win(after,10m) @seed(daily)",
)


@lru_cache
def entry(line: str, name: str = "job") -> ForecastJob:
    """Return the entry of a schedule line."""
    return ForecastJob(name, Timing.parse(line, identity=f"test/{name}"))


def span(begin: datetime | str, end: datetime | str | timedelta) -> TimeSpan:
    """Return a span from texts or instants."""
    since = datetime.fromisoformat(begin) if isinstance(begin, str) else begin
    if isinstance(end, timedelta):
        return TimeSpan(since, since + end)
    return TimeSpan(since, datetime.fromisoformat(end) if isinstance(end, str) else end)


@lru_cache
def _all(each: ForecastJob) -> list[Decision]:
    """Decide every period that a span of `spans`, or one a few days longer, could touch."""
    days = timedelta(days=5)
    return [decide(each.timing, nominal) for nominal in each.timing.schedule.between(NOON - days, NOON + days)]


def by_brute_force(entries: list[ForecastJob], wanted: TimeSpan) -> list[tuple[ForecastJob, Decision]]:
    """Look at every period that could matter, and sort."""
    found = [(each, decision) for each in entries for decision in _all(each)]
    inside = [pair for pair in found if wanted.since < effective_time(pair[1]) <= wanted.until]
    return sorted(inside, key=lambda pair: (effective_time(pair[1]), pair[0].identity, pair[1].nominal_time))


entry_lists = st.lists(st.sampled_from(LINES), min_size=1, max_size=5).map(
    lambda lines: [entry(line, f"job-{number}") for number, line in enumerate(lines)]
)
spans = st.builds(
    lambda start, length: span(NOON + timedelta(seconds=start), timedelta(seconds=length)),
    st.integers(-50_000, 50_000),
    st.integers(0, 20_000),
)

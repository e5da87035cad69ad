"""Tests of lint: warnings about valid lines, as of a given day."""

from kron import Job
from kron.instant import parse_instant
from kron.rules.lint import Linter

# Europe/Paris: clocks go forward on 29 March 2026 and back on 25 October 2026.
JANUARY = parse_instant("2026-01-15T00:00:00Z")


def warnings(line: str) -> list[str]:
    job = Job.parse(f"{line} @policy(deadline=1m)", identity="a")
    return [finding.message for finding in Linter(JANUARY).check(job.timing, job.policy)]


def test_the_first_night_that_a_line_is_hit_by_is_named() -> None:
    assert warnings("30 2 * * * @tz(Europe/Paris)") == [
        "names a time that does not exist on 2026-03-29 in Europe/Paris: that run is skipped",
        "names a time that occurs twice on 2026-10-25 in Europe/Paris: it runs both times",
    ]


def test_a_line_that_is_asleep_on_those_nights_is_not_warned_about() -> None:
    assert warnings("30 2 * * MON @tz(Europe/Paris)") == []


def test_the_share_of_failing_periods_is_an_expectation_over_them_all() -> None:
    (message,) = warnings("0 18 * * * @only(dow=MON-THU)")

    assert message.startswith("43% of the periods will find no allowed second")

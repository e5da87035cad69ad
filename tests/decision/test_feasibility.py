"""Feasibility reports: the allowed share of a window, the chance of a candidate and the risk of a period."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings, strategies as st

from kron import Timing, decide
from kron.decision.decision import MAX_ATTEMPTS
from kron.decision.feasibility import Feasibility, feasibility
from kron.errors import NaiveDatetimeError, OutOfRangeError
from kron.instant import parse_instant
from tests.decision import reference
from tests.decision.reference_shape import resolve
from tests.decision.strategies import NIGHTS, ZONES, clauses, distributions

SECOND = timedelta(seconds=1)
six_in_the_evening = parse_instant("2026-03-01T18:00:00Z")


def timing(line: str) -> Timing:
    return Timing.parse(line, identity="test/job")


def spans(found: Feasibility) -> list[tuple[str, str]]:
    return [(f"{first:%d %H:%M:%S}", f"{last:%d %H:%M:%S}") for first, last in found.spans]


def seconds(found: Feasibility) -> list[datetime]:
    count = (found.end - found.start) // SECOND + 1
    return [found.start + SECOND * number for number in range(count)]


def seconds_inside(found: Feasibility) -> set[datetime]:
    return {first + SECOND * n for first, last in found.spans for n in range((last - first) // SECOND + 1)}


# --- examples ---------------------------------------------------------------------------------------------------------


def test_without_constraints_everything_is_allowed_and_nothing_is_at_risk() -> None:
    found = feasibility(timing("0 18 * * * @win(after,1h)"), six_in_the_evening)

    assert spans(found) == [("01 18:00:00", "01 19:00:00")]
    assert (found.allowed_share, found.acceptance, found.failure_probability) == (1.0, 1.0, 0.0)


def test_a_thirty_sixth_of_the_window_leaves_a_risk_of_sixteen_percent() -> None:
    found = feasibility(timing("0 18 * * * @win(after,6h) @only(between=20:00-20:09)"), six_in_the_evening)

    assert found.allowed_share == pytest.approx(0.028, abs=0.0005)
    assert found.failure_probability == pytest.approx(0.16, abs=0.005)


def test_the_risk_is_that_of_sixty_four_rejections_in_a_row() -> None:
    found = feasibility(timing("0 18 * * * @win(after,1h) @only(between=18:58-19:00)"), six_in_the_evening)

    assert found.allowed_share == found.acceptance == pytest.approx(121 / 3601)
    assert found.failure_probability == pytest.approx((3480 / 3601) ** MAX_ATTEMPTS)


def test_a_late_distribution_makes_a_late_span_more_likely() -> None:
    line = "0 18 * * * @win(after,1h) @only(between=18:50-19:00) @dist({})"

    early, even, late = (
        feasibility(timing(line.format(name)), six_in_the_evening) for name in ("skewEarly", "uniform", "skewLate")
    )

    assert early.acceptance < even.acceptance < late.acceptance
    assert early.allowed_share == even.allowed_share == late.allowed_share
    assert early.failure_probability > even.failure_probability > late.failure_probability


def test_a_window_without_an_allowed_second_is_a_certain_failure() -> None:
    found = feasibility(timing("0 18 * * * @win(after,1h) @only(hours=3)"), six_in_the_evening)

    assert (found.spans, found.allowed_share, found.acceptance, found.failure_probability) == ((), 0.0, 0.0, 1.0)


@pytest.mark.parametrize(("constraint", "risk"), [("@only(hours=18)", 0.0), ("@avoid(hours=18)", 1.0)])
def test_a_window_of_one_second_is_allowed_or_not(constraint: str, risk: float) -> None:
    found = feasibility(timing(f"0 18 * * * {constraint}"), six_in_the_evening)

    assert found.failure_probability == risk
    assert found.allowed_share == found.acceptance == 1 - risk


def test_spans_that_touch_are_one() -> None:
    found = feasibility(timing("0 18 * * * @win(after,12h) @only(hours=20-23,0-2)"), six_in_the_evening)

    assert spans(found) == [("01 20:00:00", "02 02:59:59")]


def test_a_window_of_days_has_a_span_a_day() -> None:
    found = feasibility(timing("0 18 * * * @win(after,72h) @only(between=08:00-08:59;dow=MON-TUE)"), six_in_the_evening)

    assert spans(found) == [("02 08:00:00", "02 08:59:59"), ("03 08:00:00", "03 08:59:59")]


# --- nights on which the clocks change --------------------------------------------------------------------------------


def test_a_missing_hour_has_no_span() -> None:
    # Paris, 29 March 2026: 02:00 to 02:59 do not occur; 01:59:59+01:00 is followed by 03:00:00+02:00.
    line = "0 1 * * * @tz(Europe/Paris) @win(after,2h) @only({})"
    one_at_night = parse_instant("2026-03-29T01:00:00+01:00")

    missing = feasibility(timing(line.format("hours=2")), one_at_night)
    around = feasibility(timing(line.format("between=01:59-03:00")), one_at_night)

    assert missing.failure_probability == 1.0
    assert spans(around) == [("29 00:59:00", "29 01:00:59")]


def test_a_repeated_hour_has_two_spans() -> None:
    # Paris, 25 October 2026: 02:00 to 02:59 occur twice, first at +02:00, then at +01:00.
    line = "0 1 * * * @tz(Europe/Paris) @win(after,4h) @only(between=02:00-02:29)"

    found = feasibility(timing(line), parse_instant("2026-10-25T01:00:00+02:00"))

    assert spans(found) == [("25 00:00:00", "25 00:29:59"), ("25 01:00:00", "25 01:29:59")]


def test_a_missing_day_has_no_span() -> None:
    # Apia left out 30 December 2011: 29 December 23:59:59-10:00 is followed by 31 December 00:00:00+14:00.
    line = "0 12 * * * @tz(Pacific/Apia) @win(after,48h) @only(dates=2011-12-{0}..2011-12-{0})"
    noon = parse_instant("2011-12-29T12:00:00-10:00")

    found = [spans(feasibility(timing(line.format(day)), noon)) for day in (29, 30, 31)]

    assert found == [[("29 22:00:00", "30 09:59:59")], [], [("30 10:00:00", "31 09:59:59")]]


def test_a_zone_with_odd_seconds_has_spans_at_odd_seconds() -> None:
    # Monrovia was 00:44:30 behind until 7 January 1972.
    line = "0 12 * * * @tz(Africa/Monrovia) @win(around,4h) @only(hours=12)"

    found = feasibility(timing(line), parse_instant("1971-06-01T12:44:30Z"))

    assert spans(found) == [("01 12:44:30", "01 13:44:29")]


# --- brute force ------------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(
    zone=st.sampled_from(ZONES),
    night=st.sampled_from(NIGHTS),
    shift=st.integers(-5000, 5000),
    minutes=st.integers(1, 90),
    mode=st.sampled_from(["after", "around"]),
    distribution=distributions,
    only=st.lists(clauses, max_size=2),
    avoid=st.lists(clauses, max_size=2),
)
def test_a_report_says_what_trying_every_second_says(
    zone: str,
    night: datetime,
    shift: int,
    minutes: int,
    mode: str,
    distribution: dict[str, object],
    only: list[str],
    avoid: list[str],
) -> None:
    definition = {
        "schedule": "@hourly",
        "timeZone": zone,
        "window": {"mode": mode, "duration": f"{minutes}m"},
        "distribution": distribution,
        "constraints": {"only": only, "avoid": avoid},
    }
    shape = resolve(distribution, mode, reference.window_bounds(mode, f"{minutes}m"))

    found = feasibility(Timing.from_dict(definition, identity="test/job"), night + SECOND * shift)

    every = seconds(found)
    allowed = [at for at in every if reference.allowed(reference.wall_time(at, zone), definition["constraints"])]  # type: ignore[arg-type] # a table
    edges = [shape.below(number / len(every)) for number in range(len(every) + 1)]
    chances = {at: edges[number + 1] - edges[number] for number, at in enumerate(every)}
    assert seconds_inside(found) == set(allowed)
    assert found.allowed_share == len(allowed) / len(every)
    assert found.acceptance == pytest.approx(sum(chances[at] for at in allowed), abs=1e-6)
    assert found.failure_probability == pytest.approx((1 - found.acceptance) ** 64)


@settings(max_examples=25)
@given(st.sampled_from(ZONES), st.sampled_from(NIGHTS), st.integers(1, 9), st.lists(clauses, min_size=1, max_size=3))
def test_a_report_on_days_says_what_trying_every_minute_says(
    zone: str, night: datetime, days: int, given: list[str]
) -> None:
    line = f"0 0 * * * @tz({zone}) @win(after,{days * 24}h) @only({';'.join(given)})"
    start = night.replace(second=30) if zone == "Africa/Monrovia" else night.replace(second=0)

    found = feasibility(timing(line), start)

    minutes = [start + timedelta(minutes=number) for number in range(days * 24 * 60)]
    allowed = {at for at in minutes if reference.allowed(reference.wall_time(at, zone), {"only": given})}
    assert {at for at in minutes if any(first <= at <= last for first, last in found.spans)} == allowed


def test_the_risk_is_the_share_of_seeds_that_fail() -> None:
    line = "0 18 * * * @win(after,6h) @only(between=20:00-20:09)"
    expected = feasibility(timing(line), six_in_the_evening).failure_probability

    failures = sum(
        decide(Timing.parse(line, identity=f"job-{number}"), six_in_the_evening).chosen_time is None
        for number in range(1500)
    )

    assert failures / 1500 == pytest.approx(expected, abs=0.03)


# --- borders ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "nominal"),
    [
        ("0 0 * * * @win(after,2h)", "9999-12-31T23:00:00Z"),
        ("0 0 * * * @tz(America/New_York) @win(after,2h) @only(hours=1)", "0001-01-01T00:00:00Z"),
    ],
)
def test_a_window_that_leaves_the_calendar_is_out_of_range(line: str, nominal: str) -> None:
    with pytest.raises(OutOfRangeError):
        feasibility(timing(line), parse_instant(nominal))


def test_a_naive_nominal_time_is_refused() -> None:
    with pytest.raises(NaiveDatetimeError):
        feasibility(timing("0 18 * * * @win(after,2h)"), datetime(2026, 3, 1, 18, tzinfo=UTC).replace(tzinfo=None))

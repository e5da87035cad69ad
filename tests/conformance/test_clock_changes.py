"""Time: the zone of the host, and the hours that its clocks skip and repeat.

In 2026 clocks in Berlin go from 02:00 (UTC+1) to 03:00 (UTC+2) on 29 March at 01:00Z, and from 03:00 (UTC+2) to 02:00
(UTC+1) on 25 October at 01:00Z. In New York they go forwards on 8 March at 07:00Z, from UTC-5 to UTC-4.
"""

import pytest

from kron.instant import Instant
from kron.rules.contract import Contract
from tests.conformance.citing import clause
from tests.conformance.contract_harness import MINUTE, ContractHarness, times

BERLIN = "Europe/Berlin"
FIRST_PASSAGE = "2026-10-25T02:30:00+02:00"
SECOND_PASSAGE = "2026-10-25T02:30:00+01:00"


async def runs(contract: Contract, cron: str, since: str, until: str) -> list[Instant]:
    """Return when a task of a host in Berlin runs if one scheduler lasts all the time."""
    harness = ContractHarness(contract, since, timezone=BERLIN)
    await harness.start(harness.task(cron=cron))
    await harness.until(until)
    return harness.starts()


async def runs_but(contract: Contract, since: str, *, down: str, up: str, until: str) -> list[Instant]:
    """Return when a task of half past two runs if the host is down for a while."""
    harness = ContractHarness(contract, since, timezone=BERLIN)
    scheduler = await harness.start(harness.task(cron="30 2 * * *"))
    await harness.until(down)
    await scheduler.stop()
    await harness.until(up)
    await harness.start(harness.task(cron="30 2 * * *"))
    await harness.until(until)
    return harness.starts()


# --- the zone of the host ---------------------------------------------------------------------------------------------


@clause("time.local-zone")
@pytest.mark.parametrize(
    ("host", "cron", "expected"),
    [
        ("UTC", "0 9 * * *", "2026-03-02T09:00:00Z"),
        ("Asia/Tokyo", "0 9 * * *", "2026-03-02T09:00:00+09:00"),
        ("America/New_York", "0 9 * * *", "2026-03-02T09:00:00-05:00"),
        ("Asia/Kathmandu", "0 9 * * *", "2026-03-02T09:00:00+05:45"),
        ("Asia/Tokyo", "0 1 3 * *", "2026-03-03T01:00:00+09:00"),
        ("America/New_York", "0 21 * * 0", "2026-03-01T21:00:00-05:00"),
    ],
    ids=["UTC", "Tokyo", "New York", "Kathmandu", "a day that is not that of UTC", "a weekday that is not that of UTC"],
)
async def test_expressions_are_read_in_the_zone_of_the_host(
    contract: Contract, monkeypatch: pytest.MonkeyPatch, host: str, cron: str, expected: str
) -> None:
    monkeypatch.setenv("TZ", host)
    harness = ContractHarness(contract, "2026-03-01T23:30:30Z", timezone=None)

    await harness.start(harness.task(cron=cron))
    await harness.until("2026-03-02T20:00:00Z")

    assert harness.starts() == times(expected)


@clause("time.local-zone", "start.evaluates-cron")
async def test_the_first_minute_is_a_minute_of_the_host(contract: Contract, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    harness = ContractHarness(contract, "10:07:30", timezone=None)

    await harness.start(harness.task("here", "7 19 * * *"), harness.task("in Greenwich", "7 10 * * *"))

    assert [name for name, _ in harness.began] == ["here"]


@clause("time.dst-of-the-host")
@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("America/New_York", ["2026-03-07T14:00:00Z", "2026-03-08T13:00:00Z"]),
        ("America/Phoenix", ["2026-03-07T16:00:00Z", "2026-03-08T16:00:00Z"]),
        ("Europe/Berlin", ["2026-03-07T08:00:00Z", "2026-03-08T08:00:00Z"]),
    ],
    ids=["changes that night", "never changes", "changes another night"],
)
async def test_clocks_change_when_they_change_where_the_host_is(
    contract: Contract, monkeypatch: pytest.MonkeyPatch, host: str, expected: list[str]
) -> None:
    monkeypatch.setenv("TZ", host)
    harness = ContractHarness(contract, "2026-03-07T00:00:30Z", timezone=None)

    await harness.start(harness.task(cron="0 9 * * *"))
    await harness.until("2026-03-08T23:00:00Z")

    assert harness.starts() == times(*expected)


# --- the hour that is lost --------------------------------------------------------------------------------------------


@clause("time.gap-is-skipped")
async def test_a_minute_that_is_jumped_over_is_skipped(contract: Contract) -> None:
    starts = await runs(contract, "30 1-4 * * *", "2026-03-29T00:00:00+01:00", "2026-03-29T12:00:00+02:00")

    assert starts == times("2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00", "2026-03-29T04:30:00+02:00")


@clause("time.gap-is-skipped")
async def test_minutes_follow_one_another_across_the_gap(contract: Contract) -> None:
    starts = await runs(contract, "* * * * *", "2026-03-29T01:58:00+01:00", "2026-03-29T03:01:00+02:00")

    first = times("2026-03-29T01:58:00+01:00")[0]
    assert starts == [first + MINUTE * number for number in range(4)]


@clause("time.gap-not-that-day")
@pytest.mark.parametrize("minute", [0, 30, 59])
async def test_a_task_of_the_lost_hour_does_not_run_on_that_day(contract: Contract, minute: int) -> None:
    cron = f"{minute} 2 * * *"

    starts = await runs(contract, cron, "2026-03-28T00:00:00+01:00", "2026-03-30T12:00:00+02:00")

    assert starts == times(f"2026-03-28T02:{minute:02}:00+01:00", f"2026-03-30T02:{minute:02}:00+02:00")


@clause("time.gap-not-that-day")
async def test_the_lost_hour_is_not_caught_up_with_after_a_downtime(contract: Contract) -> None:
    day = "2026-03-28T00:00:00+01:00"
    down, up, end = "2026-03-28T12:00:00+01:00", "2026-03-29T12:00:00+02:00", "2026-03-29T23:00:00+02:00"

    starts = await runs_but(contract, day, down=down, up=up, until=end)

    assert starts == times("2026-03-28T02:30:00+01:00")


# --- the hour that is repeated ----------------------------------------------------------------------------------------


@clause("time.fold-at-most-once", "time.fold-first-only")
async def test_a_repeated_minute_gives_a_run_at_its_first_passage_only(contract: Contract) -> None:
    starts = await runs(contract, "30 2 * * *", "2026-10-24T12:00:00+02:00", "2026-10-25T12:00:00+01:00")

    assert starts == times(FIRST_PASSAGE)


@clause("time.fold-first-only")
async def test_an_hourly_task_rests_during_the_second_passage(contract: Contract) -> None:
    starts = await runs(contract, "30 * * * *", "2026-10-25T01:00:00+02:00", "2026-10-25T04:00:00+01:00")

    assert starts == times("2026-10-25T01:30:00+02:00", FIRST_PASSAGE, "2026-10-25T03:30:00+01:00")


@clause("time.fold-at-most-once", "time.fold-first-only")
@pytest.mark.parametrize(
    "back",
    [
        "2026-10-25T02:45:00+02:00",
        "2026-10-25T02:10:00+01:00",
        "2026-10-25T02:30:10+01:00",
        "2026-10-25T02:50:00+01:00",
    ],
    ids=["before the change", "before the second passage", "in the second passage", "after both"],
)
async def test_a_run_that_catches_up_counts_as_the_first_passage(contract: Contract, back: str) -> None:
    since, down, end = "2026-10-24T12:00:00+02:00", "2026-10-24T18:00:00+02:00", "2026-10-25T12:00:00+01:00"

    starts = await runs_but(contract, since, down=down, up=back, until=end)

    assert starts == times(back)


@clause("time.fold-first-only")
async def test_a_restart_between_the_passages_does_not_bring_the_second(contract: Contract) -> None:
    since, end = "2026-10-25T02:00:00+02:00", "2026-10-25T12:00:00+01:00"
    down, up = "2026-10-25T02:45:00+02:00", "2026-10-25T02:15:00+01:00"

    starts = await runs_but(contract, since, down=down, up=up, until=end)

    assert starts == times(FIRST_PASSAGE)


@clause("time.fold-first-only")
async def test_a_task_that_first_comes_in_the_second_passage_does_not_run_in_it(contract: Contract) -> None:
    starts = await runs(contract, "30 2 * * *", "2026-10-25T02:30:20+01:00", "2026-10-25T12:00:00+01:00")

    assert starts == []


@clause("time.fold-both", "time.fold-several")
async def test_a_repeated_minute_gives_a_run_at_each_passage(contract: Contract) -> None:
    starts = await runs(contract, "30 2 * * *", "2026-10-24T12:00:00+02:00", "2026-10-25T12:00:00+01:00")

    assert starts == times(FIRST_PASSAGE, SECOND_PASSAGE)


@clause("time.fold-several")
async def test_an_hourly_task_goes_on_every_hour_through_the_repeated_one(contract: Contract) -> None:
    starts = await runs(contract, "30 * * * *", "2026-10-25T01:00:00+02:00", "2026-10-25T04:00:00+01:00")

    assert starts == times("2026-10-25T01:30:00+02:00", FIRST_PASSAGE, SECOND_PASSAGE, "2026-10-25T03:30:00+01:00")


@clause("time.fold-both")
async def test_a_restart_between_the_passages_does_not_take_the_second_away(contract: Contract) -> None:
    since, end = "2026-10-25T02:00:00+02:00", "2026-10-25T12:00:00+01:00"
    down, up = "2026-10-25T02:45:00+02:00", "2026-10-25T02:15:00+01:00"

    starts = await runs_but(contract, since, down=down, up=up, until=end)

    assert starts == times(FIRST_PASSAGE, SECOND_PASSAGE)


@clause("time.fold-both")
async def test_a_task_that_first_comes_in_the_second_passage_runs_in_it(contract: Contract) -> None:
    starts = await runs(contract, "30 2 * * *", "2026-10-25T02:30:20+01:00", "2026-10-25T12:00:00+01:00")

    assert starts == times("2026-10-25T02:30:20+01:00")


# --- afterwards -------------------------------------------------------------------------------------------------------


@clause("time.dst-goes-on")
@pytest.mark.parametrize(
    ("since", "expected"),
    [
        (
            "2026-03-28T00:00:00+01:00",
            ["2026-03-28T03:30:00+01:00", "2026-03-29T03:30:00+02:00", "2026-03-30T03:30:00+02:00"],
        ),
        (
            "2026-10-24T00:00:00+02:00",
            ["2026-10-24T03:30:00+02:00", "2026-10-25T03:30:00+01:00", "2026-10-26T03:30:00+01:00"],
        ),
    ],
    ids=["forwards", "back"],
)
async def test_a_daily_task_goes_on_through_a_change(contract: Contract, since: str, expected: list[str]) -> None:
    starts = await runs(contract, "30 3 * * *", since, expected[-1])

    assert starts == times(*expected)


@clause("time.dst-goes-on")
@pytest.mark.parametrize(
    ("since", "expected"),
    [
        (
            "2026-03-29T01:00:00+01:00",
            ["2026-03-29T01:50:00+01:00", "2026-03-29T03:50:00+02:00", "2026-03-29T04:50:00+02:00"],
        ),
        (
            "2026-10-25T01:00:00+02:00",
            ["2026-10-25T01:50:00+02:00", "2026-10-25T03:50:00+01:00", "2026-10-25T04:50:00+01:00"],
        ),
    ],
    ids=["forwards", "back"],
)
async def test_the_hours_after_a_change_have_their_runs(contract: Contract, since: str, expected: list[str]) -> None:
    starts = await runs(contract, "50 1,3,4 * * *", since, expected[-1])

    assert starts == times(*expected)


@clause("time.dst-next")
@pytest.mark.parametrize(
    ("cron", "since", "expected"),
    [
        ("0 3 * * *", "2026-03-28T12:00:00+01:00", "2026-03-29T03:00:00+02:00"),
        ("0 12 * * *", "2026-03-28T12:30:00+01:00", "2026-03-29T12:00:00+02:00"),
        ("0 0 30 * *", "2026-03-28T12:00:00+01:00", "2026-03-30T00:00:00+02:00"),
        ("30 2 29 * 1", "2026-03-28T12:00:00+01:00", "2026-03-30T02:30:00+02:00"),
        ("0 3 * * *", "2026-10-24T12:00:00+02:00", "2026-10-25T03:00:00+01:00"),
        ("0 12 * * *", "2026-10-24T12:30:00+02:00", "2026-10-25T12:00:00+01:00"),
        ("59 1 * * *", "2026-10-24T12:00:00+02:00", "2026-10-25T01:59:00+02:00"),
    ],
    ids=["end of the gap", "noon", "midnight", "no day left but Monday", "end of the fold", "winter noon", "before it"],
)
async def test_the_next_occurrence_is_right_across_a_change(
    contract: Contract, cron: str, since: str, expected: str
) -> None:
    starts = await runs(contract, cron, since, expected)

    assert starts == times(expected)

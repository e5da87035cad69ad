"""Crashes, restarts, standbys and two leaders: one Job and one outcome for each period."""

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from kron.adapters.kubernetes.client import Resource, Verb
from kron.errors import ApiError, ApiUnreachableError
from tests.hosts.operator.fake_cluster import FakeCluster, refused
from tests.hosts.operator.outcomes import periods_with_two_outcomes, periods_without_outcome
from tests.hosts.operator.replica import HOUR, MINUTE, NOON, SECOND, Replica, at_noon, live

UNREACHABLE = ApiUnreachableError(server="https://test", reason="reset")


def check(cluster: FakeCluster, *names: str) -> None:
    """One Job for each period at most, one outcome for each, and what is executed has its Job."""
    periods = Counter((job["metadata"]["annotations"]["kron.io/identity"], at) for at, job in _periods(cluster))
    assert all(number == 1 for number in periods.values()), periods
    for name in names:
        listed = Counter(period for period, _, _ in cluster.outcomes(name))
        assert all(number == 1 for number in listed.values()), listed


def _periods(cluster: FakeCluster) -> list[tuple[str, dict[str, dict[str, dict[str, str]]]]]:
    return [(job["metadata"]["annotations"]["kron.io/period-id"], job) for _, job in cluster.made]


async def test_a_replica_that_has_lost_the_lease_creates_nothing() -> None:
    cluster = at_noon()
    cluster.kronjob()
    replica = await Replica(cluster).lead()
    replica.leads = False

    await cluster.clock.advance(HOUR)

    assert cluster.made == []


async def test_a_replica_that_leads_again_after_a_short_loss_does_the_pending_work() -> None:
    cluster = at_noon()
    cluster.kronjob()
    replica = await Replica(cluster).lead()
    await cluster.clock.advance(HOUR - SECOND)

    replica.leads = False
    await cluster.clock.advance(2 * SECOND)
    replica.leads = True
    await cluster.clock.advance(SECOND)

    assert cluster.created() == [("13:00", "13:00:01")]
    assert cluster.outcomes() == [("13:00", "executed", "")]
    assert "SuccessfulCreate" in cluster.events()


async def test_a_status_that_could_not_be_written_for_a_moment_follows() -> None:
    cluster = at_noon()
    cluster.kronjob()
    replica = await Replica(cluster).lead()

    def cease(verb: str, resource: Resource) -> None:
        replica.leads = replica.leads and (verb, resource.plural) != ("create", "jobs")

    cluster.after = cease
    await cluster.clock.advance(HOUR)
    assert cluster.outcomes() == []
    replica.leads = True
    await cluster.clock.advance(SECOND)

    assert cluster.outcomes() == [("13:00", "executed", "")]


async def test_a_job_whose_turn_comes_after_deadline_and_slack_is_not_created() -> None:
    cluster = at_noon()
    cluster.kronjob(policy={"deadline": "10s"})
    replica = await Replica(cluster).lead()
    replica.leads = False
    await cluster.clock.advance(HOUR + 41 * SECOND)

    replica.leads = True
    await cluster.clock.advance(SECOND)

    assert cluster.created() == []
    assert cluster.outcomes() == [("13:00", "missed", "DeadlineExceeded")]


async def test_a_standby_that_takes_over_has_slack_for_what_was_chosen_since_it_was_armed() -> None:
    cluster = at_noon()
    cluster.kronjob()
    standby = Replica(cluster)
    await standby.sync()
    await cluster.clock.advance(HOUR + 20 * SECOND)

    await standby.lead()

    assert cluster.created() == [("13:00", "13:00:20")]


async def test_a_process_that_has_just_started_has_no_slack() -> None:
    cluster = at_noon()
    cluster.kronjob()
    first = await Replica(cluster).lead()
    await first.crash()
    await cluster.clock.advance(HOUR + 20 * SECOND)

    await Replica(cluster).lead()

    assert cluster.made == []
    assert cluster.outcomes() == [("13:00", "missed", "DeadlineExceeded")]


async def test_a_long_outage_is_one_entry() -> None:
    cluster = at_noon()
    cluster.kronjob()
    first = await Replica(cluster).lead()
    await first.crash()
    await cluster.clock.advance(50 * HOUR + MINUTE)

    await Replica(cluster).lead()

    (entry,) = cluster.status()["handledPeriods"]
    assert (entry["count"], entry["outcome"]) == (50, "missed")
    assert entry["lastPeriodID"] == "2026-03-04T14:00:00Z"


async def test_a_job_that_ran_before_the_status_was_written_is_found_after_a_restart() -> None:
    cluster = at_noon()
    cluster.kronjob(policy={"deadline": "1h"})
    first = await Replica(cluster).lead()
    cluster.before = lambda _verb, resource: UNREACHABLE if resource.subresource == "status" else None
    await cluster.clock.advance(HOUR)
    await first.crash()
    cluster.before = None

    await Replica(cluster).lead()
    await cluster.clock.advance(MINUTE)

    assert len(cluster.made) == 1
    assert cluster.outcomes() == [("13:00", "executed", "")]


def _creates_a_job_and_no_status(cluster: FakeCluster) -> None:
    """Let the server lose everything after the next creation of a Job: the leader has crashed there."""
    is_made = [False]

    def fault(verb: Verb, resource: Resource) -> ApiError | None:
        was_made = is_made[0]
        is_made[0] = was_made or (verb, resource.label) == ("create", "jobs")
        return UNREACHABLE if was_made else None

    cluster.before = fault


async def test_periods_that_a_job_superseded_have_their_outcome_after_a_crash_before_the_status() -> None:
    cluster = at_noon()
    cluster.kronjob("a", "*/5 * * * *", policy={"concurrency": "allow", "deadline": "15m"})
    await cluster.clock.advance(12 * MINUTE)
    _creates_a_job_and_no_status(cluster)
    first = await Replica(cluster).lead()
    await cluster.clock.advance(2 * SECOND)
    await first.crash()
    cluster.before = None

    await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)

    assert [period for period, _ in cluster.created()] == ["12:10"]
    assert cluster.outcomes() == [("12:05", "skipped", "Superseded"), ("12:10", "executed", "")]


async def test_a_job_that_another_one_replaced_before_it_was_created_is_not_created_after_a_crash() -> None:
    cluster = at_noon()
    cluster.kronjob("a", "*/5 * * * *", policy={"concurrency": "replace", "deadline": "1h"})
    first = await Replica(cluster).lead()
    cluster.before = lambda _verb, resource: refused(429, "TooManyRequests") if resource.plural == "jobs" else None
    await cluster.clock.advance(10 * MINUTE - SECOND)
    cluster.before = lambda _verb, resource: (
        UNREACHABLE
        if resource.subresource == "status"
        else refused(429, "TooManyRequests")
        if resource.plural == "jobs" and cluster.clock.now() < NOON + 10 * MINUTE
        else None
    )
    await cluster.clock.advance(5 * SECOND)
    await first.crash()
    cluster.before = None

    await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)

    assert [period for period, _ in cluster.created()] == ["12:10"]
    assert cluster.outcomes() == [("12:05", "skipped", "Superseded"), ("12:10", "executed", "")]


async def test_periods_missed_before_the_first_job_are_reported_after_a_crash_before_the_status() -> None:
    cluster = at_noon()
    cluster.kronjob("a", "*/5 * * * *", policy={"concurrency": "allow", "deadline": "0s"})
    await cluster.clock.advance(12 * MINUTE)
    cluster.before = lambda _verb, resource: UNREACHABLE if resource.subresource == "status" else None
    first = await Replica(cluster).lead()
    await cluster.clock.advance(4 * MINUTE)
    await first.crash()
    cluster.before = None

    await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)

    assert [period for period, _ in cluster.created()] == ["12:15"]
    assert periods_without_outcome(cluster, "a") == []


async def test_a_definition_changed_without_a_leader_causes_no_run() -> None:
    cluster = at_noon()
    cluster.kronjob(policy={"deadline": "1h"}, window={"duration": "2h"})
    first = await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)
    await first.crash()
    cluster.kronjob(schedule="5 * * * *", policy={"deadline": "1h"})
    await cluster.clock.advance(10 * MINUTE)

    await Replica(cluster).lead()
    await cluster.clock.advance(MINUTE)

    assert cluster.made == []
    assert [reason for _, _, reason in cluster.outcomes()] == ["DefinitionChanged"]


async def test_two_leaders_create_one_job_and_write_one_entry_for_a_period() -> None:
    cluster = at_noon()
    for name in ("a", "b", "c"):
        cluster.kronjob(name, "*/10 * * * *", policy={"concurrency": "allow"})
    one, two = await Replica(cluster).lead(), await Replica(cluster).lead()

    await cluster.clock.advance(2 * HOUR)

    check(cluster, "a", "b", "c")
    assert len(cluster.made) == 3 * 12
    assert one.numbers.conflicts + two.numbers.conflicts > 0


def _crash_at(number: int, *, done: bool) -> tuple[FakeCluster, Callable[[Verb, Resource], ApiError | None]]:
    cluster = at_noon()
    count = [0]

    def fault(_verb: Verb, _resource: Resource) -> ApiError | None:
        count[0] += 1
        return UNREACHABLE if count[0] >= number else None

    if done:
        cluster.after = fault
    else:
        cluster.before = fault
    return cluster, fault


@pytest.mark.parametrize("done", [False, True], ids=["before it is done", "after it is done"])
@pytest.mark.parametrize("number", range(1, 25, 2))
async def test_a_crash_at_any_request_doubles_and_loses_nothing(number: int, *, done: bool) -> None:
    cluster, _ = _crash_at(number, done=done)
    for name, concurrency in (("a", "allow"), ("b", "forbid"), ("c", "replace")):
        cluster.kronjob(name, "*/10 * * * *", policy={"concurrency": concurrency, "deadline": "1h"})
    first = await Replica(cluster).lead()
    await cluster.clock.advance(25 * MINUTE)
    await first.crash()
    cluster.before = cluster.after = None
    await cluster.clock.advance(20 * MINUTE)

    await Replica(cluster).lead()
    cluster.finish_all()
    await cluster.clock.advance(21 * MINUTE)

    check(cluster, "a", "b", "c")
    for name in ("a", "b", "c"):
        covered = sum(each.get("count", 1) for each in cluster.status(name)["handledPeriods"])
        assert covered == 6, cluster.status(name)["handledPeriods"]


@pytest.mark.slow
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 40), st.booleans()), min_size=1, max_size=4))
def test_any_series_of_crashes_leaves_one_job_and_one_outcome_for_a_period(lives: list[tuple[int, int, bool]]) -> None:
    async def story() -> None:
        cluster = at_noon()
        names = {"a": "allow", "b": "forbid", "c": "replace"}
        for name, concurrency in names.items():
            policy = {"concurrency": concurrency, "deadline": "15m"}
            cluster.kronjob(name, "*/5 * * * *", window={"duration": "7m"}, policy=policy)
        for number, away, done in lives:
            count = [0]

            def fault(
                _verb: Verb, _resource: Resource, count: list[int] = count, number: int = number
            ) -> ApiError | None:
                count[0] += 1
                return UNREACHABLE if count[0] >= number else None

            cluster.before, cluster.after = (None, fault) if done else (fault, None)
            replica = await Replica(cluster).lead()
            await cluster.clock.advance(13 * MINUTE)
            await replica.crash()
            cluster.before = cluster.after = None
            await cluster.clock.advance(away * MINUTE)
            cluster.finish_all()
        await Replica(cluster).lead()
        await cluster.clock.advance(20 * MINUTE)

        check(cluster, *names)
        for name in names:
            assert periods_without_outcome(cluster, name) == []
            assert periods_with_two_outcomes(cluster, name) == []
        for at, job in cluster.made:
            chosen = job["metadata"]["annotations"]["kron.io/chosen-time"]
            assert f"{at:%Y-%m-%dT%H:%M:%SZ}" >= chosen

    live(story())


async def test_a_clean_up_stops_when_the_replica_leads_no_longer_and_is_finished_when_it_leads_again() -> None:
    cluster = at_noon()
    cluster.kronjob("a", "* * * * *", policy={"concurrency": "allow"}, successfulJobsHistoryLimit=0)
    replica = await Replica(cluster).lead()
    await cluster.clock.advance(5 * MINUTE)

    def cease(verb: str, resource: Resource) -> None:
        replica.leads = replica.leads and (verb, resource.plural) != ("delete", "jobs")

    cluster.after = cease
    cluster.finish_all()
    await cluster.clock.advance(SECOND)
    assert len(cluster.names()) == 4  # of five
    cluster.after = None
    replica.leads = True
    await cluster.clock.advance(SECOND)

    assert cluster.names() == []

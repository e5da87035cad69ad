"""A leader session: the Jobs, statuses and events of its KronJobs."""

import json
from datetime import timedelta
from hashlib import sha256
from typing import Any

from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.instant import format_instant
from tests.cli.kron_runner import kron
from tests.hosts.operator.fake_cluster import FakeCluster
from tests.hosts.operator.replica import HOUR, MINUTE, NOON, SECOND, Replica, at_noon, live


async def test_a_job_is_created_at_its_chosen_second_and_the_status_follows() -> None:
    cluster = at_noon()
    cluster.kronjob()
    await Replica(cluster).lead()

    await cluster.clock.advance(HOUR)

    assert cluster.created() == [("13:00", "13:00:00")]
    assert cluster.outcomes() == [("13:00", "executed", "")]
    status = cluster.status()
    assert status["lastPeriodID"] == "2026-03-02T13:00:00Z"
    assert status["nextChosenTime"] == "2026-03-02T14:00:00Z"
    assert [each["name"] for each in status["active"]] == cluster.names()
    assert cluster.conditions() == {
        "Ready": ("True", "Scheduled"),
        "InvalidSpec": ("False", "AsExpected"),
        "SchedulingError": ("False", "AsExpected"),
        "Unschedulable": ("False", "AsExpected"),
    }


async def test_a_new_kronjob_has_a_status_before_anything_is_due() -> None:
    cluster = at_noon()
    await Replica(cluster).lead()

    cluster.kronjob()
    await cluster.clock.advance(SECOND)

    assert cluster.status()["observedGeneration"] == 1
    assert cluster.status()["nextPeriodID"] == "2026-03-02T13:00:00Z"


async def test_nothing_is_written_while_nothing_is_due() -> None:
    cluster = at_noon()
    cluster.kronjob()
    await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)
    cluster.requests.clear()

    await cluster.clock.advance(30 * MINUTE)

    assert cluster.requests == []


async def test_forbid_skips_a_period_while_a_job_is_active() -> None:
    cluster = at_noon()
    cluster.kronjob()
    await Replica(cluster).lead()

    await cluster.clock.advance(2 * HOUR)

    assert cluster.outcomes() == [("13:00", "executed", ""), ("14:00", "skipped", "ConcurrencyForbid")]
    assert "Skipped" in cluster.events()


async def test_a_finished_job_does_not_stand_in_the_way_of_the_next() -> None:
    cluster = at_noon()
    cluster.kronjob()
    await Replica(cluster).lead()
    await cluster.clock.advance(HOUR)

    cluster.finish_all()
    await cluster.clock.advance(HOUR)

    assert [outcome for _, outcome, _ in cluster.outcomes()] == ["executed", "executed"]
    assert cluster.status()["lastSuccessfulTime"] == "2026-03-02T13:00:00Z"
    assert "SawCompletedJob" in cluster.events()


async def test_replace_deletes_the_active_job_and_creates_the_next_when_it_is_gone() -> None:
    cluster = at_noon()
    cluster.kronjob(policy={"concurrency": "replace"})
    await Replica(cluster).lead()

    await cluster.clock.advance(2 * HOUR)

    assert cluster.created() == [("13:00", "13:00:00"), ("14:00", "14:00:00")]
    assert len(cluster.names()) == 1
    assert [outcome for _, outcome, _ in cluster.outcomes()] == ["executed", "executed"]
    assert cluster.events().count("SuccessfulDelete") == 1


async def test_allow_lets_jobs_run_side_by_side() -> None:
    cluster = at_noon()
    cluster.kronjob(policy={"concurrency": "allow"})
    await Replica(cluster).lead()

    await cluster.clock.advance(3 * HOUR)

    assert len(cluster.names()) == 3
    assert cluster.status()["activeJobs"] == 3


async def test_a_job_deleted_by_hand_ends_its_execution_and_is_never_made_again() -> None:
    cluster = at_noon()
    cluster.kronjob(policy={"deadline": "3h"})
    await Replica(cluster).lead()
    await cluster.clock.advance(HOUR + MINUTE)

    cluster.delete("jobs", cluster.names()[0])
    await cluster.clock.advance(HOUR)

    assert cluster.created() == [("13:00", "13:00:00"), ("14:00", "14:00:00")]
    assert [outcome for _, outcome, _ in cluster.outcomes()] == ["executed", "executed"]


async def test_jobs_beyond_the_limits_of_the_history_are_deleted_the_oldest_first() -> None:
    cluster = at_noon()
    cluster.kronjob(successfulJobsHistoryLimit=1, failedJobsHistoryLimit=0)
    await Replica(cluster).lead()
    for succeeded in (True, False, True):
        await cluster.clock.advance(HOUR)
        cluster.finish_all(succeeded=succeeded)
    await cluster.clock.advance(SECOND)

    left = [each["metadata"]["annotations"]["kron.io/period-id"] for _, each in _jobs(cluster)]
    assert left == ["2026-03-02T15:00:00Z"]
    assert cluster.events().count("SuccessfulDelete") == 2


async def test_a_period_without_a_second_is_unschedulable_and_the_next_has_one() -> None:
    cluster = at_noon()
    cluster.kronjob(constraints={"avoid": ["between=13:00-13:00"]})
    await Replica(cluster).lead()

    await cluster.clock.advance(HOUR)

    assert cluster.outcomes() == [("13:00", "unschedulable", "NoCandidate")]
    assert cluster.conditions()["Unschedulable"] == ("True", "NoCandidate")
    assert cluster.status()["nextPeriodID"] == "2026-03-02T14:00:00Z"


async def test_every_decision_and_every_outcome_is_one_line_of_the_log() -> None:
    cluster = at_noon()
    cluster.kronjob()
    replica = await Replica(cluster).lead()

    await cluster.clock.advance(HOUR)

    (decision,), (outcome,) = replica.lines("decision"), replica.lines("outcome")
    assert (decision["namespace"], decision["name"]) == ("ns", "a")
    assert decision["decision"]["chosen_time"] == "2026-03-02T13:00:00Z"
    assert outcome["period_id"] == "2026-03-02T13:00:00Z"
    assert outcome["job"] == cluster.names()[0]
    assert outcome["lateness_s"] == 0.0


def test_a_logged_decision_replays_to_the_same_decision() -> None:
    async def story() -> None:
        cluster = at_noon()
        cluster.kronjob(window={"duration": "1h"}, seed={"salt": "x"}, timeZone="Europe/Paris")
        replica = await Replica(cluster).lead()
        await cluster.clock.advance(2 * HOUR)
        decisions.extend(line["decision"] for line in replica.lines("decision"))

    decisions: list[dict[str, object]] = []
    live(story())

    assert decisions
    for decision in decisions:
        (found,) = kron("explain", "--replay", "-", "--json", stdin=json.dumps(decision)).json
        assert found["same"]
        assert found["chosen_time"] == decision["chosen_time"]


async def test_every_period_of_an_outage_is_computed_from_the_log_alone() -> None:
    spec: dict[str, Any] = {"schedule": "* * * * *", "window": {"duration": "20s"}, "seed": {"salt": "x"}}
    lines: list[dict[str, object]] = []

    cluster = at_noon()
    cluster.kronjob(**spec)
    first = await Replica(cluster).lead()
    await cluster.clock.advance(MINUTE + 30 * SECOND)
    await first.crash()
    await cluster.clock.advance(HOUR)
    second = await Replica(cluster).lead()
    lines.extend([*first.lines("decision"), *second.lines("decision"), *second.lines("outcome")])
    (outage,) = (line["decisions"] for line in lines if "decisions" in line)
    answer = kron("explain", "--replay", "-", "--json", stdin="".join(f"{json.dumps(line)}\n" for line in lines))

    timing = Timing.from_dict(spec, identity="ns/a")
    expected = [decide(timing, at) for at in timing.schedule.between(NOON, NOON + 61 * MINUTE)]
    found = [json.loads(row) for row in answer.out.splitlines()]
    assert answer.code == 0
    assert isinstance(outage, dict)
    assert (outage["definition"], outage["count"]) == (timing.to_line(), 60)
    assert {(row["period_id"], row["chosen_time"]) for row in found} == {
        (each.period_id, format_instant(each.chosen_time)) for each in expected if each.chosen_time is not None
    }


async def test_the_status_has_the_seed_hash_of_the_next_period() -> None:
    cluster = at_noon()
    cluster.kronjob(window={"duration": "1h"}, seed={"salt": "x"})

    await Replica(cluster).lead()

    status = cluster.status()
    assert status["nextSeedHash"] == sha256(f"ns/a\n{status['nextPeriodID']}\nx".encode()).hexdigest()


async def test_a_kronjob_created_before_the_chosen_time_owns_a_period_with_an_earlier_nominal_time() -> None:
    cluster = at_noon()
    await cluster.clock.advance(timedelta(minutes=1))
    cluster.kronjob(window={"duration": "1h"})
    await Replica(cluster).lead()

    await cluster.clock.advance_to(NOON + HOUR - SECOND)

    assert [period for period, _ in cluster.created()] == ["12:00"]


def _jobs(cluster: FakeCluster) -> list[tuple[str, dict[str, dict[str, dict[str, str]]]]]:
    return [(name, each) for (kind, _, name), each in cluster.objects.items() if kind == "jobs"]

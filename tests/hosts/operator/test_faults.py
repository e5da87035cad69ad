"""Requests that the server refuses, and answers that are lost."""

from collections.abc import Callable

import pytest

from kron.adapters.kubernetes.client import Resource, Verb
from kron.errors import ApiError, ApiUnreachableError
from tests.hosts.operator.fake_cluster import refused
from tests.hosts.operator.replica import HOUR, MINUTE, SECOND, Replica, at_noon

UNREACHABLE = ApiUnreachableError(server="https://test", reason="reset")


def jobs_fail(error: ApiError) -> Callable[[Verb, Resource], ApiError | None]:
    return lambda verb, resource: error if (verb, resource.label) == ("create", "jobs") else None


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(refused(403, "Forbidden"), id="quota"),
        pytest.param(refused(401, "Unauthorized"), id="token"),
        pytest.param(refused(429, "TooManyRequests"), id="too many requests"),
        pytest.param(refused(500, "InternalError"), id="internal error"),
        pytest.param(refused(404, "NotFound"), id="namespace not there"),
        pytest.param(UNREACHABLE, id="no answer"),
    ],
)
async def test_a_passing_failure_is_tried_again_until_it_passes(error: ApiError) -> None:
    cluster = at_noon()
    cluster.kronjob()
    await Replica(cluster).lead()
    cluster.before = jobs_fail(error)
    await cluster.clock.advance(HOUR + 10 * SECOND)
    assert cluster.conditions()["SchedulingError"] == ("True", "FailedCreate")
    assert "FailedCreate" in cluster.events()

    cluster.before = None
    await cluster.clock.advance(10 * SECOND)

    assert cluster.outcomes() == [("13:00", "executed", "")]
    assert cluster.conditions()["SchedulingError"] == ("False", "AsExpected")


async def test_a_failure_that_does_not_pass_before_deadline_and_slack_is_missed() -> None:
    cluster = at_noon()
    cluster.kronjob(policy={"deadline": "1m"})
    await Replica(cluster).lead()
    cluster.before = jobs_fail(refused(403, "Forbidden"))

    await cluster.clock.advance(HOUR + 2 * MINUTE)
    cluster.before = None
    await cluster.clock.advance(MINUTE)

    assert cluster.made == []
    assert cluster.outcomes() == [("13:00", "missed", "DeadlineExceeded")]


@pytest.mark.parametrize("code", [400, 405, 413, 422])
async def test_a_refusal_that_cannot_pass_is_missed_at_once(code: int) -> None:
    cluster = at_noon()
    cluster.kronjob(policy={"deadline": "1h"})
    await Replica(cluster).lead()
    cluster.before = jobs_fail(refused(code, "Invalid", message="spec.template: Required value"))

    await cluster.clock.advance(HOUR)

    assert cluster.outcomes() == [("13:00", "missed", "Rejected")]
    assert cluster.conditions()["SchedulingError"] == ("True", "Rejected")
    message = "spec.jobTemplate: the server refuses its Job: spec.template: Required value"
    assert message in [each["message"] for each in cluster.status()["conditions"]]


async def test_a_foreign_job_of_the_name_is_left_alone_and_the_period_is_missed() -> None:
    cluster = at_noon()
    cluster.kronjob()
    replica = await Replica(cluster).lead()
    await cluster.clock.advance(HOUR)
    name = cluster.names()[0]
    await replica.crash()
    other = at_noon()
    other.kronjob()
    other.job(name)
    await Replica(other).lead()

    await other.clock.advance(HOUR)

    assert other.made == []
    assert other.outcomes() == [("13:00", "missed", "NameTaken")]
    assert other.conditions()["SchedulingError"] == ("True", "NameTaken")
    assert "NameTaken" in other.events()


async def test_a_job_whose_answer_was_lost_is_found_and_not_made_again() -> None:
    cluster = at_noon()
    cluster.kronjob()
    await Replica(cluster).lead()
    cluster.after = jobs_fail(UNREACHABLE)

    await cluster.clock.advance(HOUR + 5 * SECOND)

    assert len(cluster.made) == 1
    assert cluster.outcomes() == [("13:00", "executed", "")]


async def test_a_namespace_that_is_being_deleted_ends_all_tries_silently() -> None:
    cluster = at_noon()
    cluster.kronjob(policy={"deadline": "1h"})
    await Replica(cluster).lead()
    cluster.before = jobs_fail(refused(403, "Forbidden", causes=("NamespaceTerminating",)))

    await cluster.clock.advance(HOUR + MINUTE)

    assert sum(request[:2] == ("create", "jobs") for request in cluster.requests) == 1
    assert cluster.outcomes() == []


async def test_statuses_with_a_constant_foreign_writer_are_written_in_the_end() -> None:
    cluster = at_noon()
    cluster.kronjob()
    await Replica(cluster).lead()
    left = [20]

    def edit(_verb: Verb, resource: Resource) -> ApiError | None:
        if resource.subresource == "status" and left[0]:
            left[0] -= 1
            cluster.kronjob(jobTemplate={"spec": {"template": {"x": left[0]}}})
        return None

    cluster.before = edit
    await cluster.clock.advance(HOUR + MINUTE)

    assert cluster.outcomes() == [("13:00", "executed", "")]


async def test_that_many_are_due_at_once_makes_jobs_late_and_not_missed() -> None:
    cluster = at_noon()
    for number in range(20):
        cluster.kronjob(f"a{number}")
    await Replica(cluster).lead()

    def be_slow(verb: Verb, resource: Resource) -> ApiError | None:
        if (verb, resource.label) == ("create", "jobs"):
            cluster.clock.freeze(10 * SECOND)
        return None

    cluster.after = be_slow
    await cluster.clock.advance(HOUR + MINUTE)

    assert len(cluster.made) == 20
    assert all(cluster.outcomes(f"a{number}") == [("13:00", "executed", "")] for number in range(20))


async def test_a_job_whose_answer_was_lost_until_its_time_was_over_is_executed_and_not_missed() -> None:
    cluster = at_noon()
    cluster.kronjob()
    await Replica(cluster).lead()

    def go_down(verb: Verb, resource: Resource) -> ApiError | None:
        if (verb, resource.label) != ("create", "jobs"):
            return None
        cluster.before = lambda _verb, _resource: UNREACHABLE
        return UNREACHABLE

    cluster.after = go_down
    await cluster.clock.advance(HOUR + 5 * MINUTE)

    cluster.before = cluster.after = None
    await cluster.clock.advance(10 * SECOND)

    assert len(cluster.made) == 1
    assert cluster.outcomes() == [("13:00", "executed", "")]


@pytest.mark.parametrize("done", [True, False], ids=["its Job is there", "its Job is not there"])
async def test_a_replaced_period_whose_answer_was_lost_is_executed_if_its_job_is_there(*, done: bool) -> None:
    cluster = at_noon()
    cluster.kronjob(schedule="0,1 13 * * *", policy={"concurrency": "replace", "deadline": "10m"})
    await Replica(cluster).lead()

    def go_down(_verb: Verb, resource: Resource) -> ApiError | None:
        if resource.label != "jobs":
            return None
        cluster.before, cluster.after = go_down, None
        return UNREACHABLE

    cluster.before, cluster.after = (None, go_down) if done else (go_down, None)
    await cluster.clock.advance(HOUR + MINUTE + SECOND)
    cluster.before = None
    await cluster.clock.advance(10 * SECOND)

    first = ("13:00", "executed", "") if done else ("13:00", "skipped", "Superseded")
    assert cluster.outcomes() == [first, ("13:01", "executed", "")]
    assert len(cluster.made) == 1 + done
    assert len(cluster.names()) == 1


async def test_a_period_whose_answer_was_lost_before_the_spec_became_wrong_is_executed() -> None:
    cluster = at_noon()
    cluster.kronjob()
    await Replica(cluster).lead()

    def lose(verb: Verb, resource: Resource) -> ApiError | None:
        if (verb, resource.label) != ("create", "jobs"):
            return None
        cluster.after = None
        cluster.kronjob(timeZone="Mars/Olympus")
        return UNREACHABLE

    cluster.after = lose
    await cluster.clock.advance(HOUR + 5 * SECOND)

    assert cluster.outcomes() == [("13:00", "executed", "")]


async def test_a_period_whose_answer_was_lost_before_the_template_was_refused_is_executed() -> None:
    cluster = at_noon()
    cluster.kronjob()
    await Replica(cluster).lead()

    def lose(verb: Verb, resource: Resource) -> ApiError | None:
        if (verb, resource.label) != ("create", "jobs"):
            return None
        cluster.before, cluster.after = jobs_fail(refused(422, "Invalid")), None
        return UNREACHABLE

    cluster.after = lose
    await cluster.clock.advance(HOUR + 5 * SECOND)

    assert cluster.outcomes() == [("13:00", "executed", "")]

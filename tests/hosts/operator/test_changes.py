"""Edits of KronJobs while an operator leads: new definitions, suspension, invalid specs, deletion."""

from tests.hosts.operator.fake_cluster import refused
from tests.hosts.operator.replica import HOUR, MINUTE, SECOND, Replica, at_noon
from tests.hosts.operator.test_faults import jobs_fail


async def test_a_suspended_kronjob_starts_nothing_and_says_nothing_about_the_next() -> None:
    cluster = at_noon()
    cluster.kronjob(policy={"suspend": True})
    await Replica(cluster).lead()

    await cluster.clock.advance(2 * HOUR)

    assert cluster.made == []
    assert "nextChosenTime" not in cluster.status()
    assert cluster.conditions()["Ready"] == ("True", "Suspended")


async def test_when_a_suspension_is_lifted_at_most_one_period_within_its_deadline_runs() -> None:
    cluster = at_noon()
    cluster.kronjob(policy={"suspend": True, "deadline": "90m"})
    await Replica(cluster).lead()
    await cluster.clock.advance(2 * HOUR + MINUTE)

    cluster.kronjob(policy={"suspend": False, "deadline": "90m"})
    await cluster.clock.advance(SECOND)

    assert cluster.created() == [("14:00", "14:01:00")]
    assert cluster.outcomes() == [("13:00", "skipped", "Superseded"), ("14:00", "executed", "")]
    assert "Resumed" in cluster.events()


async def test_a_changed_schedule_owns_what_it_chooses_after_the_change() -> None:
    cluster = at_noon()
    cluster.kronjob(window={"duration": "1h"}, seed={"salt": "late"})
    await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)

    cluster.kronjob(schedule="30 * * * *")
    await cluster.clock.advance(40 * MINUTE)

    assert ("12:30", "12:30:00") in cluster.created()
    assert "DefinitionChanged" in cluster.events()
    assert cluster.status()["observedGeneration"] == 2


async def test_an_edited_template_changes_no_second_and_is_used_by_the_next_job() -> None:
    cluster = at_noon()
    cluster.kronjob()
    await Replica(cluster).lead()
    await cluster.clock.advance(59 * MINUTE)
    hashed = cluster.status()["definitionHash"]

    cluster.kronjob(jobTemplate={"spec": {"template": {"x": 2}}})
    await cluster.clock.advance(MINUTE)

    assert cluster.made[0][1]["spec"] == {"template": {"x": 2}}
    assert cluster.status()["definitionHash"] == hashed
    assert "DefinitionChanged" not in cluster.events()


async def test_an_invalid_spec_stops_everything_and_says_what_is_wrong() -> None:
    cluster = at_noon()
    cluster.kronjob()
    await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)

    cluster.kronjob(timeZone="Mars/Olympus")
    await cluster.clock.advance(HOUR)

    assert cluster.made == []
    assert cluster.conditions()["InvalidSpec"] == ("True", "InvalidSpec")
    assert cluster.conditions()["Ready"] == ("False", "InvalidSpec")
    messages = [each["message"] for each in cluster.status()["conditions"] if each["type"] == "InvalidSpec"]
    assert messages[0].startswith("spec.timeZone: ")
    assert "nextChosenTime" not in cluster.status()
    assert "InvalidSpec" in cluster.events()


async def test_a_repaired_spec_makes_up_for_nothing() -> None:
    cluster = at_noon()
    cluster.kronjob(policy={"deadline": "3h"})
    await Replica(cluster).lead()
    cluster.kronjob(timeZone="Mars/Olympus", policy={"deadline": "3h"})
    await cluster.clock.advance(2 * HOUR)

    cluster.kronjob(policy={"deadline": "3h"})
    await cluster.clock.advance(HOUR)

    assert cluster.created() == [("15:00", "15:00:00")]


async def test_a_deleted_kronjob_starts_no_job() -> None:
    cluster = at_noon()
    cluster.kronjob()
    await Replica(cluster).lead()

    cluster.delete("kronjobs", "a")
    await cluster.clock.advance(2 * HOUR)

    assert cluster.made == []


async def test_a_kronjob_created_again_under_the_same_name_starts_over() -> None:
    cluster = at_noon()
    cluster.kronjob()
    await Replica(cluster).lead()
    await cluster.clock.advance(HOUR)

    cluster.delete("kronjobs", "a")
    cluster.kronjob()
    await cluster.clock.advance(HOUR)

    assert cluster.created() == [("13:00", "13:00:00"), ("14:00", "14:00:00")]
    assert cluster.outcomes() == [("14:00", "executed", "")]


async def test_a_job_that_ran_while_the_spec_was_wrong_is_active_when_it_is_repaired() -> None:
    cluster = at_noon()
    cluster.kronjob()
    await Replica(cluster).lead()
    await cluster.clock.advance(HOUR + MINUTE)

    cluster.kronjob(timeZone="Mars/Olympus")
    await cluster.clock.advance(MINUTE)
    cluster.kronjob()
    await cluster.clock.advance(HOUR)

    assert cluster.outcomes() == [("13:00", "executed", ""), ("14:00", "skipped", "ConcurrencyForbid")]


async def test_a_suspended_kronjob_that_becomes_wrong_is_not_resumed_by_that() -> None:
    cluster = at_noon()
    cluster.kronjob(policy={"suspend": True})
    await Replica(cluster).lead()

    cluster.kronjob(timeZone="Mars/Olympus", policy={"suspend": True})
    await cluster.clock.advance(MINUTE)
    cluster.kronjob(policy={"suspend": True})
    await cluster.clock.advance(MINUTE)

    assert {"Suspended", "Resumed"}.isdisjoint(cluster.events())
    assert cluster.conditions()["Ready"] == ("True", "Suspended")


async def test_a_job_that_could_not_be_created_before_a_suspension_is_not_created_in_it() -> None:
    cluster = at_noon()
    cluster.kronjob(policy={"deadline": "10m"})
    await Replica(cluster).lead()
    cluster.before = jobs_fail(refused(403, "Forbidden"))
    await cluster.clock.advance(HOUR + SECOND)

    cluster.kronjob(policy={"deadline": "10m", "suspend": True})
    cluster.before = None
    await cluster.clock.advance(MINUTE)
    assert cluster.made == []
    cluster.kronjob(policy={"deadline": "10m"})
    await cluster.clock.advance(SECOND)

    assert cluster.outcomes() == [("13:00", "executed", "")]


async def test_a_job_that_could_not_be_created_before_a_suspension_has_no_slack_after_it() -> None:
    cluster = at_noon()
    cluster.kronjob()
    await Replica(cluster).lead()
    cluster.before = jobs_fail(refused(403, "Forbidden"))
    await cluster.clock.advance(HOUR + SECOND)

    cluster.kronjob(policy={"suspend": True})
    cluster.before = None
    await cluster.clock.advance(2 * SECOND)
    cluster.kronjob()
    await cluster.clock.advance(SECOND)

    assert cluster.made == []
    assert cluster.outcomes() == [("13:00", "missed", "DeadlineExceeded")]


async def test_a_suspend_and_resume_between_two_steps_changes_nothing() -> None:
    cluster = at_noon()
    cluster.kronjob()
    await Replica(cluster).lead()
    await cluster.clock.advance(HOUR - SECOND)

    cluster.kronjob(policy={"suspend": True})
    cluster.kronjob()
    await cluster.clock.advance(SECOND)

    assert cluster.created() == [("13:00", "13:00:00")]
    assert cluster.status()["observedGeneration"] == 3
    assert {"Suspended", "Resumed"}.isdisjoint(cluster.events())

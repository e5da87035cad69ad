"""What is known of a cluster when lists, events and answers come in any order."""

from typing import Any

from kron.adapters.kubernetes.cache import World, job_view, kronjob_view
from kron.errors import ApiError
from kron.kronjob.snapshot import ChildJob, KronJobSnapshot, parse_job
from tests.hosts.operator.fake_cluster import FENCE
from tests.hosts.operator.replica import NOON


class RecordedChanges:
    def __init__(self) -> None:
        self.heard: list[str] = []

    def on_kronjob(self, before: KronJobSnapshot | None, after: KronJobSnapshot | None) -> None:
        self.heard.append(f"kronjob {'new' if before is None else 'gone' if after is None else 'changed'}")

    def on_job(self, before: ChildJob | None, after: ChildJob | None) -> None:
        self.heard.append(f"job {'new' if before is None else 'gone' if after is None else 'changed'}")


def tell(resource: str, error: ApiError) -> None:
    raise AssertionError(resource, error)


def a_world() -> tuple[World, RecordedChanges]:
    world, onlooker = World(lambda: NOON), RecordedChanges()
    world.onlooker = onlooker
    return world, onlooker


def a_job(name: str = "a-1", *, version: int = 5, owner: str = "u", **status: Any) -> dict[str, Any]:
    references = [{"kind": "KronJob", "uid": owner, "controller": True}]
    metadata = {"name": name, "namespace": "ns", "uid": name, "resourceVersion": str(version)}
    return {"metadata": {**metadata, "ownerReferences": references}, "status": status}


def a_kronjob(*, version: int = 5, generation: int = 1, uid: str = "u", **spec: Any) -> dict[str, Any]:
    metadata = {"name": "a", "namespace": "ns", "uid": uid, "resourceVersion": str(version), "generation": generation}
    given = {"schedule": "0 * * * *", "jobTemplate": {"spec": {}}, **spec}
    return {"metadata": {**metadata, "creationTimestamp": "2026-03-02T12:00:00Z"}, "spec": given}


def test_an_event_that_is_older_than_what_is_known_is_left() -> None:
    world, onlooker = a_world()
    world.put_job(parse_job(a_job(version=10)))

    world.put_job(parse_job(a_job(version=9, active=1)))

    assert world.jobs["ns", "a-1"].resource_version == "10"
    assert onlooker.heard == ["job new"]


def test_what_is_missing_in_a_whole_list_is_gone() -> None:
    world, onlooker = a_world()
    world.put_job(parse_job(a_job()))

    list(job_view(world, "", tell, FENCE).replace({}, "20"))

    assert world.jobs == {}
    assert onlooker.heard == ["job new", "job gone"]


def test_what_was_created_after_a_list_was_made_is_not_missing_in_it() -> None:
    world, _ = a_world()
    world.put_job(parse_job(a_job(version=30)))

    list(job_view(world, "", tell, FENCE).replace({}, "20"))

    assert [job.name for job in world.jobs.values()] == ["a-1"]


def test_a_list_of_one_namespace_says_nothing_about_another() -> None:
    world, _ = a_world()
    world.put_job(parse_job(a_job()))

    list(job_view(world, "other", tell, FENCE).replace({}, "20"))

    assert world.jobs


def test_jobs_are_found_by_their_owner_as_long_as_they_are_there() -> None:
    world, _ = a_world()
    seen = world.see_kronjob(a_kronjob())
    world.put_job(parse_job(a_job("a-1")))
    world.put_job(parse_job(a_job("b-1", owner="somebody else")))
    assert [job.name for job in world.jobs_of(seen)] == ["a-1"]

    world.remove_job(("ns", "a-1"), "6")

    assert world.jobs_of(seen) == []


def test_another_definition_counts_from_when_it_is_seen() -> None:
    world, _ = a_world()
    view = kronjob_view(world, "", tell, FENCE)
    view.put(("ns", "a"), view.keep(a_kronjob()))

    view.put(("ns", "a"), view.keep(a_kronjob(version=6, generation=2, timeZone="Europe/Paris")))

    assert world.kronjobs["ns", "a"].defined_at == NOON


def test_a_spec_that_was_edited_without_another_definition_has_none() -> None:
    world, _ = a_world()
    view = kronjob_view(world, "", tell, FENCE)
    view.put(("ns", "a"), view.keep(a_kronjob()))

    view.put(("ns", "a"), view.keep(a_kronjob(version=6, generation=2, successfulJobsHistoryLimit=9)))

    assert world.kronjobs["ns", "a"].defined_at is None


def test_a_suspension_that_was_lifted_counts_from_when_it_is_seen() -> None:
    world, _ = a_world()
    view = kronjob_view(world, "", tell, FENCE)
    view.put(("ns", "a"), view.keep(a_kronjob(policy={"suspend": True})))

    view.put(("ns", "a"), view.keep(a_kronjob(version=6, generation=2)))

    assert world.kronjobs["ns", "a"].resumed_at == NOON


def test_a_status_that_changes_does_not_let_the_spec_be_read_again() -> None:
    world, _ = a_world()
    view = kronjob_view(world, "", tell, FENCE)
    view.put(("ns", "a"), view.keep(a_kronjob()))
    known = world.kronjobs["ns", "a"].kronjob

    view.put(("ns", "a"), view.keep({**a_kronjob(version=6), "status": {"activeJobs": 1}}))

    assert world.kronjobs["ns", "a"].kronjob is known
    assert world.kronjobs["ns", "a"].status == {"activeJobs": 1}


def test_a_job_that_is_being_deleted_is_active_until_it_is_gone() -> None:
    document = a_job()
    document["metadata"]["deletionTimestamp"] = "2026-03-02T12:00:00Z"

    assert parse_job(document).is_active


def test_a_job_is_over_when_it_is_complete_or_failed_and_not_before() -> None:
    def state(kind: str, status: str) -> bool | None:
        return parse_job(a_job(conditions=[{"type": kind, "status": status}])).succeeded

    assert state("Complete", "True") is True
    assert state("Failed", "True") is False
    assert state("Complete", "False") is None
    assert state("SuccessCriteriaMet", "True") is None

"""Tests of ClusterCache: lists, events and answers may arrive in any order."""

from typing import Any

from kron.adapters.kubernetes.cache import ClusterCache
from kron.kronjob.snapshot import ChildJob, KronJobSnapshot, parse_job
from tests.hosts.operator.fake_cluster import STRICT
from tests.hosts.operator.replica import NOON


class RecordedChanges:
    def __init__(self) -> None:
        self.heard: list[str] = []

    def on_kronjob(self, before: KronJobSnapshot | None, after: KronJobSnapshot | None) -> None:
        self.heard.append(f"kronjob {'new' if before is None else 'gone' if after is None else 'changed'}")

    def on_job(self, before: ChildJob | None, after: ChildJob | None) -> None:
        self.heard.append(f"job {'new' if before is None else 'gone' if after is None else 'changed'}")


def a_cache() -> tuple[ClusterCache, RecordedChanges]:
    cache, changes = ClusterCache(lambda: NOON, STRICT), RecordedChanges()
    cache.kronjobs.on_change, cache.jobs.on_change = changes.on_kronjob, changes.on_job
    return cache, changes


def a_job(name: str = "a-1", *, version: int = 5, owner: str = "u", **status: Any) -> dict[str, Any]:
    references = [{"kind": "KronJob", "uid": owner, "controller": True}]
    metadata = {"name": name, "namespace": "ns", "uid": name, "resourceVersion": str(version)}
    return {"metadata": {**metadata, "ownerReferences": references}, "status": status}


def a_kronjob(*, version: int = 5, generation: int = 1, uid: str = "u", **spec: Any) -> dict[str, Any]:
    metadata = {"name": "a", "namespace": "ns", "uid": uid, "resourceVersion": str(version), "generation": generation}
    given = {"schedule": "0 * * * *", "jobTemplate": {"spec": {}}, **spec}
    return {"metadata": {**metadata, "creationTimestamp": "2026-03-02T12:00:00Z"}, "spec": given}


def test_an_event_that_is_older_than_what_is_known_is_left() -> None:
    cache, changes = a_cache()
    cache.jobs.put(parse_job(a_job(version=10)))

    cache.jobs.put(parse_job(a_job(version=9, active=1)))

    assert cache.jobs.objects["ns", "a-1"].resource_version == "10"
    assert changes.heard == ["job new"]


def test_an_object_missing_in_a_complete_list_is_gone() -> None:
    cache, changes = a_cache()
    cache.jobs.put(parse_job(a_job()))

    list(cache.jobs.replace({}, "20", ""))

    assert cache.jobs.objects == {}
    assert changes.heard == ["job new", "job gone"]


def test_an_object_created_after_a_list_is_not_missing_in_it() -> None:
    cache, _ = a_cache()
    cache.jobs.put(parse_job(a_job(version=30)))

    list(cache.jobs.replace({}, "20", ""))

    assert [job.name for job in cache.jobs.objects.values()] == ["a-1"]


def test_a_list_of_one_namespace_says_nothing_about_another() -> None:
    cache, _ = a_cache()
    cache.jobs.put(parse_job(a_job()))

    list(cache.jobs.replace({}, "20", "other"))

    assert cache.jobs.objects


def test_jobs_are_found_by_their_owner_as_long_as_they_are_there() -> None:
    cache, _ = a_cache()
    seen = cache.kronjobs.parse(a_kronjob())
    assert seen is not None
    cache.jobs.put(parse_job(a_job("a-1")))
    cache.jobs.put(parse_job(a_job("b-1", owner="another")))
    assert [job.name for job in cache.owned_jobs(seen)] == ["a-1"]

    cache.jobs.remove(("ns", "a-1"), "6")

    assert cache.owned_jobs(seen) == []


def test_another_definition_counts_from_when_it_is_seen() -> None:
    cache, _ = a_cache()
    cache.kronjobs.take(a_kronjob())

    cache.kronjobs.take(a_kronjob(version=6, generation=2, timeZone="Europe/Paris"))

    assert cache.kronjobs.objects["ns", "a"].defined_at == NOON


def test_a_spec_that_was_edited_without_another_definition_has_none() -> None:
    cache, _ = a_cache()
    cache.kronjobs.take(a_kronjob())

    cache.kronjobs.take(a_kronjob(version=6, generation=2, successfulJobsHistoryLimit=9))

    assert cache.kronjobs.objects["ns", "a"].defined_at is None


def test_a_suspension_that_was_lifted_counts_from_when_it_is_seen() -> None:
    cache, _ = a_cache()
    cache.kronjobs.take(a_kronjob(policy={"suspend": True}))

    cache.kronjobs.take(a_kronjob(version=6, generation=2))

    assert cache.kronjobs.objects["ns", "a"].resumed_at == NOON


def test_a_status_that_changes_does_not_let_the_spec_be_read_again() -> None:
    cache, _ = a_cache()
    cache.kronjobs.take(a_kronjob())
    known = cache.kronjobs.objects["ns", "a"].kronjob

    cache.kronjobs.take({**a_kronjob(version=6), "status": {"activeJobs": 1}})

    assert cache.kronjobs.objects["ns", "a"].kronjob is known
    assert cache.kronjobs.objects["ns", "a"].status == {"activeJobs": 1}


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

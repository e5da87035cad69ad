"""Tests of ClusterCache: an object that a watch repeats is neither parsed nor reported again."""

from typing import Any

from kron.adapters.kubernetes.cache import ClusterCache
from kron.kronjob.snapshot import ChildJob, KronJobSnapshot
from tests.hosts.operator.fake_cluster import STRICT
from tests.hosts.operator.replica import NOON


class RecordedVersions:
    """Records the resource version of each change."""

    def __init__(self) -> None:
        self.versions: list[str] = []

    def on_kronjob(self, _before: KronJobSnapshot | None, after: KronJobSnapshot | None) -> None:
        self.versions.append("gone" if after is None else after.resource_version)

    def on_job(self, _before: ChildJob | None, after: ChildJob | None) -> None:
        self.versions.append("gone" if after is None else after.resource_version)


def _cache() -> tuple[ClusterCache, RecordedVersions]:
    cache, changes = ClusterCache(lambda: NOON, STRICT), RecordedVersions()
    cache.kronjobs.on_change, cache.jobs.on_change = changes.on_kronjob, changes.on_job
    return cache, changes


def _document(version: str, uid: str = "u-1", **more: Any) -> dict[str, Any]:
    metadata = {"namespace": "ns", "name": "a", "uid": uid, "resourceVersion": version, "generation": 1}
    metadata["creationTimestamp"] = "2026-03-02T11:00:00Z"
    spec = {"schedule": "0 * * * *", "jobTemplate": {"spec": {"template": {}}}}
    return {"metadata": metadata, "spec": spec, **more}


def test_a_kronjob_of_an_answer_is_not_reported_again_by_the_watch() -> None:
    cache, changes = _cache()

    for version in ("7", "7", "8", "7"):
        cache.kronjobs.take(_document(version))

    assert changes.versions == ["7", "8"]


def test_a_job_of_an_answer_is_not_reported_again_by_the_watch() -> None:
    cache, changes = _cache()

    for version in ("7", "7", "8", "7"):
        cache.jobs.take(_document(version))

    assert changes.versions == ["7", "8"]


def test_another_object_of_the_same_name_is_another_one() -> None:
    cache, changes = _cache()

    for uid in ("u-1", "u-2"):
        cache.kronjobs.take(_document("7", uid))
        cache.jobs.take(_document("7", uid))

    assert changes.versions == [
        "7",
        "7",
        "gone",
        "7",
        "gone",
        "7",
    ]  # the first one is gone before the other one is there
    assert cache.kronjobs.objects["ns", "a"].uid == cache.jobs.objects["ns", "a"].uid == "u-2"


def test_a_status_that_has_another_version_is_read() -> None:
    cache, _ = _cache()

    for version in ("7", "8"):
        cache.kronjobs.take(_document(version, status={"activeJobs": int(version)}))

    assert cache.kronjobs.objects["ns", "a"].status == {"activeJobs": 8}

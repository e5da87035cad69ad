"""What a watch tells once more: what is known already is not read, and not told, again."""

from typing import Any

from kron.adapters.kubernetes.cache import World
from kron.kronjob.snapshot import ChildJob, KronJobSnapshot
from tests.hosts.operator.replica import NOON


class RecordedVersions:
    """Records the resource version of each change."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def on_kronjob(self, _before: KronJobSnapshot | None, after: KronJobSnapshot | None) -> None:
        self.told.append("gone" if after is None else after.resource_version)

    def on_job(self, _before: ChildJob | None, after: ChildJob | None) -> None:
        self.told.append("gone" if after is None else after.resource_version)


def _world() -> tuple[World, RecordedVersions]:
    world, onlooker = World(lambda: NOON), RecordedVersions()
    world.onlooker = onlooker
    return world, onlooker


def _document(version: str, uid: str = "u-1", **more: Any) -> dict[str, Any]:
    metadata = {"namespace": "ns", "name": "a", "uid": uid, "resourceVersion": version, "generation": 1}
    metadata["creationTimestamp"] = "2026-03-02T11:00:00Z"
    spec = {"schedule": "0 * * * *", "jobTemplate": {"spec": {"template": {}}}}
    return {"metadata": metadata, "spec": spec, **more}


def test_a_kronjob_that_an_answer_told_is_not_told_again_by_the_watch() -> None:
    world, onlooker = _world()

    for version in ("7", "7", "8", "7"):
        world.put_kronjob(world.see_kronjob(_document(version)))

    assert onlooker.told == ["7", "8"]


def test_a_job_that_an_answer_told_is_not_told_again_by_the_watch() -> None:
    world, onlooker = _world()

    for version in ("7", "7", "8", "7"):
        world.put_job(world.see_job(_document(version)))

    assert onlooker.told == ["7", "8"]


def test_another_object_of_the_same_name_is_another_one() -> None:
    world, onlooker = _world()

    for uid in ("u-1", "u-2"):
        world.put_kronjob(world.see_kronjob(_document("7", uid)))
        world.put_job(world.see_job(_document("7", uid)))

    assert onlooker.told == ["7", "7", "7", "gone", "7"]  # the first Job is gone before the other one is there
    assert world.kronjobs["ns", "a"].uid == world.jobs["ns", "a"].uid == "u-2"


def test_a_status_that_has_another_version_is_read() -> None:
    world, _ = _world()

    for version in ("7", "8"):
        world.put_kronjob(world.see_kronjob(_document(version, status={"activeJobs": int(version)})))

    assert world.kronjobs["ns", "a"].status == {"activeJobs": 8}

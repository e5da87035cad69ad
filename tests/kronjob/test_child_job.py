"""The Job of a period: a unique name that serves as the lock, labels to find it, annotations that describe it."""

import re
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kron.decision.decide import decide
from kron.instant import parse_instant
from kron.kronjob.kronjob import build_job, job_annotations, job_labels, job_name
from kron.kronjob.snapshot import parse_job
from tests.kronjob.kronjob_documents import TEMPLATE, kronjob

MARCH = parse_instant("2026-03-01T00:00:00Z")
NAME = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?){0,5}", fullmatch=True)


def made(**said: Any) -> dict[str, Any]:
    job = kronjob(window={"duration": "3h"}, seed={"salt": "backup"}, **said)
    return build_job(job, decide(job.timing, MARCH))


def test_a_name_ends_with_digits_of_identity_and_period() -> None:
    digits = sha256(b"prod/db-backup\n2026-03-01T00:00:00Z").hexdigest()[:10]

    assert job_name(kronjob().identity, MARCH) == f"db-backup-{digits}"


@pytest.mark.parametrize(
    ("name", "stem"),
    [("a.b.c", "a-b-c"), ("a" * 253, "a" * 52), ("a" * 51 + ".b", "a" * 51), ("a" * 50 + "--b", "a" * 50)],
)
def test_a_long_name_is_cut(name: str, stem: str) -> None:
    assert job_name(kronjob(name=name).identity, MARCH)[:-11] == stem


@given(NAME)
def test_every_name_and_label_is_one_that_kubernetes_takes(name: str) -> None:
    job = kronjob(name=name)

    assert re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", job_name(job.identity, MARCH))
    for value in job_labels(job, MARCH).values():
        assert re.fullmatch(r"[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?", value)


def test_the_labels_of_a_job() -> None:
    assert job_labels(kronjob(), MARCH) == {
        "app.kubernetes.io/managed-by": "kron-operator",
        "kron.io/kronjob-uid": "u-1",
        "kron.io/kronjob": "db-backup",
        "kron.io/period": "20260301T000000Z",
    }


def test_the_annotations_of_a_job() -> None:
    found = made()["metadata"]["annotations"]

    assert re.fullmatch("9c856577[0-9a-f]{56}", found.pop("kron.io/seed-hash"))
    assert found == {
        "kron.io/identity": "prod/db-backup",
        "kron.io/period-id": "2026-03-01T00:00:00Z",
        "kron.io/nominal-time": "2026-03-01T00:00:00Z",
        "kron.io/chosen-time": "2026-03-01T02:32:20Z",
        "kron.io/algorithm-version": "1",
    }


def test_a_job_is_owned_and_its_spec_is_the_templates_own() -> None:
    job = made()

    assert (job["apiVersion"], job["kind"], job["metadata"]["namespace"]) == ("batch/v1", "Job", "prod")
    assert job["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "kron.io/v1alpha1",
            "kind": "KronJob",
            "name": "db-backup",
            "uid": "u-1",
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]
    assert job["spec"] == TEMPLATE["spec"]


def test_labels_and_annotations_of_the_template_stay_and_ours_win() -> None:
    metadata = {
        "labels": {"team": "db", "kron.io/period": "mine"},
        "annotations": {"note": "x", "kron.io/identity": "mine"},
        "name": "mine",
    }

    found = made(jobTemplate={"metadata": metadata, "spec": {}})["metadata"]

    assert found["labels"]["team"] == "db"
    assert found["annotations"]["note"] == "x"
    assert found["labels"]["kron.io/period"] == "20260301T000000Z"
    assert found["annotations"]["kron.io/identity"] == "prod/db-backup"
    assert found["name"].startswith("db-backup-")


def test_a_period_without_a_chosen_second_has_no_job() -> None:
    timing = kronjob(constraints={"only": ["hours=5"]}).timing

    with pytest.raises(AssertionError):
        job_annotations(decide(timing, MARCH))


def test_a_job_is_found_by_its_annotations_where_it_belongs_and_nowhere_else() -> None:
    job = made()
    forged = [{**job, "metadata": job["metadata"] | where} for where in ({"name": "copy"}, {"namespace": "evil"})]

    found = [parse_job(each) for each in (job, *forged)]

    assert [(child.identity, child.is_record) for child in found] == [
        ("prod/db-backup", True),
        ("prod/db-backup", False),
        ("", False),
    ]

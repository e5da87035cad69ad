"""CronJobs as KronJobs and back: the identity on what a CronJob can say."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from kron.errors import InvalidDefinitionError
from kron.kronjob.conversion import to_cronjob, to_kronjob
from kron.kronjob.parser import parse_kronjob
from tests.kronjob.kronjob_documents import TEMPLATE, document


def cronjob(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "backup", "labels": {"team": "db"}},
        "spec": {"schedule": "0 3 * * *", "jobTemplate": TEMPLATE, **spec},
    }


LIMIT = st.integers(0, 2**31 - 1)
CRON_JOBS = st.fixed_dictionaries(
    {
        "schedule": st.sampled_from(["0 3 * * *", "*/5 * * * 1-5", "@daily"]),
        "concurrencyPolicy": st.sampled_from(["Allow", "Forbid", "Replace"]),
        "startingDeadlineSeconds": st.integers(0, 86_400),
    },
    optional={
        "timeZone": st.sampled_from(["UTC", "Europe/Paris", "Etc/UTC"]),
        "suspend": st.booleans(),
        "successfulJobsHistoryLimit": LIMIT,
        "failedJobsHistoryLimit": LIMIT,
    },
).map(lambda spec: cronjob(**spec))


@given(CRON_JOBS)
def test_a_cronjob_converted_there_and_back_is_the_same(given: dict[str, Any]) -> None:
    kronjob = to_kronjob(given)

    back = to_cronjob(kronjob.document)

    assert not isinstance(parse_kronjob(kronjob.document), list)
    assert (back.document, back.lost_fields) == (given, ())


def test_the_defaults_of_a_cronjob_become_explicit() -> None:
    found = to_kronjob(cronjob())

    assert found.document["spec"]["policy"] == {"concurrency": "allow", "deadline": "1h"}
    assert found.assumes_deadline


def test_a_deadline_that_is_said_is_no_assumption() -> None:
    found = to_kronjob(cronjob(startingDeadlineSeconds=90))

    assert found.document["spec"]["policy"]["deadline"] == "1m30s"
    assert not found.assumes_deadline


@pytest.mark.parametrize("seconds", [-1, "90", True, 2**62])
def test_a_deadline_that_is_none_is_an_error(seconds: object) -> None:
    with pytest.raises(InvalidDefinitionError) as caught:
        to_kronjob(cronjob(startingDeadlineSeconds=seconds))

    assert caught.value.field == "spec.startingDeadlineSeconds"


def test_fields_that_the_server_wrote_are_dropped() -> None:
    given = cronjob()
    given["metadata"] |= {"uid": "u", "resourceVersion": "5", "creationTimestamp": "2026-01-01T00:00:00Z"}
    given["status"] = {"active": []}

    found = to_kronjob(given).document

    assert found["metadata"] == {"name": "backup", "labels": {"team": "db"}}
    assert "status" not in found


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("window", {"duration": "1h"}),
        ("distribution", {"name": "skewLate"}),
        ("seed", {"salt": "x"}),
        ("constraints", {"only": ["hours=1"]}),
        ("gap", "shift"),
        ("repeated", "first"),
    ],
)
def test_fields_that_a_cronjob_lacks_are_listed(name: str, value: Any) -> None:
    assert to_cronjob(document(**{name: value})).lost_fields == (f"spec.{name}",)


def test_a_default_that_is_stated_is_not_lost() -> None:
    assert to_cronjob(document(window={"mode": "after", "duration": "0s"}, gap="skip")).lost_fields == ()


def test_a_part_of_a_second_is_lost() -> None:
    found = to_cronjob(document(policy={"deadline": "1.5s"}))

    assert found.lost_fields == ("spec.policy.deadline",)
    assert found.document["spec"]["startingDeadlineSeconds"] == 1


def test_a_kronjob_that_says_little_forbids_overlap() -> None:
    assert to_cronjob(document()).document["spec"]["concurrencyPolicy"] == "Forbid"

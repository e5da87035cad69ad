"""Tests of reading an audit log."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.cluster.audit import read_rows

PATCHED: dict[str, Any] = {
    "stage": "ResponseComplete",
    "requestURI": "/apis/kron.io/v1alpha1/namespaces/prod/kronjobs/db-backup/status",
    "verb": "patch",
    "user": {"username": "system:serviceaccount:kron-system:kron-operator"},
    "objectRef": {
        "resource": "kronjobs",
        "namespace": "prod",
        "name": "db-backup",
        "apiGroup": "kron.io",
        "apiVersion": "v1alpha1",
        "subresource": "status",
    },
    "responseStatus": {"metadata": {}, "code": 200},
    "annotations": {"authorization.k8s.io/decision": "allow"},
    "stageTimestamp": "2026-03-01T00:00:00.250000Z",
}


def line(**changed: Any) -> str:
    return json.dumps({**PATCHED, **changed}) + "\n"


def test_a_row_says_who_did_what_and_when() -> None:
    (row,) = read_rows([line()])

    assert (row.verb, row.group, row.resource, row.subresource) == ("patch", "kron.io", "kronjobs", "status")
    assert (row.namespace, row.name, row.code) == ("prod", "db-backup", 200)
    assert row.user == "system:serviceaccount:kron-system:kron-operator"
    assert row.at == datetime(2026, 3, 1, 0, 0, 0, 250_000, tzinfo=UTC)


def test_a_path_that_is_no_resource_has_none() -> None:
    (row,) = read_rows([line(objectRef={}, requestURI="/readyz")])

    assert (row.resource, row.uri) == ("", "/readyz")


def test_a_line_that_is_still_being_written_is_left_out() -> None:
    assert len(read_rows([line(), line()[:40]])) == 1


@pytest.mark.parametrize(("decision", "is_allowed"), [("allow", True), ("forbid", False)])
def test_no_right_is_not_the_same_as_no_success(decision: str, is_allowed: bool) -> None:  # noqa: FBT001
    refused = line(responseStatus={"code": 403}, annotations={"authorization.k8s.io/decision": decision})

    (row,) = read_rows([refused])

    assert (row.code, row.is_allowed) == (403, is_allowed)

"""Tests of resource paths: the URL of each kind."""

import pytest

from kron.adapters.kubernetes.client import EVENTS, JOBS, KRONJOB_STATUS, KRONJOBS, LEASES, Resource


@pytest.mark.parametrize(
    ("resource", "namespace", "name", "path"),
    [
        (KRONJOBS, "", "", "/apis/kron.io/v1alpha1/kronjobs"),
        (KRONJOBS, "shop", "", "/apis/kron.io/v1alpha1/namespaces/shop/kronjobs"),
        (KRONJOB_STATUS, "shop", "mail", "/apis/kron.io/v1alpha1/namespaces/shop/kronjobs/mail/status"),
        (JOBS, "shop", "mail-1", "/apis/batch/v1/namespaces/shop/jobs/mail-1"),
        (EVENTS, "shop", "", "/api/v1/namespaces/shop/events"),
        (LEASES, "kron-system", "x", "/apis/coordination.k8s.io/v1/namespaces/kron-system/leases/x"),
    ],
)
def test_an_object_has_a_path(resource: Resource, namespace: str, name: str, path: str) -> None:
    assert resource.path(namespace, name) == path


def test_no_name_leads_out_of_its_place() -> None:
    assert JOBS.path("shop", "../../secrets?x=1") == "/apis/batch/v1/namespaces/shop/jobs/..%2F..%2Fsecrets%3Fx%3D1"


@pytest.mark.parametrize(("resource", "label"), [(JOBS, "jobs"), (KRONJOB_STATUS, "kronjobs/status")], ids=str)
def test_a_part_of_an_object_is_called_after_both(resource: Resource, label: str) -> None:
    assert resource.label == label

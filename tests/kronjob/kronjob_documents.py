"""Documents of KronJobs for tests, with defaults."""

from typing import Any

from kron.errors.diagnostics import Diagnostic
from kron.kronjob.kronjob import KronJob
from kron.kronjob.parser import parse_kronjob

TEMPLATE = {
    "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox"}]}}}
}


def document(name: str = "db-backup", namespace: str = "prod", **spec: Any) -> dict[str, Any]:
    """Return a good document with these fields of the spec; None leaves one out."""
    fields = {"schedule": "0 0 * * *", "jobTemplate": TEMPLATE, **spec}
    return {
        "apiVersion": "kron.io/v1alpha1",
        "kind": "KronJob",
        "metadata": {"name": name, "namespace": namespace, "uid": "u-1"},
        "spec": {key: value for key, value in fields.items() if value is not None},
    }


def kronjob(**said: Any) -> KronJob:
    """Return the job of a good document."""
    found = parse_kronjob(document(**said))
    assert isinstance(found, KronJob), found
    return found


def errors(given: dict[str, Any]) -> list[Diagnostic]:
    """Return what is wrong with a bad document."""
    found = parse_kronjob(given)
    assert isinstance(found, list)
    return found

"""Tests of the comparison of a role with an audit log."""

from datetime import UTC, datetime
from typing import Any

from tests.cluster.audit import Row
from tests.cluster.role import Permission, compare, granted

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ROLE = {
    "kind": "ClusterRole",
    "rules": [
        {"apiGroups": ["kron.io"], "resources": ["kronjobs"], "verbs": ["list", "watch"]},
        {"apiGroups": ["kron.io"], "resources": ["kronjobs/status"], "verbs": ["patch"]},
        {"apiGroups": [""], "resources": ["events"], "verbs": ["create"]},
    ],
}
LIST, WATCH = Permission("kron.io", "kronjobs", "list"), Permission("kron.io", "kronjobs", "watch")
PATCH, CREATE = Permission("kron.io", "kronjobs/status", "patch"), Permission("", "events", "create")


def asked(permission: Permission, *, code: int = 200, is_allowed: bool = True, **said: Any) -> Row:
    """Return the row of a request."""
    resource, _, part = permission.resource.partition("/")
    row = Row(
        verb=permission.verb, group=permission.group, resource=resource, subresource=part, namespace="prod", name="",
        code=code, is_allowed=is_allowed, at=NOON, user="operator", stage="ResponseComplete", uri="/",
    )  # fmt: skip
    return row._replace(**said)


ALL = [asked(each) for each in (LIST, WATCH, PATCH, CREATE)]


def test_a_role_grants_each_verb_on_each_resource() -> None:
    assert granted([ROLE]) == {LIST, WATCH, PATCH, CREATE}


def test_a_role_of_which_every_right_was_used_is_exact() -> None:
    assert compare([ROLE], ALL).is_exact


def test_an_unused_right_is_reported() -> None:
    found = compare([ROLE], ALL[1:])

    assert found.unused == {LIST}
    assert not found.is_exact


def test_a_request_without_a_right_is_reported_and_uses_none() -> None:
    found = compare([ROLE], [*ALL[1:], asked(LIST, code=403, is_allowed=False)])

    assert found.refused == found.unused == {LIST}


def test_a_refusal_by_a_server_that_does_not_know_the_roles_yet_is_no_lack() -> None:
    assert compare([ROLE], [asked(LIST, code=403, is_allowed=False), *ALL]).is_exact


def test_a_right_that_ends_at_the_border_of_a_namespace_is_a_lack_beyond_it() -> None:
    found = compare([ROLE], [*ALL, asked(LIST, code=403, is_allowed=False, namespace="other")])

    assert found.refused == {LIST}


def test_a_refusal_for_another_reason_than_rights_uses_the_right() -> None:
    assert compare([ROLE], [*ALL[:3], asked(CREATE, code=403)]).is_exact


def test_a_right_that_came_from_elsewhere_is_reported() -> None:
    get = Permission("", "secrets", "get")

    found = compare([ROLE], [*ALL, asked(get)])

    assert found.unnamed == {get}
    assert not found.is_exact


def test_the_right_to_a_resource_is_not_one_to_its_status() -> None:
    found = compare([ROLE], [*ALL, asked(Permission("kron.io", "kronjobs", "patch"))])

    assert found.unnamed == {Permission("kron.io", "kronjobs", "patch")}


def test_rights_of_several_roles_add_up() -> None:
    lease = Permission("coordination.k8s.io", "leases", "update")
    rule = {"apiGroups": [lease.group], "resources": [lease.resource], "verbs": [lease.verb], "resourceNames": ["a"]}

    assert compare([ROLE, {"kind": "Role", "rules": [rule]}], [*ALL, asked(lease, name="a")]).is_exact


def test_a_path_that_is_no_resource_needs_no_right_of_a_role() -> None:
    assert compare([ROLE], [*ALL, asked(LIST, resource="", uri="/apis/kron.io/v1alpha1")]).is_exact

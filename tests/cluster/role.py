"""Compare the rules of roles with the requests in an audit log."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from tests.cluster.audit import Row


class Permission(NamedTuple):
    """A verb on a resource; a subresource is written `kronjobs/status`."""

    group: str
    resource: str
    verb: str


class Comparison(NamedTuple):
    """A role that is sufficient and minimal leaves all three empty."""

    refused: frozenset[Permission]  # asked in some namespace where it was never allowed
    unnamed: frozenset[Permission]  # allowed, but by something else than these roles
    unused: frozenset[Permission]  # granted, and never asked

    @property
    def is_exact(self) -> bool:
        """Tell whether the roles are what is needed, and nothing more."""
        return not any(self)


def granted(roles: Iterable[dict[str, Any]]) -> frozenset[Permission]:
    """Return every permission of Roles and ClusterRoles, one by one; a star is a permission called *."""
    return frozenset(
        Permission(group, resource, verb)
        for role in roles
        for rule in role["rules"]
        for group in rule.get("apiGroups", [])
        for resource in rule.get("resources", [])
        for verb in rule["verbs"]
    )


def compare(roles: Iterable[dict[str, Any]], rows: Iterable[Row]) -> Comparison:
    """Compare what roles grant with what was asked; paths that are no resource, such as discovery, do not count.

    What was refused once and allowed another time is no lack: a server that has just started does not know the roles.
    """
    asked: dict[bool, set[tuple[str, Permission]]] = {True: set(), False: set()}
    for row in rows:
        if row.resource:
            asked[row.is_allowed].add((row.namespace, permission_of(row)))
    allowed = frozenset(permission for _, permission in asked[True])
    given = granted(roles)
    return Comparison(
        refused=frozenset(permission for _, permission in asked[False] - asked[True]),
        unnamed=allowed - given,
        unused=given - allowed,
    )


def permission_of(row: Row) -> Permission:
    """Return the rule that a request needs."""
    return Permission(row.group, "/".join(filter(None, (row.resource, row.subresource))), row.verb)

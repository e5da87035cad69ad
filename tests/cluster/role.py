"""compare(roles, rows) -> Comparison: whether what a role grants is all that was asked, and is all asked for."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from tests.cluster.audit import Row


class Right(NamedTuple):
    """A verb on a resource; that of a part is called `kronjobs/status`."""

    group: str
    resource: str
    verb: str


class Comparison(NamedTuple):
    """A role that is sufficient and minimal leaves all three empty."""

    refused: frozenset[Right]  # asked, and the asker had no right to
    unnamed: frozenset[Right]  # allowed, but by something else than these roles
    unused: frozenset[Right]  # granted, and never asked

    @property
    def is_exact(self) -> bool:
        """Tell whether the roles are what is needed, and nothing more."""
        return not any(self)


def granted(roles: Iterable[dict[str, Any]]) -> frozenset[Right]:
    """Return every right of Roles and ClusterRoles, one by one; a star is a right called *."""
    return frozenset(
        Right(group, resource, verb)
        for role in roles
        for rule in role["rules"]
        for group in rule.get("apiGroups", [])
        for resource in rule.get("resources", [])
        for verb in rule["verbs"]
    )


def compare(roles: Iterable[dict[str, Any]], rows: Iterable[Row]) -> Comparison:
    """Compare what roles grant with what was asked; paths that are no resource, such as discovery, do not count."""
    asked: dict[bool, set[Right]] = {True: set(), False: set()}
    for row in rows:
        if row.resource:
            asked[row.is_allowed].add(right_of(row))
    given = granted(roles)
    return Comparison(
        refused=frozenset(asked[False]), unnamed=frozenset(asked[True] - given), unused=frozenset(given - asked[True])
    )


def right_of(row: Row) -> Right:
    """Return what somebody needs to be answered."""
    return Right(row.group, "/".join(filter(None, (row.resource, row.subresource))), row.verb)

"""drop_privileges(user, group) -> UserIdentity: give up all other rights, in the order groups, gid, uid."""

import grp
import os
import pwd


class PrivilegeError(Exception):
    """Why this process cannot be that user's."""


class UserIdentity:
    """Who a process is: the numbers, the name, and where home is."""

    __slots__ = ("gid", "home", "name", "uid")

    def __init__(self, uid: int, gid: int, name: str, home: str) -> None:
        self.uid = uid
        self.gid = gid
        self.name = name
        self.home = home


def drop_privileges(user: str, group: str) -> UserIdentity:
    """Become that user and group, verified; empty names mean those that this process has."""
    identity = _look_up(user, group)
    if user or group:
        groups = _groups(user, identity)
        if not _is_already(identity, groups):
            _drop(identity, groups)
        _verify(identity, groups)
    return identity


def _look_up(user: str, group: str) -> UserIdentity:
    try:
        entry = pwd.getpwnam(user) if user else pwd.getpwuid(os.getuid())
        identity = UserIdentity(entry.pw_uid, entry.pw_gid, entry.pw_name, entry.pw_dir)
    except KeyError:
        if user:
            raise PrivilegeError(f"there is no user {user}") from None
        identity = UserIdentity(os.getuid(), os.getgid(), str(os.getuid()), "/")  # a container with a number for a user
    if not user:
        identity.gid = os.getgid()
    if group:
        try:
            identity.gid = grp.getgrnam(group).gr_gid
        except KeyError:
            raise PrivilegeError(f"there is no group {group}") from None
    return identity


def _groups(user: str, identity: UserIdentity) -> set[int]:
    if not user:
        return {*os.getgroups(), identity.gid}
    return {*os.getgrouplist(identity.name, identity.gid)}


def _is_already(identity: UserIdentity, groups: set[int]) -> bool:
    """Whether the process already has the identity: without root there is no way to change it."""
    if os.getuid() == 0:
        return False
    same = set(os.getresuid()) == {identity.uid} and set(os.getresgid()) == {identity.gid}
    return same and {*os.getgroups(), identity.gid} == groups


def _drop(identity: UserIdentity, groups: set[int]) -> None:
    try:
        os.setgroups(sorted(groups))
        os.setresgid(identity.gid, identity.gid, identity.gid)
        os.setresuid(identity.uid, identity.uid, identity.uid)
    except OSError as error:
        raise PrivilegeError(f"may not become the user {identity.name}: {error.strerror}") from error


def _verify(identity: UserIdentity, groups: set[int]) -> None:
    facts = (set(os.getresuid()), set(os.getresgid()), {*os.getgroups(), identity.gid})
    if facts != ({identity.uid}, {identity.gid}, groups):
        raise PrivilegeError(f"did not become the user {identity.name}: {facts}")
    if identity.uid != 0 and (_can_return() or _capabilities()):
        raise PrivilegeError(f"did not give up all rights for the user {identity.name}")


def _can_return() -> bool:
    try:
        os.setuid(0)
    except OSError:
        return False
    return True


def _capabilities() -> int:
    """Return the capabilities that are left: going from one user to another, neither being root, keeps them."""
    found = 0
    with open("/proc/self/status", "rb") as file:
        for line in file:
            if line.startswith((b"CapPrm", b"CapEff", b"CapAmb")):
                found |= int(line.split()[1], 16)
    return found

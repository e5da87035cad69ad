"""Writer: statuses, written when they have changed and not otherwise, and never over what somebody else has written."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import NamedTuple

from kron.adapters.cluster.resources import KRONJOB_STATUS, KRONJOBS
from kron.errors import ApiError, ApiRefusedError
from kron.hosts.operator.accounts import Account, Accounts, hash_of
from kron.hosts.operator.answers import NOT_NOW, Meaning, meaning, pause
from kron.hosts.operator.errands import Errands, Lane
from kron.hosts.operator.seen import SeenKronJob
from kron.hosts.operator.sender import Sender
from kron.hosts.operator.world import World
from kron.instant import ZERO, Instant
from kron.rules.kronjob.status import Standing, status_patch


class Desk(NamedTuple):
    """What a writer works with."""

    api: Sender
    world: World
    accounts: Accounts
    errands: Errands
    look_ahead: Callable[[str], Awaitable[object]]  # by identity: what `standing` needs and may take long
    standing: Callable[[SeenKronJob, Account], Standing]
    may_write: Callable[[], bool]
    on_conflict: Callable[[], object]
    now: Callable[[], Instant]
    slack: timedelta


class Writer:
    """One write at a time for each KronJob; what changes meanwhile comes with the next."""

    def __init__(self, desk: Desk) -> None:
        self._at = desk
        self._tries: dict[str, int] = {}

    def mark(self, identity: str) -> None:
        """Let a status be written, if it turns out to have changed."""
        namespace = identity.partition("/")[0]
        self._at.errands.add(Lane.STATUS, namespace, identity, lambda: self._write(identity))

    async def _write(self, identity: str) -> float | None:
        await self._at.look_ahead(identity)
        namespace, _, name = identity.partition("/")
        seen, account = self._at.world.kronjobs.get((namespace, name)), self._at.accounts.of(identity)
        if seen is None or account is None or account.uid != seen.uid:
            self._tries.pop(identity, None)
            return None
        if not self._at.may_write():
            return NOT_NOW
        self._at.accounts.trim(identity, self._span(seen))
        written = account.entries
        before = seen.status
        said = self._at.standing(seen, account).to_dict(before, self._at.now())
        patch = status_patch(before, said)
        if patch:
            body = {"metadata": {"resourceVersion": seen.version}, "status": patch}
            try:
                answer = await self._at.api.send("patch", KRONJOB_STATUS, namespace, name, body=body)
                account.said = hash_of(said["handledPeriods"])
                self._at.world.put_kronjob(self._at.world.see_kronjob(answer))
            except ApiError as error:
                return await self._on_refusal(seen, error)
        self._tries.pop(identity, None)
        account.owes = account.owes and account.entries is not written
        return None

    async def _on_refusal(self, seen: SeenKronJob, error: ApiError) -> float | None:
        tries = self._tries[seen.identity] = self._tries.get(seen.identity, 0) + 1
        if isinstance(error, ApiRefusedError) and error.code == 409:
            self._at.on_conflict()
            return await self._read_again(seen, tries)
        if meaning(error) in (Meaning.GONE, Meaning.ENDING):
            del self._tries[seen.identity]
            return None  # what has gone is soon seen to be gone
        return pause(error, tries)

    async def _read_again(self, seen: SeenKronJob, tries: int) -> float:
        """Look what somebody else has written; a single one may only be listed."""
        try:
            query = {"fieldSelector": f"metadata.name={seen.name}"}
            answer = await self._at.api.send("list", KRONJOBS, seen.namespace, query=query)
        except ApiError as error:
            return pause(error, tries)
        for document in answer.get("items") or ():
            self._at.world.put_kronjob(self._at.world.see_kronjob(document))
        return 0.0 if tries == 1 else min(1.0, 0.02 * 2.0**tries)

    def _span(self, seen: SeenKronJob) -> timedelta:
        """Return how long the outcome of a period may still be asked for."""
        kronjob = seen.kronjob
        return self._at.slack + (ZERO if kronjob is None else kronjob.timing.window.duration + kronjob.policy.deadline)

"""Writer: statuses, written when they have changed and not otherwise, and never over what somebody else has written."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import NamedTuple

from kron.adapters.kubernetes.cache import ClusterCache
from kron.adapters.kubernetes.client import ResourceClient
from kron.adapters.kubernetes.ledger import Account, Accounts, hash_of
from kron.adapters.kubernetes.resources import KRONJOB_STATUS, KRONJOBS
from kron.adapters.kubernetes.responses import ErrorClass, classify, retry_delay
from kron.adapters.kubernetes.work_queue import Priority, WorkQueue
from kron.errors import ApiError, ApiRefusedError
from kron.instant import ZERO, Instant
from kron.kronjob.snapshot import KronJobSnapshot
from kron.kronjob.status import KronJobStatus, merge_patch


class Desk(NamedTuple):
    """What a writer works with."""

    api: ResourceClient
    cache: ClusterCache
    accounts: Accounts
    errands: WorkQueue
    look_ahead: Callable[[str], Awaitable[bool]]  # by identity: a part of what `standing` needs; whether it is all
    standing: Callable[[KronJobSnapshot, Account], KronJobStatus]
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
        self._at.errands.add(Priority.STATUS, namespace, identity, lambda: self._write(identity))

    async def _write(self, identity: str) -> float | None:
        if not await self._at.look_ahead(identity):
            return 0.0  # behind the statuses of other namespaces
        namespace, _, name = identity.partition("/")
        seen, account = self._at.cache.kronjobs.objects.get((namespace, name)), self._at.accounts.of(identity)
        if seen is None or account is None or account.uid != seen.uid:
            self._tries.pop(identity, None)
            return None
        self._at.accounts.trim(identity, self._span(seen))
        written = account.entries
        before = seen.status
        said = self._at.standing(seen, account).to_dict(before, self._at.now())
        patch = merge_patch(before, said)
        if patch:
            body = {"metadata": {"resourceVersion": seen.resource_version}, "status": patch}
            try:
                answer = await self._at.api.request("patch", KRONJOB_STATUS, namespace, name, body=body)
                account.said = hash_of(said["handledPeriods"])
                self._at.cache.kronjobs.take(answer)
            except ApiError as error:
                account.is_refused = not _is_conflict(error)  # which is over within a moment
                return await self._on_refusal(seen, error)
        self._tries.pop(identity, None)
        account.is_refused = False
        account.owes = account.owes and account.entries is not written
        return None

    async def _on_refusal(self, seen: KronJobSnapshot, error: ApiError) -> float | None:
        tries = self._tries[seen.identity] = self._tries.get(seen.identity, 0) + 1
        if _is_conflict(error):
            self._at.on_conflict()
            return await self._read_again(seen, tries)
        if classify(error) in (ErrorClass.NOT_FOUND, ErrorClass.NAMESPACE_TERMINATING):
            del self._tries[seen.identity]
            return None  # what has gone is soon seen to be gone
        return retry_delay(error, tries)

    async def _read_again(self, seen: KronJobSnapshot, tries: int) -> float:
        """Look what somebody else has written; a single one may only be listed."""
        try:
            query = {"fieldSelector": f"metadata.name={seen.name}"}
            answer = await self._at.api.request("list", KRONJOBS, seen.namespace, query=query)
        except ApiError as error:
            return retry_delay(error, tries)
        for document in answer.get("items") or ():
            self._at.cache.kronjobs.take(document)
        return 0.0 if tries == 1 else min(1.0, 0.02 * 2.0**tries)

    def _span(self, seen: KronJobSnapshot) -> timedelta:
        """Return how long the outcome of a period may still be asked for."""
        kronjob = seen.kronjob
        return self._at.slack + (ZERO if kronjob is None else kronjob.timing.window.duration + kronjob.policy.deadline)


def _is_conflict(error: ApiError) -> bool:
    return isinstance(error, ApiRefusedError) and error.code == 409

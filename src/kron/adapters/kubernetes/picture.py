"""Picture: what a status is to say of a KronJob, from what was seen, what is remembered and what comes."""

from kron.adapters.kubernetes.cache import ClusterCache
from kron.adapters.kubernetes.ledger import Account, DeclaredSpec
from kron.adapters.kubernetes.responses import LoopShare
from kron.decision.decision import Decision
from kron.engine.jobs.planner import PeriodPlanner
from kron.kronjob.snapshot import KronJobSnapshot
from kron.kronjob.status import KronJobStatus, ObjectReference
from kron.rules.effort import AT_ONCE, Effort
from kron.rules.periods import NextRun, PeriodQueue


class Picture:
    """Draws it; nothing is changed. What was searched for one status is not searched again for the next."""

    def __init__(self, cache: ClusterCache, book: PeriodPlanner, share: LoopShare) -> None:
        self._cache, self._book, self._share = cache, book, share
        self._searches: dict[str, tuple[PeriodQueue, NextRun]] = {}  # by identity: from what on, and how far

    def standing(self, seen: KronJobSnapshot, account: Account) -> KronJobStatus:
        """Return what a status is to say."""
        coming, is_beyond = self._coming(seen)
        declared = account.declared or DeclaredSpec.of(seen)
        active = sorted((job for job in self._cache.owned_jobs(seen) if job.is_active), key=lambda job: job.name)
        return KronJobStatus(
            declared.generation,
            account.definition_hash,
            account.defined_at,
            account.entries,
            declared.is_suspended,
            declared.errors,
            coming,
            tuple(ObjectReference(job.namespace, job.name, job.uid) for job in active),
            account.succeeded_at,
            account.trouble,
            is_beyond,
        )

    async def look_ahead(self, identity: str) -> bool:
        """Return whether the next period that has a chosen second is known; if not, look for it for one part."""
        if self._advance(identity, Effort(AT_ONCE)):
            return True
        async with self._share.part():
            self._advance(identity, Effort())
        return False  # also if it is known now: others had a turn, and this replica may not lead any longer

    def _advance(self, identity: str, effort: Effort) -> bool:
        """Look on; return whether all is known that a status says of the next period."""
        job = self._book.jobs.get(identity)
        if job is None or job.coming is None or job.is_suspended or job.work.timing is None:
            self._searches.pop(identity, None)
            return True
        if not job.coming.advance(effort):
            return False
        first = job.coming.first()
        if first is None or first.chosen_time is not None:
            self._searches.pop(identity, None)
            return True
        coming, search = self._searches.get(identity, (None, None))
        if search is None or coming is not job.coming:  # another definition, or other periods are handled
            search = NextRun(job.work.timing, job.reached, job.handled, first)
            self._searches[identity] = job.coming, search
        return search.advance(first, effort)

    def _coming(self, seen: KronJobSnapshot) -> tuple[Decision | None, bool]:
        """Return the next period that has a chosen second, and whether it is beyond the look-ahead."""
        job = self._book.jobs.get(seen.identity)
        if not self._advance(seen.identity, Effort(AT_ONCE)) or job is None or job.coming is None or job.is_suspended:
            return None, False
        _, search = self._searches.get(seen.identity, (None, None))
        return (job.coming.first(), False) if search is None else (search.found, search.is_beyond)

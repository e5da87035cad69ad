"""Picture: what a status is to say of a KronJob, from what was seen, what is remembered and what comes."""

from kron.decision.decision import Decision
from kron.engine.jobs.book import JobBook
from kron.hosts.operator.accounts import Account
from kron.hosts.operator.seen import SeenKronJob, is_suspended
from kron.hosts.operator.world import World
from kron.rules.coming import Coming
from kron.rules.kronjob.status import Reference, Standing

_LOOKED_AHEAD = 1_000  # periods without a chosen second, before nothing is said about the next


class Picture:
    """Draws it; nothing is changed."""

    def __init__(self, world: World, book: JobBook) -> None:
        self._world, self._book = world, book

    def standing(self, seen: SeenKronJob, account: Account) -> Standing:
        """Return what a status is to say."""
        active = sorted((job for job in self._world.jobs_of(seen) if job.is_active), key=lambda job: job.name)
        return Standing(
            seen.generation,
            account.definition_hash,
            account.defined_at,
            account.entries,
            is_suspended(seen),
            seen.errors,
            self._coming(seen),
            tuple(Reference(job.namespace, job.name, job.uid) for job in active),
            account.succeeded_at,
            account.trouble,
        )

    def _coming(self, seen: SeenKronJob) -> Decision | None:
        """Return the next period that has a chosen second."""
        job = self._book.jobs.get(seen.identity)
        if job is None or job.coming is None or job.is_suspended or job.work.timing is None:
            return None
        first = job.coming.first()
        if first is None or first.chosen_time is not None:
            return first
        coming = Coming(job.work.timing, job.reached, job.handled)
        for _ in range(_LOOKED_AHEAD):
            at = coming.next_instant()
            found = None if at is None else coming.take(at)
            if found is None or found.chosen_time is not None:
                return found
        return None

"""Many KronJobs due at once: Jobs are created before statuses, and statuses follow."""

from datetime import datetime

from tests.hosts.operator.fake_cluster import FakeCluster
from tests.hosts.operator.replica import HOUR, MINUTE, NOON, SECOND, Replica, at_noon

MANY = 400


def listed_at(cluster: FakeCluster) -> dict[str, datetime]:
    """Return when the period of each KronJob was first listed in its status, by name; it is filled as that happens."""
    found: dict[str, datetime] = {}
    known = [len(cluster.history)]

    def look() -> None:
        since, known[0] = known[0], len(cluster.history)
        for _, plural, _, document in cluster.history[since:]:
            if plural == "kronjobs" and document.get("status", {}).get("handledPeriods"):
                found.setdefault(document["metadata"]["name"], cluster.clock.now())

    cluster.watchers.append(look)
    return found


async def test_statuses_follow_their_jobs_within_ten_seconds_also_when_they_are_written_much_slower() -> None:
    cluster = at_noon()
    for number in range(MANY):
        cluster.kronjob(f"a{number}")
    await Replica(cluster).lead()
    await cluster.clock.advance(HOUR - MINUTE)
    listed = listed_at(cluster)
    cluster.takes = {"jobs": SECOND / 5, "kronjobs/status": 4 * SECOND / 5}

    await cluster.clock.advance(2 * MINUTE)

    made = {job["metadata"]["labels"]["kron.io/kronjob"]: at for at, job in cluster.made}
    assert len(made) == len(listed) == MANY
    assert max(listed[name] - at for name, at in made.items()) <= 10 * SECOND


async def test_jobs_are_created_before_statuses_are_written() -> None:
    cluster = at_noon()
    for number in range(100):
        cluster.kronjob(f"a{number}")
    await Replica(cluster).lead()
    await cluster.clock.advance(HOUR - MINUTE)
    cluster.takes = {"jobs": SECOND / 5, "kronjobs/status": 4 * SECOND / 5}

    await cluster.clock.advance(2 * MINUTE)

    assert max(at for at, _ in cluster.made) <= NOON + HOUR + 2 * SECOND

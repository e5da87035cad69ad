"""Tests of leader election: one replica leads, and another takes over when it leaves or vanishes."""

from tests.adapters.kubernetes.election_candidates import electing

OTHER = {
    "holderIdentity": "other", "leaseDurationSeconds": 15, "renewTime": "1999-01-01T00:00:00.000000Z",
    "acquireTime": "1999-01-01T00:00:00.000000Z", "leaseTransitions": 4,
}  # fmt: skip


async def test_a_replica_without_a_lease_creates_it_and_leads() -> None:
    async with electing() as election:
        a = await election.candidate("a")

        assert a.leads
        assert a.changes == [True]
        assert election.leases.spec == {
            "holderIdentity": "a", "leaseDurationSeconds": 15, "leaseTransitions": 0,
            "acquireTime": "2026-03-01T12:00:00.250000Z", "renewTime": "2026-03-01T12:00:00.250000Z",
        }  # fmt: skip


async def test_the_holder_renews_by_one_write_every_period() -> None:
    async with electing() as election:
        a = await election.candidate("a")
        election.leases.verbs.clear()

        assert [await a.turn(after=2) for _ in range(10)] == [True] * 10
        assert election.leases.verbs == ["PUT"] * 10
        assert a.pauses == [2] * 11
        assert election.leases.spec["renewTime"] == "2026-03-01T12:00:20.250000Z"
        assert election.leases.spec["acquireTime"] == "2026-03-01T12:00:00.250000Z"
        assert a.changes == [True]


async def test_while_the_holder_renews_no_other_replica_leads() -> None:
    async with electing() as election:
        a, b = await election.candidate("a"), await election.candidate("b")

        assert [(await a.turn(after=2), await b.turn()) for _ in range(20)] == [(True, False)] * 20
        assert b.changes == []


async def test_a_lease_is_taken_when_it_has_not_changed_for_its_duration_by_our_own_clock() -> None:
    async with electing(**OTHER) as election:
        b = await election.candidate("b")

        assert not b.leads, "however old its holder's clock says it is"
        assert not await b.turn(after=14.9)
        assert await b.turn(after=0.1)
        assert (election.leases.spec["holderIdentity"], election.leases.spec["leaseTransitions"]) == ("b", 5)
        assert election.leases.spec["acquireTime"] == election.leases.spec["renewTime"] == "2026-03-01T12:00:15.250000Z"


async def test_a_change_that_was_seen_late_counts_from_when_it_was_seen() -> None:
    async with electing(**OTHER) as election:
        b = await election.candidate("b")
        election.leases.edit(**OTHER | {"renewTime": "1999-01-01T00:00:02.000000Z"})

        assert not await b.turn(after=15)
        assert not await b.turn(after=14.9)
        assert await b.turn(after=0.1)


async def test_the_duration_is_that_of_the_holder() -> None:
    async with electing(**OTHER | {"leaseDurationSeconds": 40}) as election:
        b = await election.candidate("b")

        assert not await b.turn(after=39)
        assert await b.turn(after=1)


async def test_a_released_lease_is_taken_at_the_next_turn() -> None:
    async with electing() as election:
        a, b = await election.candidate("a"), await election.candidate("b")

        await a.election.release()

        assert (a.leads, a.changes, election.leases.spec["holderIdentity"]) == (False, [True, False], "")
        assert await b.turn(after=2)
        assert election.leases.spec["leaseTransitions"] == 1


async def test_a_replica_that_released_the_lease_never_takes_it_again() -> None:
    async with electing() as election:
        a = await election.candidate("a")
        await a.election.release()
        await a.last_turn()

        assert election.leases.spec["holderIdentity"] == ""
        assert a.changes == [True, False]


async def test_a_lease_of_another_holder_is_not_released() -> None:
    async with electing(**OTHER) as election:
        b = await election.candidate("b")

        await b.election.release()

        assert election.leases.spec == OTHER

"""Tests of leader election with lost servers, replicas and answers: leadership ends in time and is regained."""

import asyncio

from aiohttp import web
from hypothesis import given, settings, strategies as st

from tests.adapters.kubernetes.election_candidates import electing
from tests.adapters.kubernetes.scripted_server import Step, cut, live, refuse


async def test_a_lease_that_we_wrote_without_hearing_of_it_is_released_too() -> None:
    async with electing() as election:
        election.leases.loses_answers = True
        a = await election.candidate("a")
        assert (a.leads, election.leases.spec["holderIdentity"]) == (False, "a")
        election.leases.loses_answers = False

        await a.election.release()

        assert election.leases.spec["holderIdentity"] == ""


async def test_a_release_that_cannot_be_written_raises_nothing() -> None:
    async with electing() as election:
        a = await election.candidate("a")
        election.leases.instead = [cut] * 2

        await a.election.release()

        assert (a.leads, [error.name for error in a.problems]) == (False, ["ApiUnreachableError"])


async def test_a_leader_that_cannot_renew_stops_leading_before_its_lease_expires() -> None:
    async with electing() as election:
        a = await election.candidate("a")
        election.now += 9.9
        before = a.leads
        election.now += 0.1

        assert (before, a.leads) == (True, False)


async def test_a_renewal_counts_from_when_it_was_sent() -> None:
    async with electing() as election:
        a = await election.candidate("a")

        async def slowly(request: web.Request) -> web.StreamResponse:
            election.now += 7
            return await election.leases.answer(request)

        election.leases.instead = [slowly]
        assert await a.turn(after=2)
        election.now += 3

        assert not a.leads


async def test_the_end_of_leadership_is_reported_at_once_not_a_period_later() -> None:
    async with electing() as election:
        a = await election.candidate("a")
        election.leases.instead = [refuse(500)] * 9
        for _ in range(4):
            await a.turn(after=2)
        await a.turn(after=1)

        assert a.pauses == [2, 2, 2, 2, 2, 1]
        assert a.changes == [True]
        await a.turn(after=1)
        assert a.changes == [True, False]


async def test_two_requests_fit_into_the_deadline_and_none_outlasts_it() -> None:
    async with electing() as election:
        a = await election.candidate("a")
        election.limits.clear()
        election.leases.instead = [cut] * 3
        for seconds in (2, 6, 4):
            await a.turn(after=seconds)

        assert election.limits == [5, 2, 5], "leading for another 8, 2 and 0 seconds"


async def test_a_replica_that_could_not_renew_for_long_leads_again_if_the_lease_is_free() -> None:
    async with electing() as election:
        a = await election.candidate("a")
        election.leases.instead = [cut]
        await a.turn(after=12)
        assert await a.turn(after=2)

        assert a.changes == [True, False, True]
        assert election.leases.spec["leaseTransitions"] == 0


async def test_a_replica_that_could_not_renew_for_long_follows_if_another_took_the_lease() -> None:
    async with electing() as election:
        a, b = await election.candidate("a"), await election.candidate("b")

        assert await b.turn(after=15)
        assert not await a.turn()
        assert (a.changes, b.changes) == ([True, False], [True])


async def test_an_edited_lease_is_read_again_at_once() -> None:
    async with electing() as election:
        a = await election.candidate("a")
        election.leases.edit(**election.leases.spec, preferredHolder="x")

        assert await a.turn(after=2)
        assert election.leases.spec["preferredHolder"] == "x", "what others say in it is kept"
        assert a.changes == [True]


async def test_a_deleted_lease_is_created_again() -> None:
    async with electing() as election:
        a = await election.candidate("a")
        election.leases.lease = None

        assert await a.turn(after=2)
        assert election.leases.spec["holderIdentity"] == "a"


async def test_of_two_replicas_without_a_lease_one_leads() -> None:
    async with electing() as election:
        election.leases.instead = [refuse(404), refuse(404)]
        a, b = await asyncio.gather(election.candidate("a"), election.candidate("b"))

        assert sorted([a.leads, b.leads]) == [False, True]


async def test_a_renewal_whose_answer_was_lost_is_found_again() -> None:
    async with electing() as election:
        a = await election.candidate("a")
        election.leases.loses_answers = True
        await a.turn(after=2)
        election.leases.loses_answers = False

        assert await a.turn(after=2)
        assert a.changes == [True]


async def test_no_answer_of_the_server_ends_the_election_and_each_is_reported() -> None:
    async with electing() as election:
        election.leases.instead = [
            refuse(403),
            cut,
            refuse(500),
            refuse(404),
            refuse(403),
            refuse(404),
            refuse(404),
        ]
        a = await election.candidate("a")
        for _ in range(5):
            await a.turn(after=2)

        assert [getattr(error, "code", 0) for error in a.problems] == [403, 0, 500, 403, 404]
        assert (a.leads, a.changes) == (True, [True])


FAULTS: dict[str, Step] = {"cut": cut, "500": refuse(500)}
TURNS = st.tuples(
    st.booleans(), st.sampled_from([0, 1, 2, 5, 9, 10, 15, 16]), st.sampled_from(["", "", "lost", *FAULTS])
)


@settings(max_examples=20)
@given(st.lists(TURNS, max_size=12))
def test_never_do_two_lead(turns: list[tuple[bool, float, str]]) -> None:
    async def play() -> None:
        async with electing() as election:
            pair = [await election.candidate("a"), await election.candidate("b")]
            for is_second, seconds, fault in turns:
                election.leases.instead = [FAULTS[fault]] if fault in FAULTS else []
                election.leases.loses_answers = fault == "lost"
                await pair[is_second].turn(after=seconds)

                assert not all(candidate.leads for candidate in pair)

    live(play())

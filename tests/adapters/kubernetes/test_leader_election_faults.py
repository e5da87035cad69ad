"""Election: when the server, the other replica or an answer is lost, leading ends in time and comes back."""

import asyncio

from aiohttp import web
from hypothesis import given, settings, strategies as st

from tests.adapters.kubernetes.election_candidates import electing
from tests.adapters.kubernetes.scripted_server import Step, cut, live, refuse


def test_a_lease_that_we_wrote_without_hearing_of_it_is_released_too() -> None:
    async def play() -> None:
        async with electing() as world:
            world.leases.loses_answers = True
            a = await world.candidate("a")
            assert (a.leads, world.leases.spec["holderIdentity"]) == (False, "a")
            world.leases.loses_answers = False

            await a.election.release()

            assert world.leases.spec["holderIdentity"] == ""

    live(play())


def test_a_release_that_cannot_be_written_raises_nothing() -> None:
    async def play() -> None:
        async with electing() as world:
            a = await world.candidate("a")
            world.leases.instead = [cut] * 2

            await a.election.release()

            assert (a.leads, [error.name for error in a.problems]) == (False, ["ApiUnreachableError"])

    live(play())


def test_who_cannot_renew_stops_to_lead_by_himself_before_the_lease_is_old() -> None:
    async def play() -> None:
        async with electing() as world:
            a = await world.candidate("a")
            world.now += 9.9
            before = a.leads
            world.now += 0.1

            assert (before, a.leads) == (True, False)

    live(play())


def test_a_renewal_counts_from_when_it_was_sent() -> None:
    async def play() -> None:
        async with electing() as world:
            a = await world.candidate("a")

            async def slowly(request: web.Request) -> web.StreamResponse:
                world.now += 7
                return await world.leases.answer(request)

            world.leases.instead = [slowly]
            assert await a.turn(after=2)
            world.now += 3

            assert not a.leads

    live(play())


def test_the_end_of_leading_is_told_when_it_comes_not_a_period_later() -> None:
    async def play() -> None:
        async with electing() as world:
            a = await world.candidate("a")
            world.leases.instead = [refuse(500)] * 9
            for _ in range(4):
                await a.turn(after=2)
            await a.turn(after=1)

            assert a.pauses == [2, 2, 2, 2, 2, 1]
            assert a.changes == [True]
            await a.turn(after=1)
            assert a.changes == [True, False]

    live(play())


def test_two_requests_fit_into_the_deadline_and_none_outlasts_it() -> None:
    async def play() -> None:
        async with electing() as world:
            a = await world.candidate("a")
            world.limits.clear()
            world.leases.instead = [cut] * 3
            for seconds in (2, 6, 4):
                await a.turn(after=seconds)

            assert world.limits == [5, 2, 5], "leading for another 8, 2 and 0 seconds"

    live(play())


def test_who_could_not_renew_for_long_leads_again_if_nobody_took_the_lease() -> None:
    async def play() -> None:
        async with electing() as world:
            a = await world.candidate("a")
            world.leases.instead = [cut]
            await a.turn(after=12)
            assert await a.turn(after=2)

            assert a.changes == [True, False, True]
            assert world.leases.spec["leaseTransitions"] == 0

    live(play())


def test_who_could_not_renew_for_long_follows_if_somebody_took_the_lease() -> None:
    async def play() -> None:
        async with electing() as world:
            a, b = await world.candidate("a"), await world.candidate("b")

            assert await b.turn(after=15)
            assert not await a.turn()
            assert (a.changes, b.changes) == ([True, False], [True])

    live(play())


def test_a_lease_that_somebody_edited_is_read_anew_at_once() -> None:
    async def play() -> None:
        async with electing() as world:
            a = await world.candidate("a")
            world.leases.edit(**world.leases.spec, preferredHolder="x")

            assert await a.turn(after=2)
            assert world.leases.spec["preferredHolder"] == "x", "what others say in it is kept"
            assert a.changes == [True]

    live(play())


def test_a_lease_that_was_deleted_is_made_anew() -> None:
    async def play() -> None:
        async with electing() as world:
            a = await world.candidate("a")
            world.leases.lease = None

            assert await a.turn(after=2)
            assert world.leases.spec["holderIdentity"] == "a"

    live(play())


def test_of_two_who_find_no_lease_one_leads() -> None:
    async def play() -> None:
        async with electing() as world:
            world.leases.instead = [refuse(404), refuse(404)]
            a, b = await asyncio.gather(world.candidate("a"), world.candidate("b"))

            assert sorted([a.leads, b.leads]) == [False, True]

    live(play())


def test_a_renewal_whose_answer_was_lost_is_found_again() -> None:
    async def play() -> None:
        async with electing() as world:
            a = await world.candidate("a")
            world.leases.loses_answers = True
            await a.turn(after=2)
            world.leases.loses_answers = False

            assert await a.turn(after=2)
            assert a.changes == [True]

    live(play())


def test_no_answer_of_the_server_ends_it_and_each_is_told() -> None:
    async def play() -> None:
        async with electing() as world:
            world.leases.instead = [refuse(403), cut, refuse(500), refuse(404), refuse(403), refuse(404), refuse(404)]
            a = await world.candidate("a")
            for _ in range(5):
                await a.turn(after=2)

            assert [getattr(error, "code", 0) for error in a.problems] == [403, 0, 500, 403, 404]
            assert (a.leads, a.changes) == (True, [True])

    live(play())


FAULTS: dict[str, Step] = {"cut": cut, "500": refuse(500)}
TURNS = st.tuples(
    st.booleans(), st.sampled_from([0, 1, 2, 5, 9, 10, 15, 16]), st.sampled_from(["", "", "lost", *FAULTS])
)


@settings(max_examples=20)
@given(st.lists(TURNS, max_size=12))
def test_never_do_two_lead(turns: list[tuple[bool, float, str]]) -> None:
    async def play() -> None:
        async with electing() as world:
            pair = [await world.candidate("a"), await world.candidate("b")]
            for is_second, seconds, fault in turns:
                world.leases.instead = [FAULTS[fault]] if fault in FAULTS else []
                world.leases.loses_answers = fault == "lost"
                await pair[is_second].turn(after=seconds)

                assert not all(candidate.leads for candidate in pair)

    live(play())

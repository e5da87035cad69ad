"""Tests of releasing a lease: a turn that is in progress does not regain leadership."""

import asyncio

from aiohttp import web

from tests.adapters.kubernetes.election_candidates import ElectionCandidates, electing
from tests.adapters.kubernetes.scripted_server import Step


class RequestGate:
    """Holds up one request, before or after it has its effect, until the test lets it go on."""

    def __init__(self, election: ElectionCandidates) -> None:
        self.came = asyncio.Event()
        self.may_go = asyncio.Event()
        self._leases = election.leases

    async def before(self, request: web.Request) -> web.StreamResponse:
        self.came.set()
        await self.may_go.wait()
        return await self._leases.answer(request)

    async def after(self, request: web.Request) -> web.StreamResponse:
        answer = await self._leases.answer(request)
        self.came.set()
        await self.may_go.wait()
        return answer


async def released_during(election: ElectionCandidates, gate: RequestGate, step: Step) -> list[bool]:
    """Release while the holder's next turn is under way at a gate; return the leadership changes that it reported."""
    a = await election.candidate("a")
    election.leases.instead = [step]
    turn = asyncio.create_task(a.turn(after=2))
    await gate.came.wait()
    await a.election.release()
    gate.may_go.set()
    await turn
    await a.last_turn()
    assert not a.leads
    return a.changes


async def test_a_renewal_that_comes_too_late_does_not_take_the_lease_back() -> None:
    async with electing() as election:
        gate = RequestGate(election)

        assert await released_during(election, gate, gate.before) == [True, False]
        assert election.leases.spec["holderIdentity"] == ""


async def test_a_renewal_that_was_done_is_released_and_its_answer_means_nothing() -> None:
    async with electing() as election:
        gate = RequestGate(election)

        assert await released_during(election, gate, gate.after) == [True, False]
        assert election.leases.spec["holderIdentity"] == ""

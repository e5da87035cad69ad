"""Whatever becomes of a host, its ledger never has to refuse what it is given: no period gets a second outcome."""

import asyncio
from collections.abc import Sequence

from hypothesis import example, given, settings, strategies as st

from kron.instant import Instant
from kron.rules.periods import nominal_times_between
from kron.testing import MemoryJobLedger
from tests.engine.jobs.world import MINUTE, RestartableHost, work
from tests.rules.test_period_queue import LINES

Act = tuple[str, int]
ACTS = st.lists(
    st.tuples(st.sampled_from(["wait", "wait", "crash", "edit", "salt", "suspend", "resume"]), st.integers(0, 400)),
    max_size=12,
)


async def live(line: str, acts: Sequence[Act]) -> MemoryJobLedger:
    """Let a host live through the acts, and return what it has left."""
    store = MemoryJobLedger()
    world = RestartableHost(store=store)
    job = work(line, deadline="20m")
    await world.begin(job)
    for act, number in acts:
        match act:
            case "wait":
                await world.clock.advance(number * MINUTE)
            case "crash":
                await world.crash(down=number * MINUTE)
                await world.begin(job)
            case "edit":
                job = work(LINES[number % len(LINES)], deadline="20m")
                await world.declare(job)
            case "salt":
                job = work(f"{line} @seed(stable,salt=x{number})", deadline="20m")
                await world.declare(job)
            case "suspend":
                await world.suspend("a")
            case "resume":
                await world.resume("a")
    await world.clock.advance(5 * MINUTE)
    await world.engine.crash()
    assert not [event for event in world.events if "Ledger" in str(event)], world.events
    assert not world.refused
    return store


def handled(store: MemoryJobLedger) -> list[Instant]:
    """Return the nominal times of all outcomes."""
    found: list[Instant] = []
    for last, first, record in store.outcomes.get("a", []):
        found += (
            nominal_times_between("a", store.definitions[record.definition_key], first, last)
            if first < last
            else [last]
        )
    return found


@settings(max_examples=30)
@given(st.sampled_from(LINES), ACTS)
@example("* * * * * @win(after,30m)", [("wait", 90), ("crash", 200)])
@example("0 * * * * @win(after,90m) @dist(skewLate)", [("wait", 100), ("salt", 1), ("crash", 1), ("wait", 200)])
@example("*/5 * * * * @win(around,2h)", [("wait", 237), ("crash", 258), ("edit", 307), ("wait", 644), ("salt", 34)])
def test_no_period_gets_a_second_outcome(line: str, acts: list[Act]) -> None:
    store = asyncio.run(live(line, acts))

    found = handled(store)

    assert len(found) == len(set(found))

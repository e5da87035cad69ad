"""In any sequence of events, a host never offers its ledger a second outcome of a period."""

import asyncio
from collections.abc import Sequence

from hypothesis import example, given, settings, strategies as st

from kron.instant import Instant
from kron.rules.periods import nominal_times_between
from kron.testing import MemoryJobLedger
from tests.engine.jobs.restartable_host import MINUTE, RestartableHost, work
from tests.rules.test_period_queue import LINES

Act = tuple[str, int]
ACTS = st.lists(
    st.tuples(st.sampled_from(["wait", "wait", "crash", "edit", "salt", "suspend", "resume"]), st.integers(0, 400)),
    max_size=12,
)


async def live(line: str, acts: Sequence[Act]) -> MemoryJobLedger:
    """Let a host live through the acts, and return what it has left."""
    store = MemoryJobLedger()
    host = RestartableHost(store=store)
    job = work(line, deadline="20m")
    await host.begin(job)
    for act, number in acts:
        match act:
            case "wait":
                await host.clock.advance(number * MINUTE)
            case "crash":
                await host.crash(down=number * MINUTE)
                await host.begin(job)
            case "edit":
                job = work(LINES[number % len(LINES)], deadline="20m")
                await host.declare(job)
            case "salt":
                job = work(f"{line} @seed(stable,salt=x{number})", deadline="20m")
                await host.declare(job)
            case "suspend":
                await host.suspend("a")
            case "resume":
                await host.resume("a")
    await host.clock.advance(5 * MINUTE)
    await host.engine.crash()
    assert not [event for event in host.events if "Ledger" in str(event)], host.events
    assert not host.refused
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

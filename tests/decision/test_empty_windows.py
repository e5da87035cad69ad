"""A decision equals the result of drawing one by one, even where days and minutes are examined instead."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from kron.decision.decide import decide
from kron.decision.decision import MAX_ATTEMPTS, NO_CANDIDATE
from kron.decision.seed import uniform, uniforms
from kron.decision.timing import Timing
from kron.instant import SECOND, Instant

_CLAUSES = ["dow=MON-WED", "dom=1-3", "months=MAR", "hours=2-3", "between=02:10-02:11", "date=2026-03-29,2026-10-25"]
_RANGES = "dates=2026-03-20..2026-03-28,2026-03-25..2026-04-02,2026-10-01..2026-10-24"


def by_draws(timing: Timing, nominal: Instant) -> tuple[Instant | None, int, str | None]:
    """Return what the definition of the algorithm says: draw, look at the wall clock, draw again."""
    terms = timing.terms
    seed = decide(timing, nominal).seed_hash
    for attempt in range(1, MAX_ATTEMPTS + 1):
        u = uniform(seed, attempt)
        place = u if terms.quantile is None else terms.quantile(u)
        seconds = min(max(int(place * (terms.width + 1)), 0), terms.width)
        candidate = nominal + terms.start + SECOND * seconds
        if not terms.constraints.rejecting_clause(candidate + terms.zone.offset(candidate)):
            return candidate, attempt, None
    return None, MAX_ATTEMPTS, NO_CANDIDATE


def drawn(chance: random.Random) -> tuple[Timing, Instant]:
    sides = [";".join(chance.sample([*_CLAUSES, _RANGES], chance.randint(0, 2))) for _ in range(2)]
    constraints = "".join(f" @{name}({side})" for name, side in zip(("only", "avoid"), sides, strict=True) if side)
    window = f"@win({chance.choice(['after', 'around'])},{chance.choice(['10m', '16h', '50h', '700h', '3000h'])})"
    zone = chance.choice(["UTC", "Europe/Paris", "Australia/Lord_Howe", "America/New_York"])
    shape = chance.choice(["", " @dist(normal)", " @dist(skewLate,shape=3)"])
    timing = Timing.parse(f"* * * * * @tz({zone}) {window}{shape}{constraints}", identity="a")
    days = [datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 10, 20, tzinfo=UTC), datetime(9990, 1, 1, tzinfo=UTC)]
    return timing, chance.choice(days) + timedelta(minutes=chance.randrange(60 * 24 * 40))


@pytest.mark.parametrize("seed", range(150))
def test_a_decision_is_what_the_draws_say_one_by_one(seed: int) -> None:
    timing, nominal = drawn(random.Random(seed))
    decision = decide(timing, nominal)

    if timing.constraints:
        assert (decision.chosen_time, decision.attempts, decision.reason) == by_draws(timing, nominal)


def test_the_numbers_of_a_stream_are_those_that_are_asked_for_one_by_one() -> None:
    seed = "0123456789abcdef" * 4

    assert list(uniforms(seed, 64)) == [uniform(seed, number) for number in range(1, 65)]


def test_a_window_without_an_allowed_second_reports_as_many_attempts_as_draws_would() -> None:
    timing = Timing.parse("0 9 * * * @win(after,8h) @only(dates=2030-01-01..2030-01-02)", identity="a")
    decision = decide(timing, datetime(2026, 3, 2, 9, tzinfo=UTC))

    assert (decision.chosen_time, decision.attempts, decision.reason) == (None, MAX_ATTEMPTS, NO_CANDIDATE)

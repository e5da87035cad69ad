"""find_salt(timing, at) -> Hit: a salt with which some period of a timing is given a certain second."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice

from kron.decision.decide import decide
from kron.decision.decision import Decision
from kron.decision.seed import Seed
from kron.decision.timing import Timing
from kron.errors import OutOfRangeError
from kron.instant import SECOND, Instant
from kron.rules.expected import Span

_TRIES = 40  # for each second of the window: of a uniform choice, one in 10^17 searches fails by that
_FEWEST, _MOST = 1000, 2_000_000


@dataclass(frozen=True, slots=True)
class Hit:
    """A salt and the decision that it leads to."""

    salt: str
    decision: Decision


def find_salt(timing: Timing, at: Instant) -> Hit | str:
    """Return the first salt that leads to a second, the present one before all others, or why there is none."""
    terms = timing.terms
    nominals = list(timing.schedule.between(*Span(at - SECOND, at).reach(terms.first, terms.last)))
    if not nominals:
        return "no period has it in its window"
    violated = terms.constraints.violated(at + terms.zone.offset(at))
    if violated:
        return f"it is not allowed: {violated}"
    tries = min(max(_TRIES * (terms.width + 1), _FEWEST), _MOST)
    for salt in chain([timing.seed.salt], islice(salts(timing.seed.salt), tries)):
        salted = with_salt(timing, salt)
        for nominal in nominals:
            try:
                decision = decide(salted, nominal)
            except OutOfRangeError:  # the calendar ends
                continue
            if decision.chosen_time == at:
                return Hit(salt, decision)
    return f"none of {tries:,} salts leads to it; its distribution hardly ever chooses it"


def salts(present: str) -> Iterator[str]:
    """Yield other salts, without end: numbers, behind the present one if there is any."""
    number = 1
    while True:
        yield f"{present}-{number}" if present else str(number)
        number += 1


def with_salt(timing: Timing, salt: str) -> Timing:
    """Return a timing with another salt."""
    return replace(timing, seed=Seed(timing.seed.strategy, salt))

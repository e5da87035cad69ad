"""Return a KronJob whose next period is due in a few seconds, by a salt that is searched for it."""

from datetime import timedelta
from itertools import count
from math import inf
from typing import Any, NamedTuple

from kron.adapters.system_clock import SystemClock
from kron.decision.decide import decide
from kron.decision.decision import Decision
from kron.instant import SECOND, Instant
from tests.cluster.client import Document
from tests.kronjob.kronjob_documents import document, kronjob

Range = tuple[float, float]

_clock = SystemClock()
_MINUTE, _HOUR = timedelta(minutes=1), timedelta(hours=1)


class Due(NamedTuple):
    """The document, and the decisions of the next minutes, in the order of their seconds."""

    document: Document
    decisions: list[Decision]

    @property
    def first(self) -> Decision:
        """The one that is due soon."""
        return self.decisions[0]


def due_soon(
    now: Instant,
    namespace: str,
    name: str = "soon",
    *,
    first: Range = (3, 8),
    second: Range = (60, inf),
    **spec: Any,
) -> Due:
    """Return a KronJob whose first period is chosen so many seconds from now, and the second so many.

    The third one leaves a busy machine its time: a minute at least. Sixty periods are open at a time, so that some
    salt among a thousand does it. On a busy machine the search itself takes seconds: it is repeated with as much lead.
    """
    lead = timedelta()
    while True:
        begun = _clock.now()
        found = _search(now, now + lead, namespace, name, (first, second, (60, inf)), spec)
        took = _clock.now() - begun
        if took <= lead + SECOND:
            return found
        now, lead = _clock.now(), 2 * took


def _search(
    now: Instant, base: Instant, namespace: str, name: str, ranges: tuple[Range, ...], spec: dict[str, Any]
) -> Due:
    """Return the KronJob of the first salt whose periods after `now` are chosen so many seconds after `base`."""
    for salt in count():
        said = {**spec, "schedule": "* * * * *", "window": {"duration": "1h"}, "seed": {"salt": str(salt)}}
        found = upcoming(now, namespace, name, **said)
        seconds = [(each.chosen_time - base) / SECOND for each in found[: len(ranges)]]
        if all(low <= value <= high for value, (low, high) in zip(seconds, ranges, strict=True)):
            return Due(document(name, namespace, **said), found)
    raise AssertionError("there are salts without end")


def upcoming(now: Instant, namespace: str, name: str, **spec: Any) -> list[Any]:
    """Return the decisions with a second after the last one, for some minutes, in the order of their seconds.

    That last second counts, too: a KronJob that is created now says so in whole seconds.
    """
    timing = kronjob(name=name, namespace=namespace, **spec).timing
    nominals = timing.schedule.between(now - _HOUR - _MINUTE, now + 10 * _MINUTE)
    decisions = [decide(timing, nominal) for nominal in nominals]
    open_ones = [each for each in decisions if each.chosen_time is not None and each.chosen_time > now - SECOND]
    return sorted(open_ones, key=lambda each: each.chosen_time)

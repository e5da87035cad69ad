"""Due: the instants at which a task owes a run: the occurrences of a schedule, or the chosen seconds of a timing."""

from typing import Protocol, TypeAlias

from kron.cron.schedule import Schedule
from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.errors import CronCalculationError, OutOfRangeError
from kron.instant import FIRST_INSTANT, LAST_INSTANT, MICROSECOND, SECOND, Instant, shift

# Constraints may rule out months of minutes, and each rejected draw costs five microseconds.
_AHEAD = 20_000  # rejected draws in a search ahead; then it returns when to search again
_BACK = 200_000  # rejected draws in a search back: two days of minutes with a window, months without
_FEWEST_REMEMBERED, _MOST_REMEMBERED = 64, 2_000  # periods of one search: some 10 kB, and some 300 kB
# For "none", by identity: objects of their own, which no search returns.
_FIRST, _LAST = FIRST_INSTANT.replace(), LAST_INSTANT.replace()


class Due(Protocol):
    """What the occurrences of a schedule and the chosen seconds of a timing have in common."""

    def next(self, after: Instant, /) -> Instant | None:
        """Return the first due instant strictly after, or an earlier one to ask again at; None: there is none."""

    def latest(self, at: Instant, since: Instant, /) -> Instant | None:
        """Return the last due instant at or before, None if there is none; the search ends at `since`."""


class Occurrences:
    """The instants of a schedule; one for all tasks that share it.

    A step asks for each of its tasks, and so does the next step: the occurrences around the last instant asked for are
    remembered, and answer for every instant between them.
    """

    __slots__ = ("_coming", "_past", "_schedule")

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._past, self._coming = _LAST, _FIRST  # nothing lies between them yet

    def next(self, after: Instant) -> Instant | None:
        """Return the first occurrence strictly after."""
        if not self._past <= after < self._coming:
            self._look(after)
        return None if self._coming is _LAST else self._coming

    def latest(self, at: Instant, _since: Instant) -> Instant | None:
        """Return the last occurrence at or before; looking far back costs nothing here."""
        if not self._past <= at < self._coming:
            self._look(at)
        return None if self._past is _FIRST else self._past

    def _look(self, at: Instant) -> None:
        if self._past < self._coming <= at:
            past, coming = self._coming, self._after(self._coming)
            if at < coming:  # time went on from one occurrence to the next, as nearly always
                self._past, self._coming = past, coming
                return
        try:
            self._past = self._schedule.previous(at)
        except CronCalculationError:
            self._past = _FIRST
        self._coming = self._after(at)

    def _after(self, at: Instant) -> Instant:
        try:
            return self._schedule.next(at)
        except CronCalculationError:
            return _LAST


class ChosenTimes:
    """The chosen seconds of one task's timing; a period without one owes nothing.

    Windows may overlap, so chosen seconds need not come in the order of their nominal times; a window's bounds say
    which periods can hold the answer. Of hundreds of them the next search meets nearly all again, so what the last two
    searches have decided is remembered. Tasks with fewer have no need of it, and there may be very many of them.
    """

    __slots__ = ("_earlier", "_first", "_last", "_recent", "_timing")

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        first, last = timing.window.bounds
        self._first, self._last = SECOND * first, SECOND * last
        self._recent: dict[Instant, _Choice] = {}  # by nominal time
        self._earlier: dict[Instant, _Choice] = {}

    def next(self, after: Instant) -> Instant | None:
        """Return the earliest chosen second strictly after, or when to ask again if it is many periods away."""
        best, patience = None, _AHEAD
        self._begin_search()
        try:
            nominal = self._timing.schedule.next(shift(after, -self._last))
            while best is None or nominal < shift(best, -self._first):
                chosen, draws = self._choose(nominal)
                if chosen is not None and chosen > after and (best is None or chosen < best):
                    best = chosen
                patience -= draws
                nominal = self._timing.schedule.next(nominal)
                if best is None and patience < 0:
                    return max(nominal + self._first, after + SECOND)
        except (CronCalculationError, OverflowError):  # the calendar ends
            return best
        finally:
            self._end_search()
        return best

    def latest(self, at: Instant, since: Instant) -> Instant | None:
        """Return the latest chosen second at or before, None if there is none since then."""
        best, patience = None, _BACK
        self._begin_search()
        try:
            nominal = self._timing.schedule.previous(shift(at, -self._first))
            while nominal > shift(best or since, -self._last) and (best is not None or patience >= 0):
                chosen, draws = self._choose(nominal)
                if chosen is not None and chosen <= at and (best is None or chosen > best):
                    best = chosen
                patience -= draws
                nominal = self._timing.schedule.previous(nominal - MICROSECOND)
        except (CronCalculationError, OverflowError):  # the calendar begins
            return best
        finally:
            self._end_search()
        return best

    def _begin_search(self) -> None:
        self._earlier, self._recent = self._recent, {}

    def _end_search(self) -> None:
        if len(self._recent) < _FEWEST_REMEMBERED:
            self._recent = {}

    def _choose(self, nominal: Instant) -> "_Choice":
        """Return the chosen second of a period, and what finding it took."""
        choice = self._recent.get(nominal) or self._earlier.get(nominal) or self._decide(nominal)
        if len(self._recent) < _MOST_REMEMBERED:
            self._recent[nominal] = choice
        return choice

    def _decide(self, nominal: Instant) -> "_Choice":
        try:
            decision = decide(self._timing, nominal)
        except OutOfRangeError:
            return None, 1
        return decision.chosen_time, max(1, decision.attempts)


_Choice: TypeAlias = tuple[Instant | None, int]

"""find_salt: a salt that makes a chosen second; Tuner: salts and windows that keep starts within a budget."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import chain, islice, pairwise
from typing import NamedTuple, TypeAlias

from kron.cron.schedule import Schedule
from kron.decision.decide import decide
from kron.decision.decision import Decision
from kron.decision.seed import Seed
from kron.decision.timing import Timing
from kron.decision.window import Window
from kron.errors import OutOfRangeError
from kron.forecast.load import UNITS, start_seconds
from kron.forecast.runs import ForecastJob, TimeSpan
from kron.instant import SECOND, Instant, format_duration, shift

_TRIES = 40  # for each second of the window: of a uniform choice, one in 10^17 searches fails by that
_FEWEST, _LONGEST_SALT = 1000, 2_000_000


@dataclass(frozen=True, slots=True)
class SaltMatch:
    """A salt and the decision that it leads to."""

    salt: str
    decision: Decision


def find_salt(timing: Timing, at: Instant) -> SaltMatch | str:
    """Return the first salt that leads to a second, the present one before all others, or why there is none."""
    terms = timing.terms
    nominals = list(timing.schedule.between(*TimeSpan(at - SECOND, at).nominal_range(terms.first, terms.last)))
    if not nominals:
        return "no period has it in its window"
    violated = terms.constraints.rejecting_clause(at + terms.zone.offset(at))
    if violated:
        return f"it is not allowed: {violated}"
    tries = min(max(_TRIES * (terms.width + 1), _FEWEST), _LONGEST_SALT)
    for salt in chain([timing.seed.salt], islice(candidate_salts(timing.seed.salt), tries)):
        salted = with_salt(timing, salt)
        for nominal in nominals:
            try:
                decision = decide(salted, nominal)
            except OutOfRangeError:  # the calendar ends
                continue
            if decision.chosen_time == at:
                return SaltMatch(salt, decision)
    return f"none of {tries:,} salts leads to it; its distribution hardly ever chooses it"


def candidate_salts(present: str) -> Iterator[str]:
    """Yield other salts, without end: numbers, behind the present one if there is any."""
    number = 1
    while True:
        yield f"{present}-{number}" if present else str(number)
        number += 1


def with_salt(timing: Timing, salt: str) -> Timing:
    """Return a timing with another salt."""
    return replace(timing, seed=Seed(timing.seed.strategy, salt))


_SALTS = 4  # that are tried for a job
_CANDIDATES = 16  # jobs of a bucket that are looked at
_ENOUGH, _MOST = 12, 96  # changes that are tried at a bucket: until one helps; and at all
_HOPELESS = 3  # times in a row that a window did not bring a job of a schedule to where there is room
_LONGEST = 86_400
_MINUTES = (1, 5, 10, 15, 30, 45, 60, 90, 120, 180, 240, 360, 480, 720, 1080, 1440)  # of windows
_SPACINGS = 1000  # periods whose spacing is looked at

Hits: TypeAlias = "array[int]"  # the buckets of a job's runs


_Kind: TypeAlias = tuple[Schedule, Window]


class TuningChange(NamedTuple):
    """What a file should say of a job instead: under which key, in the words of its modifier."""

    identity: str
    key: str
    old: str
    new: str


class Tuner:
    """Brings the starts of a span under a budget. Entries that are `fixed`, by identity, are left as they are."""

    def __init__(
        self, entries: Sequence[ForecastJob], span: TimeSpan, unit: str, budget: int, *, fixed: frozenset[str]
    ) -> None:
        self.entries = list(entries)
        self._original = [entry.timing for entry in entries]
        self._span, self._size, self._budget = span, UNITS[unit], budget
        self._fixed = {place for place, entry in enumerate(entries) if entry.identity in fixed}
        self._counts: dict[int, int] = {}
        self._spacings: dict[Schedule, int] = {}
        self._failures: dict[_Kind, int] = {}  # in a row
        self._hits: list[Hits] = []
        self._failed: list[int] = []
        for entry in entries:
            hits, failed = self._find(entry.timing)
            self._hits.append(hits)
            self._failed.append(failed)
            for bucket in hits:
                self._counts[bucket] = self._counts.get(bucket, 0) + 1
        self._members: dict[int, set[int]] = {bucket: set() for bucket, count in self._counts.items() if count > budget}
        for place, hits in enumerate(self._hits):
            for bucket in hits:
                if bucket in self._members:
                    self._members[bucket].add(place)

    @property
    def excess(self) -> int:
        """How many starts there are too many, in all buckets together."""
        return sum(count - self._budget for count in self._counts.values() if count > self._budget)

    def steps(self) -> Iterator[int]:
        """Make one change after the other, and yield how many starts it has brought to where there is room."""
        stuck: set[int] = set()
        while over := [bucket for bucket in self._members if bucket not in stuck]:
            fullest = min(over, key=lambda bucket: (-self._counts[bucket], bucket))
            gained = self._relieve(fullest)
            if gained:
                yield gained
            else:
                stuck.add(fullest)
        self._take_back()

    def changes(self) -> list[TuningChange]:
        """Return what has become of the timings."""
        found = []
        for entry, was in zip(self.entries, self._original, strict=True):
            now = entry.timing
            if now.window != was.window:
                found.append(TuningChange(entry.identity, "window", _window_text(was.window), _window_text(now.window)))
            if now.seed.salt != was.seed.salt:
                found.append(TuningChange(entry.identity, "salt", was.seed.salt, now.seed.salt))
        return found

    # --- one bucket ---------------------------------------------------------------------------------------------------

    def _relieve(self, bucket: int) -> int:
        """Change the job of a bucket whose change helps most; return by how much, 0 if none helps."""
        return self._try(bucket, hopeless=_HOPELESS) or self._try(bucket, hopeless=_MOST)

    def _try(self, bucket: int, *, hopeless: int) -> int:
        best_gain, best = 0, None
        for tried, (place, timing) in enumerate(islice(self._tries(bucket, hopeless), _MOST)):
            if best is not None and tried >= _ENOUGH:
                break
            gain, perfect = self._gain(place, timing)
            self._failures[_kind(timing)] = 0 if perfect else self._failures.get(_kind(timing), 0) + 1
            if gain > best_gain:
                best_gain, best = gain, (place, timing)
                if perfect:
                    break
        if best is not None:
            self._apply(*best)
        return best_gain

    def _tries(self, bucket: int, hopeless: int) -> Iterator[tuple[int, Timing]]:
        """Yield changes of jobs of a bucket: salts before windows, and first of the jobs with the most to gain."""
        movable = sorted(self._members[bucket] - self._fixed)[:_CANDIDATES]
        movable.sort(key=lambda place: -sum(each in self._members for each in self._hits[place]))
        for options in (self._other_salts, self._wider_windows):
            for place in movable:
                for timing in options(place):
                    if self._failures.get(_kind(timing), 0) < hopeless:
                        yield place, timing

    def _other_salts(self, place: int) -> Iterator[Timing]:
        now = self.entries[place].timing
        if now.terms.width:
            for salt in islice(candidate_salts(self._original[place].seed.salt), _SALTS):
                if salt != now.seed.salt:
                    yield with_salt(now, salt)

    def _wider_windows(self, place: int) -> Iterator[Timing]:
        now = self.entries[place].timing
        widest = min(self._spacing(now), _LONGEST + 1)
        for minutes in _MINUTES:
            if now.terms.width < minutes * 60 < widest:
                yield replace(now, window=Window(now.window.mode, timedelta(minutes=minutes)))

    def _spacing(self, timing: Timing) -> int:
        """Return the least seconds from one period to the next: a wider window would mix them."""
        schedule = timing.schedule
        if schedule not in self._spacings:
            nominals = islice(schedule.between(self._span.since, shift(self._span.until, SECOND * _LONGEST)), _SPACINGS)
            spacings = ((after - before) // SECOND for before, after in pairwise(nominals))
            self._spacings[schedule] = min(spacings, default=_LONGEST)
        return self._spacings[schedule]

    def _gain(self, place: int, timing: Timing) -> tuple[int, bool]:
        """Return by how much a change would lessen the excess, and whether it could not be better."""
        hits, failed = self._find(timing)
        if failed > self._failed[place]:
            return -1, False
        relieved = self._count(self._hits[place], -1)
        burdened = self._count(hits, 1)
        self._count(hits, -1)
        self._count(self._hits[place], 1)
        return relieved - burdened, burdened == 0

    def _count(self, hits: Hits, step: int) -> int:
        """Add to or take from the counts, and return how many of these starts are, or were, too many."""
        counts, limit, over = self._counts, self._budget if step > 0 else self._budget + 1, 0
        for bucket in hits:
            count = counts.get(bucket, 0)
            over += count >= limit
            counts[bucket] = count + step
        return over

    def _apply(self, place: int, timing: Timing) -> None:
        old, (new, _) = self._hits[place], self._find(timing)
        self._count(old, -1)
        self._count(new, 1)
        self._hits[place] = new
        self.entries[place] = self.entries[place]._replace(timing=timing)
        for bucket in {*old, *new}:
            if self._counts[bucket] <= self._budget:
                self._members.pop(bucket, None)
            elif bucket not in self._members:
                self._members[bucket] = {each for each, hits in enumerate(self._hits) if bucket in hits}
            elif bucket in new:
                self._members[bucket].add(place)
            else:
                self._members[bucket].discard(place)

    def _find(self, timing: Timing) -> tuple[Hits, int]:
        _, taken, failed = start_seconds(timing, self._span)
        return array("q", [second // self._size for second in taken]), failed

    def _take_back(self) -> None:
        """Undo the changes without which the excess is no greater."""
        for place in reversed(range(len(self.entries))):
            was = self._original[place]
            if self.entries[place].timing != was:
                gain, _ = self._gain(place, was)
                if gain >= 0:
                    self._apply(place, was)


def _kind(timing: Timing) -> _Kind:
    return timing.schedule, timing.window


def _window_text(window: Window) -> str:
    return f"{window.mode.value},{format_duration(window.duration)}"

"""decide(timing, nominal) -> Decision: the whole deterministic calculation."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import MAXYEAR, UTC, datetime, timedelta
from typing import NamedTuple

from kron.cron.zone import tzdata_release
from kron.decision.decision import MAX_ATTEMPTS, NO_CANDIDATE, ONLY_SECOND_NOT_ALLOWED, Decision
from kron.decision.seed import SeedStrategy, period_id, period_key, seed_hash, uniform, uniforms
from kron.decision.timing import Terms, Timing
from kron.errors import OutOfRangeError
from kron.instant import SECOND, Instant, instant

_LAST_SAFE_YEAR = MAXYEAR - 293  # from there on the longest duration may leave the calendar
_FIRST_EASY_YEAR = 2  # before it, a wall time may lie before the calendar
_DAY = timedelta(days=1)
_EXAMINED = 60 * 86_400  # seconds of a window whose days are examined before the draws; that takes as long as they do
_TABULATED = 3601
_SECONDS = tuple(SECOND * seconds for seconds in range(_TABULATED))  # a look-up takes a fifth of making one
_STABLE = SeedStrategy.STABLE
_make = tuple.__new__  # what calling a named tuple does, in half the time


def decide(timing: Timing | Decision, nominal: datetime) -> Decision:
    """Return the decision for the period anchored at a nominal time, an aware datetime.

    That the schedule names `nominal` is the caller's promise; a fraction of a second is dropped. The terms may also be
    taken from a decision made before.
    """
    at = nominal if nominal.__class__ is datetime and nominal.tzinfo is UTC else instant(nominal)
    if at.microsecond:
        at = at.replace(microsecond=0)
    terms = timing.terms
    seed = terms.seed
    try:
        if at.year > _LAST_SAFE_YEAR:
            at + SECOND * terms.last  # raises where the window leaves the calendar
        key = period_id(at) if seed.strategy is _STABLE else period_key(seed.strategy, at, terms.zone)
        hash_ = seed_hash(terms.identity, key, seed.salt)
        start = at + terms.start
        if terms.free:  # the common case: the first candidate is accepted
            u = uniform(hash_, 1)
            seconds = int(u * (terms.width + 1)) if terms.quantile is None else _place(terms, terms.quantile(u))
            chosen = start + (_SECONDS[seconds] if seconds < _TABULATED else SECOND * seconds)
            return _make(Decision, (terms, at, key, hash_, chosen, 1, None))
        return Decision(terms, at, key, hash_, *_choose(terms, start, hash_))
    except OverflowError as error:
        raise OutOfRangeError(what=f"the window of {period_id(at)}") from error


def replay(decision: Decision) -> Decision:
    """Compute a recorded decision again, from nothing but the record and the time zone data in use.

    With the same data it is equal to the recorded one, unless that was altered.
    """
    terms = replace(decision.terms, tzdata_version=tzdata_release())
    return decide(decision._replace(terms=terms), decision.nominal_time)


def _choose(terms: Terms, start: Instant, hash_: str) -> tuple[Instant | None, int, str | None]:
    """Return the first allowed candidate and the attempts it took, or None, the attempts and the reason."""
    zone, constraints = terms.zone, terms.constraints
    if not terms.width:
        allowed = constraints.allows(start + zone.offset(start))
        return (start, 0, None) if allowed else (None, 0, ONLY_SECOND_NOT_ALLOWED)
    if start.year < _FIRST_EASY_YEAR or start.year > _LAST_SAFE_YEAR:
        return _choose_by_dates(terms, start, hash_)
    end = start + SECOND * terms.width
    table = zone.table_at(end)
    segment = table.segment(start)
    if end >= table.ends[segment]:
        if _is_hopeless(terms, start, end):
            return None, MAX_ATTEMPTS, NO_CANDIDATE
        return _choose_by_dates(terms, start, hash_)
    # One offset holds for the whole window, so that wall times are sums of whole seconds.
    local = start + table.offsets[segment]
    first = local.toordinal() * 86_400 + local.hour * 3600 + local.minute * 60 + local.second
    if terms.width <= _EXAMINED and not constraints.allows_within(first, first + terms.width):
        return None, MAX_ATTEMPTS, NO_CANDIDATE  # what as many draws would say
    minutes, allows_day = constraints.minutes, constraints.allows_ordinal
    quantile, width = terms.quantile, terms.width
    for attempt, u in enumerate(uniforms(hash_, MAX_ATTEMPTS), 1):
        seconds = min(max(int((u if quantile is None else quantile(u)) * (width + 1)), 0), width)
        day, second = divmod(first + seconds, 86_400)
        if minutes >> second // 60 & 1 and allows_day(day):
            return start + SECOND * seconds, attempt, None
    return None, MAX_ATTEMPTS, NO_CANDIDATE


def _is_hopeless(terms: Terms, start: Instant, end: Instant) -> bool:
    """Whether no day that a window may touch is allowed, whatever the offsets inside of it are."""
    if not terms.constraints.minutes:
        return True
    if terms.width > _EXAMINED:
        return False
    days = range((start - _DAY).toordinal(), (end + _DAY).toordinal() + 1)  # no offset is longer than a day
    return not any(map(terms.constraints.allows_ordinal, days))


def _choose_by_dates(terms: Terms, start: Instant, hash_: str) -> tuple[Instant | None, int, str | None]:
    """Return the same for a window that the clocks change in, or that may touch an end of the calendar."""
    zone, constraints = terms.zone, terms.constraints
    for attempt, u in enumerate(uniforms(hash_, MAX_ATTEMPTS), 1):
        candidate = _candidate(terms, start, u)
        if constraints.allows(candidate + zone.offset(candidate)):
            return candidate, attempt, None
    return None, MAX_ATTEMPTS, NO_CANDIDATE


def _candidate(terms: Terms, start: Instant, u: float) -> Instant:
    return start + SECOND * _place(terms, u if terms.quantile is None else terms.quantile(u))


def _place(terms: Terms, x: float) -> int:
    """Return the whole seconds from the window's start for x; both ends of the window can be reached."""
    return min(max(int(x * (terms.width + 1)), 0), terms.width)


class Candidate(NamedTuple):
    """One attempt: the number drawn, its second, and the clause that rejected it (empty if none did)."""

    attempt: int
    u: float
    at: Instant
    rejected_by: str


def candidates(decision: Decision) -> Iterator[Candidate]:
    """Yield the attempts that led to a decision, in order, for showing."""
    terms = decision.terms
    for attempt in range(1, decision.attempts + 1):
        u = uniform(decision.seed_hash, attempt)
        at = _candidate(terms, decision.window_start, u)
        yield Candidate(attempt, u, at, terms.constraints.rejecting_clause(at + terms.zone.offset(at)))

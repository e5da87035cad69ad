"""count_starts(entries, span) -> Load: how many start at once, by nominal and by chosen times, and when it is worst.

Long spans are counted in slices, whose loads are added: only the seconds of one slice are held at a time.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from heapq import nsmallest
from itertools import pairwise

from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.errors import OutOfRangeError
from kron.forecast.runs import ForecastJob, TimeSpan, decisions_in
from kron.instant import EPOCH, SECOND, Instant, format_instant, shift

UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
PEAKS = ("second", "minute", "hour")
WORST = 10  # collisions that are reported
MINUTES = 1440  # of a day
_PARTS = 8  # of a span: more than processes, so that none waits long for the last
_SHORTEST = 6 * 3600  # seconds of a slice: windows reach over its ends
_DAY = 86_400
_WEEK, _YEAR = 7 * _DAY, 400 * _DAY
_AT_A_TIME = 100_000  # periods of a long slice: its seconds are in memory, and a bar shows when it is counted
_SERIES = (("second", 3600), ("minute", 2 * 86_400), ("hour", 400 * 86_400))  # until a span is this long

Counts = dict[int, int]


@dataclass(frozen=True, slots=True)
class Peak:
    """The greatest count, and the number of the second, minute or hour since 1970 where it first stands."""

    count: int = 0
    at: int = 0

    def to_dict(self, unit: int) -> dict[str, object]:
        """Return the count and the beginning of its unit as JSON holds them."""
        return {"count": self.count, "at": format_instant(from_epoch_second(self.at * unit)) if self.count else None}


_FLAT = Peak()


@dataclass(slots=True)
class StartCounts:
    """Counts of each second of a slice, as peaks, as a series and by the minute of the day."""

    total: int = 0
    peaks: dict[str, Peak] = field(default_factory=lambda: dict.fromkeys(PEAKS, _FLAT))
    series: Counts = field(default_factory=dict)
    minutes: list[int] = field(default_factory=lambda: [0] * MINUTES)

    @classmethod
    def of(cls, seconds: Counts, unit: str) -> "StartCounts":
        """Return the tally of counts by second."""
        tally = cls(sum(seconds.values()))
        by_unit = {"second": seconds}
        for finer, coarser in (("second", "minute"), ("minute", "hour"), ("hour", "day")):
            by_unit[coarser] = _gathered(by_unit[finer], UNITS[coarser] // UNITS[finer])
        tally.peaks = {each: _peak(by_unit[each]) for each in PEAKS}
        tally.series = by_unit[unit]
        for minute, count in by_unit["minute"].items():
            tally.minutes[minute % MINUTES] += count
        return tally

    def add(self, other: "StartCounts") -> None:
        """Take what another slice has."""
        self.total += other.total
        self.peaks = {unit: _higher(peak, other.peaks[unit]) for unit, peak in self.peaks.items()}
        for bucket, count in other.series.items():
            self.series[bucket] = self.series.get(bucket, 0) + count
        self.minutes = [mine + its for mine, its in zip(self.minutes, other.minutes, strict=True)]

    def peaks_to_dict(self) -> dict[str, object]:
        """Return the peaks as JSON holds them."""
        return {unit: peak.to_dict(UNITS[unit]) for unit, peak in self.peaks.items()}


@dataclass(slots=True)
class Load:
    """The load of a span, or of a slice of it."""

    nominal: StartCounts = field(default_factory=StartCounts)
    chosen: StartCounts = field(default_factory=StartCounts)
    unschedulable: int = 0
    worst: list[tuple[int, int]] = field(default_factory=list)  # counts and seconds of collisions
    active: Peak = _FLAT  # how many run in one second
    busy: int = 0  # seconds that all runs together take

    def add(self, other: "Load") -> None:
        """Take the load of a slice that was not counted yet."""
        self.nominal.add(other.nominal)
        self.chosen.add(other.chosen)
        self.unschedulable += other.unschedulable
        self.worst = _worst([*self.worst, *other.worst])
        self.active = _higher(self.active, other.active)
        self.busy += other.busy


def series_unit(span: TimeSpan) -> str:
    """Return the finest unit in which a span is no more than some thousands."""
    length = (span.until - span.since) // SECOND
    return next((unit for unit, longest in _SERIES if length <= longest), "day")


def slices(span: TimeSpan, a_day: float = 0.0) -> list[TimeSpan]:
    """Return parts of a span that begin with an hour, so that none of a minute or an hour is in two of them.

    If there are about `a_day` periods a day, they may be longer than a week.
    """
    length = (span.until - span.since) // SECOND
    longest = min(max(int(_AT_A_TIME * _DAY / a_day), _WEEK), _YEAR) if a_day else _WEEK
    part = -(-min(max(length // _PARTS, _SHORTEST), longest) // 3600) * 3600
    first, last = epoch_second(span.since) // 3600 * 3600, epoch_second(span.until)
    inner = [from_epoch_second(second) - SECOND for second in range(first + part, last + 1, part)]
    bounds = [span.since, *(at for at in inner if span.since < at < span.until), span.until]
    return [TimeSpan(since, until) for since, until in pairwise(bounds)]


def count_starts(
    entries: Iterable[ForecastJob],
    span: TimeSpan,
    unit: str = "hour",
    *,
    durations: Mapping[str, timedelta] | None = None,
) -> Load:
    """Return the load of a slice; `durations` are those of runs, by identity, as far as they are known."""
    nominal: Counter[int] = Counter()
    chosen: Counter[int] = Counter()
    changes: Counter[int] = Counter()  # of how many run, by second
    failed = busy = 0
    for entry in entries:
        named, taken, without = start_seconds(entry.timing, span)
        nominal.update(named)
        chosen.update(taken)
        failed += without
        if durations and entry.identity in durations:
            seconds = max(1, -(-durations[entry.identity] // SECOND))
            busy += seconds * len(taken)
            _run(entry.timing, span, seconds, changes)
    worst = _worst((count, second) for second, count in chosen.items())
    return Load(StartCounts.of(nominal, unit), StartCounts.of(chosen, unit), failed, worst, _most_active(changes), busy)


def identities_at(entries: Iterable[ForecastJob], at: Instant) -> list[ForecastJob]:
    """Return those that start at a second, once for each start, by identity and host."""
    second = TimeSpan(at - SECOND, at)
    found = ((entry, decision) for entry in entries for decision in decisions_in(entry.timing, second))
    starting = (entry for entry, decision in found if decision.chosen_time is not None)
    return sorted(starting, key=lambda entry: (entry.identity, entry.host))


def epoch_second(at: Instant) -> int:
    """Return the seconds from 1970 to an instant."""
    since = at - EPOCH
    return since.days * 86_400 + since.seconds


def from_epoch_second(second: int) -> Instant:
    """Return the instant so many seconds after 1970, the calendar's end if it lies beyond."""
    return shift(EPOCH, SECOND * second)


def start_seconds(timing: Timing, span: TimeSpan) -> tuple[list[int], list[int], int]:
    """Return the seconds of nominal and of chosen times in a span, and how many periods of it have none."""
    since, until = span
    named: list[int] = []
    taken: list[int] = []
    failed = 0
    try:
        for nominal in timing.schedule.between(*span.nominal_range(timing.terms.first, timing.terms.last)):
            if since < nominal <= until:
                named.append(epoch_second(nominal))
            decision = decide(timing, nominal)
            chosen = decision.chosen_time
            if chosen is None:
                failed += decision.window_start in span
            elif since < chosen <= until:
                taken.append(epoch_second(chosen))
    except OutOfRangeError:  # the calendar ends
        pass
    return named, taken, failed


def _run(timing: Timing, span: TimeSpan, seconds: int, changes: Counter[int]) -> None:
    """Note when runs begin and end that go on in a span, of which some began before it."""
    first = epoch_second(span.since) + 1
    if span.since == span.until:
        return
    for decision in decisions_in(timing, TimeSpan(shift(span.since, -SECOND * seconds), span.until)):
        if decision.chosen_time is not None:
            start = epoch_second(decision.chosen_time)
            if start + seconds > first:
                changes[max(start, first)] += 1
                changes[start + seconds] -= 1


def _most_active(changes: Counter[int]) -> Peak:
    highest, active = _FLAT, 0
    for second in sorted(changes):
        active += changes[second]
        highest = _higher(highest, Peak(active, second))
    return highest


def _gathered(counts: Counts, factor: int) -> Counts:
    gathered: Counts = {}
    for at, count in counts.items():
        gathered[at // factor] = gathered.get(at // factor, 0) + count
    return gathered


def _peak(counts: Counts) -> Peak:
    highest = max(counts.values(), default=0)
    return Peak(highest, min(at for at, count in counts.items() if count == highest)) if highest else _FLAT


def _higher(one: Peak, other: Peak) -> Peak:
    return other if (other.count, -other.at) > (one.count, -one.at) and other.count else one


def _worst(found: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the greatest counts above one, the earliest of equal ones first."""
    return nsmallest(WORST, ((count, at) for count, at in found if count > 1), key=lambda item: (-item[0], item[1]))

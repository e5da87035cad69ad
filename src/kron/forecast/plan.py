"""plan_change(old, new, span) -> SchedulePlan: which runs a change of jobs adds, removes or moves, and why."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from datetime import date, timedelta
from typing import NamedTuple

from kron.cron.zone import Zone
from kron.decision.decide import decide
from kron.decision.decision import Decision
from kron.decision.timing import Timing
from kron.errors import OutOfRangeError
from kron.forecast.runs import ForecastJob, TimeSpan, decisions_in
from kron.instant import SECOND, Instant, format_instant, shift
from kron.rules.periods import effective_time

_DAY = 86_400


class MovedRun(NamedTuple):
    """A run that is given another second."""

    identity: str
    nominal: Instant
    before: Instant
    after: Instant
    host: str = ""

    def to_dict(self) -> dict[str, object]:
        """Return the move as JSON holds it."""
        return {
            "identity": self.identity,
            "period_id": format_instant(self.nominal),
            "from": format_instant(self.before),
            "to": format_instant(self.after),
            **_said(self.host),
        }


class ChangedSeed(NamedTuple):
    """A job with another identity or salt: all its seconds change, and with the identity its history ends, too."""

    identity: str  # the new one
    name: str
    old: str
    new: str
    host: str = ""

    def to_dict(self) -> dict[str, object]:
        """Return the change as JSON holds it."""
        return {
            "identity": self.identity,
            "name": self.name,
            "old": self.old,
            "new": self.new,
            **_said(self.host),
        }


class ClockChangeDay(NamedTuple):
    """A day on which the clocks of a zone are changed, and the jobs that run otherwise on it."""

    date: date
    timezone: str
    at: Instant
    identities: tuple[str, ...]
    host: str = ""

    def to_dict(self) -> dict[str, object]:
        """Return the night as JSON holds it."""
        day = self.date.isoformat()
        return {
            "date": day,
            "timezone": self.timezone,
            "at": format_instant(self.at),
            "identities": list(self.identities),
            **_said(self.host),
        }


def _said(host: str) -> dict[str, object]:
    """Return the field with the host, where an inventory names hosts."""
    return {"host": host} if host else {}


@dataclass(slots=True)
class SchedulePlan:
    """What a change does to the runs of a span."""

    added: list[tuple[ForecastJob, Decision]] = field(default_factory=list)
    removed: list[tuple[ForecastJob, Decision]] = field(default_factory=list)
    moves: list[MovedRun] = field(default_factory=list)
    identities: list[ChangedSeed] = field(default_factory=list)
    salts: list[ChangedSeed] = field(default_factory=list)
    nights: list[ClockChangeDay] = field(default_factory=list)

    @property
    def moved(self) -> int:
        """How many runs are not where they were: moved, or gone to another identity."""
        renamed = {(changed.host, changed.old) for changed in self.identities}
        return len(self.moves) + sum((entry.host, entry.identity) in renamed for entry, _ in self.removed)


def plan_change(
    old: Sequence[ForecastJob], new: Sequence[ForecastJob], span: TimeSpan, *, advance: Callable[[int], object] = bool
) -> SchedulePlan:
    """Return what happens in a span if the old jobs are replaced by the new ones; `advance` is called for each job.

    Jobs of several hosts are compared host by host.
    """
    hosts: dict[str, tuple[list[ForecastJob], list[ForecastJob]]] = {}
    for side, entries in enumerate((old, new)):
        for entry in entries:
            hosts.setdefault(entry.host, ([], []))[side].append(entry)
    found = SchedulePlan()
    for host, sides in hosts.items():
        _compare(host, *sides, span, found, advance)
    for runs in (found.added, found.removed):
        runs.sort(key=lambda run: (effective_time(run[1]), run[0].identity))
    found.moves.sort(key=lambda move: (move.before, move.identity))
    return found


def _compare(
    host: str,
    old: Sequence[ForecastJob],
    new: Sequence[ForecastJob],
    span: TimeSpan,
    every: SchedulePlan,
    advance: Callable[[int], object],
) -> None:
    """Add what the change does on one host."""
    found = SchedulePlan()
    before, after = ({entry.identity: entry for entry in entries} for entries in (old, new))
    for identity in dict.fromkeys([*before, *after]):
        was, becomes = before.get(identity), after.get(identity)
        advance(1)
        if was is None or becomes is None:
            _one_side(was, becomes, span, found)
        elif was.timing != becomes.timing:
            _both_sides(was, becomes, span, found)
            if was.timing.seed.salt != becomes.timing.seed.salt:
                salts = (was.timing.seed.salt, becomes.timing.seed.salt)
                found.salts.append(ChangedSeed(identity, becomes.name, *salts, host))
    gone = [entry for entry in old if entry.identity not in after]
    come = [entry for entry in new if entry.identity not in before]
    found.identities = list(_renamed(gone, come))
    found.nights = [night._replace(host=host) for night in _nights(found, [*old, *new], span)]
    for part in fields(SchedulePlan):
        getattr(every, part.name).extend(getattr(found, part.name))


def _one_side(was: ForecastJob | None, becomes: ForecastJob | None, span: TimeSpan, found: SchedulePlan) -> None:
    for entry, runs in ((was, found.removed), (becomes, found.added)):
        if entry is not None:
            runs += [(entry, decision) for decision in decisions_in(entry.timing, span) if decision.chosen_time]


def _both_sides(was: ForecastJob, becomes: ForecastJob, span: TimeSpan, found: SchedulePlan) -> None:
    """Compare period by period all that has a run in the span, before or after the change."""
    first = min(entry.timing.terms.first for entry in (was, becomes))
    last = max(entry.timing.terms.last for entry in (was, becomes))
    reach = span.nominal_range(first, last)
    befores, afters = _by_nominal(was.timing, reach), _by_nominal(becomes.timing, reach)
    for nominal in sorted({*befores, *afters}):
        before, after = befores.get(nominal), afters.get(nominal)
        start = None if before is None else before.chosen_time
        end = None if after is None else after.chosen_time
        if start == end or (start not in span and end not in span):
            continue
        if start is None:
            assert after is not None
            found.added.append((becomes, after))
        elif end is None:
            assert before is not None
            found.removed.append((was, before))
        else:
            found.moves.append(MovedRun(becomes.identity, nominal, start, end, becomes.host))


def _by_nominal(timing: Timing, reach: TimeSpan) -> dict[Instant, Decision]:
    found = {}
    for nominal in timing.schedule.between(*reach):
        try:
            found[nominal] = decide(timing, nominal)
        except OutOfRangeError:  # the calendar ends
            break
    return found


def _renamed(gone: Iterable[ForecastJob], come: Iterable[ForecastJob]) -> Iterator[ChangedSeed]:
    """Yield the jobs that are there under another identity: of the same name, or else the same in all but the name."""
    left = {entry.identity: entry for entry in gone}
    rest = list(come)
    for trait in (_name, _does):
        known: dict[object, list[ForecastJob]] = {}
        for entry in left.values():
            known.setdefault(trait(entry), []).append(entry)
        unknown = []
        for entry in rest:
            if same := known.get(trait(entry)):
                old = same.pop(0)
                del left[old.identity]
                yield ChangedSeed(entry.identity, entry.name, old.identity, entry.identity, entry.host)
            else:
                unknown.append(entry)
        rest = unknown


def _name(entry: ForecastJob) -> object:
    return entry.name


def _does(entry: ForecastJob) -> object:
    return entry.command_text, entry.timing.to_line()


# --- nights on which clocks are changed -------------------------------------------------------------------------------


def _nights(found: SchedulePlan, entries: Iterable[ForecastJob], span: TimeSpan) -> list[ClockChangeDay]:
    """Return the days of clock changes on which, by nominal time, some run is another one."""
    zones: dict[str, set[Zone]] = {}
    for entry in entries:
        zones.setdefault(entry.identity, set()).add(entry.timing.schedule.zone)
    changes = {zone: _changes(zone, span) for zone in {zone for each in zones.values() for zone in each}}
    if not any(changes.values()):
        return []
    touched: dict[tuple[Instant, str, date], set[str]] = {}
    runs = [(entry.identity, decision.nominal_time) for entry, decision in [*found.added, *found.removed]]
    for identity, nominal in [*runs, *((move.identity, move.nominal) for move in found.moves)]:
        for zone in zones[identity]:
            if not changes[zone]:
                continue
            day = (nominal + zone.offset(nominal)).date()
            if day in changes[zone]:
                touched.setdefault((changes[zone][day], zone.name, day), set()).add(identity)
    return [ClockChangeDay(day, zone, at, tuple(sorted(who))) for (at, zone, day), who in sorted(touched.items())]


def _changes(zone: Zone, span: TimeSpan) -> dict[date, Instant]:
    """Return the local days around a span on which the clocks of a zone are changed, and when."""
    first, last = shift(span.since, -SECOND * _DAY), shift(span.until, SECOND * _DAY)
    table = zone.table_at(last)
    places = range(1, len(table.starts))
    return {
        _wall_day(table.starts[place], table.offsets[place - 1]): table.starts[place]
        for place in places
        if first <= table.starts[place] <= last
    }


def _wall_day(at: Instant, offset: timedelta) -> date:
    return (at + offset).date()

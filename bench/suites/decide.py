"""Decisions per second for several timings, beside the bare arithmetic that every decision needs."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from importlib import import_module
from random import Random
from statistics import median
from time import thread_time
from typing import Any

from bench.clock import clean_slices, parts_of, per_second, rate_once_each
from bench.results import Cells
from bench.suite import Measurement, Suite
from bench.tables import Promise, Table, number

_IDENTITY, _SALT = "prod/db-backup", "bench"
_WINDOW_SECONDS = 3600
_SEED = f"@seed(stable,salt={_SALT})"
_HOUR = f"* * * * * @win(after,1h) {_SEED}"
_NIGHT = f"0 0 * * * @win(after,6h) {_SEED}"
_TIMINGS = {
    "uniform": _HOUR,
    "skewLate": f"{_HOUR} @dist(skewLate,shape=2.5)",
    "exponential": f"{_HOUR} @dist(exponential,lambda=2)",
    "normal": f"{_HOUR} @dist(normal)",
    "uniform in Paris": f"{_HOUR} @tz(Europe/Paris)",
    "constraints, all allowed": f"{_NIGHT} @only(hours=0-6;dow=SUN-SAT)",
    "constraints, half allowed": f"{_NIGHT} @avoid(hours=1,3,5)",
    "constraints in Paris, half allowed": f"{_NIGHT} @tz(Europe/Paris) @only(hours=0,2,4,6)",
}
_BARE = "bare arithmetic"
_BARE_TEXT = "bare arithmetic, its seed text built from the nominal"
# Other nominals in every round: nothing can be remembered. More of them than enough: slow slices can be left out.
_ROUNDS, _NOMINALS, _ENOUGH, _PART = 5, 10_000, 4000, 500
_YEAR_START, _YEAR_END = datetime(2025, 12, 31, 23, 59, tzinfo=UTC), datetime(2026, 12, 31, 23, 59, tzinfo=UTC)


def measure(peer: str, repeat: int) -> Measurement:  # noqa: ARG001  # one peer, and every repeat is the same
    """Measure everything in one process, in turns, so that the ratios share whatever disturbs them."""
    kron, found = import_module("kron"), Measurement()
    decide: Callable[[Any, datetime], Any] = kron.decide
    timings = {name: kron.Timing.parse(text, identity=_IDENTITY) for name, text in _TIMINGS.items()}
    rates: dict[str, list[float]] = {}
    unscheduled = dict.fromkeys(timings, 0)
    wrong = 0
    for minutes, midnights in _rounds():
        seeds = [_seed_text(at) for at in minutes]
        rates.setdefault(_BARE, []).append(rate_once_each(_bare, seeds, part=_PART, enough=_ENOUGH))
        rates.setdefault(_BARE_TEXT, []).append(rate_once_each(_bare_from_nominal, minutes, part=_PART, enough=_ENOUGH))
        for name, timing in timings.items():
            nominals = midnights if _TIMINGS[name].startswith(_NIGHT) else minutes
            slices = clean_slices(partial(_decide_all, decide, timing), parts_of(nominals, _PART), enough=_ENOUGH)
            rates.setdefault(name, []).append(per_second(slices))
            unscheduled[name] += sum(decide(timing, at).chosen_time is None for at in nominals[:_PART])
        wrong += sum(decide(timings["uniform"], at).chosen_time != _right(at) for at in minutes[:_PART])
    found.figures |= {name: median(samples) for name, samples in rates.items()}
    decisions = _ROUNDS * _PART
    found.figures |= {f"{name} unschedulable": count / decisions for name, count in unscheduled.items()}
    found.figures["wrong"] = wrong
    found.figures["year"] = _year(kron)
    return found


def _decide_all(decide: Callable[[Any, datetime], Any], timing: Any, nominals: Sequence[datetime]) -> datetime | None:
    """Decide every nominal, and read every chosen time."""
    chosen: datetime | None = None
    for nominal in nominals:
        chosen = decide(timing, nominal).chosen_time
    return chosen


def _right(nominal: datetime) -> datetime:
    return nominal + timedelta(seconds=_bare(_seed_text(nominal)))


def _rounds() -> list[tuple[list[datetime], list[datetime]]]:
    """Return, for each round, minutes and midnights of ten years in random order."""
    rng = Random(4)
    first, minutes = datetime(2024, 1, 1, tzinfo=UTC), 10 * 365 * 1440
    rounds = []
    for _ in range(_ROUNDS):
        some = [first + timedelta(minutes=rng.randrange(minutes)) for _ in range(_NOMINALS)]
        rounds.append((some, [at.replace(hour=0, minute=0) for at in some]))
    return rounds


def _seed_text(nominal: datetime) -> str:
    return f"{_IDENTITY}\n{nominal.strftime('%Y-%m-%dT%H:%M:%SZ')}\n{_SALT}"


def _bare(seed_text: str) -> int:
    """One SHA-256, one step of SplitMix64, one mapping to a second of the window: the offset of a uniform decision."""
    mask = 0xFFFFFFFFFFFFFFFF
    state = int.from_bytes(sha256(seed_text.encode()).digest()[:8], "big") + 0x9E3779B97F4A7C15 & mask
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & mask
    state = (state ^ state >> 27) * 0x94D049BB133111EB & mask
    return int(((state ^ state >> 31) >> 11) * 2.0**-53 * (_WINDOW_SECONDS + 1))


def _bare_from_nominal(nominal: datetime) -> int:
    return _bare(f"{_IDENTITY}\n{nominal.isoformat()[:19]}Z\n{_SALT}")


def _year(kron: Any) -> float:
    """Return the seconds for every minute of a year: its occurrences found, each decided."""
    schedule = kron.Schedule("* * * * *", dialect="posix")
    timing = kron.Timing.parse(f"* * * * * @win(after,1m) {_SEED}", identity=_IDENTITY)
    decide = kron.decide
    count = 0
    start = thread_time()
    for nominal in schedule.between(_YEAR_START, _YEAR_END):
        count += decide(timing, nominal).chosen_time is not None
    seconds = thread_time() - start
    if count != 525_600:
        raise AssertionError(f"a year has 525,600 minutes, {count} were decided")
    return seconds


def tables(cells: Cells) -> list[Table]:
    """Return one table of rates beside the bare arithmetic, the year in its notes."""
    kron = cells["kron"]
    if kron.error:
        return []
    rows = [
        (
            name,
            number(kron.get(name)),
            number(cells.ratio(("kron", name), ("kron", _BARE))),
            number(kron.get(f"{name} unschedulable")),
        )
        for name in (_BARE, _BARE_TEXT, *_TIMINGS)
    ]
    notes = (
        f"every minute of a year, found and decided (525,600 decisions): {number(kron.get('year'), ' s')} of one core",
        f"uniform decisions that are not what the bare arithmetic gives: {number(kron.get('wrong'))}",
    )
    return [Table("Decisions", ("what", "per s", "x bare", "share unschedulable"), rows, notes)]


def promises(cells: Cells) -> list[Promise]:
    """Return what Kron promises about decisions."""
    uniform, bare = ("kron", "uniform"), ("kron", _BARE)
    text = "uniform decision, beside the bare arithmetic"
    return [Promise(text, cells.ratio(uniform, bare), 0.5, "x", spread=cells.ratio_range(uniform, bare))]


SUITE = Suite("decide", ("kron",), measure, tables, promises)

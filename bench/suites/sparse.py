"""The cost of rare occurrences beside an ordinary one, and the effect of an impossible expression."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from typing import Any

from bench.clock import microseconds
from bench.peers import PEERS, Peer, load_peer
from bench.results import Cells
from bench.suite import Measurement, Suite
from bench.tables import MISSING, Promise, Table, number

_SECONDS = 0.1
_ORDINARY = "ordinary"
_LEAP_SUNDAY = "leap Sunday"
_NEVER = "0 0 30 2 *"

# The expression, a start, and the right answer. 2100 is no leap year, which puts eight years after 2096 and, with the
# weekday, forty after 2088.
_CASES = {
    _ORDINARY: ("0 9 * * 1-5", datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC), datetime(2026, 3, 4, 9, tzinfo=UTC)),
    "yearly": ("59 23 31 12 *", datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC), datetime(2026, 12, 31, 23, 59, tzinfo=UTC)),
    "leap day": ("0 0 29 2 *", datetime(2096, 2, 29, 0, 0, 1, tzinfo=UTC), datetime(2104, 2, 29, tzinfo=UTC)),
    _LEAP_SUNDAY: ("0 0 29 2 */7", datetime(2088, 2, 29, 0, 0, 1, tzinfo=UTC), datetime(2128, 2, 29, tzinfo=UTC)),
}
_RARE = tuple(case for case in _CASES if case != _ORDINARY)


def measure(peer: str, repeat: int) -> Measurement:  # noqa: ARG001  # every repeat is the same
    """Measure the cases on parsed objects, then parse what can never match."""
    cron, found = load_peer(peer), Measurement()
    found.facts["version"] = cron.version()
    for case, (text, at, right) in _CASES.items():
        if case == _LEAP_SUNDAY and peer != "kron":
            continue  # what a step in the weekday means beside a day is each library's own invention
        try:
            find, start = cron.finder(_parse(cron, text)), cron.start(at)
            answer = cron.instant(find(start))
        except Exception as error:  # each library has its own
            found.facts[case] = f"{type(error).__name__}"
            continue
        if answer == right:
            found.figures[case] = microseconds(find, start, seconds=_SECONDS)
        else:
            found.facts[case] = "no answer" if answer is None else f"answers {answer:%Y-%m-%d}"
    _measure_never(cron, found)
    return found


def _parse(cron: Peer, text: str) -> Any:
    if "/" in text:
        return import_module("kron").Schedule(text, dialect="extended")
    return cron.parse(text)


def _measure_never(cron: Peer, found: Measurement) -> None:
    start = cron.start(datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC))
    try:
        parsed = cron.parse(_NEVER)
    except Exception as error:  # each library has its own
        found.facts["never"] = f"refused at parse: {type(error).__name__}"
        found.figures["never"] = microseconds(partial(_attempt, cron.parse), _NEVER, seconds=_SECONDS)
        return
    find = cron.finder(parsed)
    try:
        found.facts["never"] = f"parsed; next: {find(start)}"
    except Exception as error:  # each library has its own
        found.facts["never"] = f"parsed; next: {type(error).__name__}"
    found.figures["never"] = microseconds(partial(_attempt, find), start, seconds=_SECONDS)


def _attempt(function: Callable[[Any], object], argument: Any) -> None:
    try:  # noqa: SIM105  # a context manager would weigh on fast libraries
        function(argument)
    except Exception:
        pass  # what it raises was looked at before


def tables(cells: Cells) -> list[Table]:
    """Return one table: microseconds by case, and how often that is the ordinary case of the same peer."""
    rare = (text for case in _RARE for text in (f"{case} us", "x ordinary"))
    header = ("peer", f"{_ORDINARY} us", *rare, "never us", "how")
    return [Table("Rare occurrences", header, [_row(cells, cell.peer) for cell in cells.measured()])]


def _row(cells: Cells, peer: str) -> tuple[str, ...]:
    cell = cells[peer]
    row = [peer + ("" if PEERS[peer].rebases else " *")]
    for case in _CASES:
        row.append(number(cell.get(case)) if cell.get(case) else cell.fact(case) or MISSING)
        if case != _ORDINARY:
            row.append(number(cells.ratio((peer, case), (peer, _ORDINARY))))
    return (*row, number(cell.get("never")), cell.fact("never"))


def promises(cells: Cells) -> list[Promise]:
    """Return what Kron promises about rare occurrences."""
    found = []
    for case in _RARE:
        rare, ordinary = ("kron", case), ("kron", _ORDINARY)
        spread = cells.ratio_range(rare, ordinary)
        text = f"{case} (`{_CASES[case][0]}`), beside an ordinary next"
        found.append(Promise(text, cells.ratio(rare, ordinary), 20, "x", at_most=True, spread=spread))
    return found


SUITE = Suite("sparse", tuple(PEERS), measure, tables, promises)

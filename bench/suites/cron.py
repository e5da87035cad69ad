"""Rates of next, successive, previous and parse for each peer, and how many of its answers are wrong."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from bench.clock import Call, percentile_99, rate, rate_once_each
from bench.corpus import ZONES, expressions, fresh_expressions, pairs
from bench.peers import PEERS, Peer, load_peer
from bench.reference import next_instant
from bench.results import Cell, Cells
from bench.suite import Measurement, Suite
from bench.tables import MISSING, Promise, Table, number

_FRESH = 3000
_SUCCESSIVE, _WALKS = 20, 60
_SECONDS = 0.15  # of clean time per figure; a slow peer takes longer

_PURE = tuple(name for name, peer in PEERS.items() if not peer.native and name != "kron")


def measure(peer: str, repeat: int) -> Measurement:
    """Measure one peer in every zone that it knows; check its answers in the first repeat."""
    found = Measurement()
    cron = load_peer(peer)
    found.facts["version"] = cron.version()
    _measure_parse(cron, found)
    for zone in ZONES if cron.knows_zones else ZONES[:1]:
        # All pairs are checked once; after that the repeats take turns with the halves, to spare the slow peers.
        work = pairs() if repeat == 0 else pairs()[repeat % 2 :: 2]
        _measure_zone(load_peer(peer, zone), work, found, check=repeat == 0)
    return found


def _measure_parse(cron: Peer, found: Measurement) -> None:
    """Fresh first: every text is new to the process. Then the corpus over and over, which caches like best."""
    cron.parse("1 2 3 4 *")  # what a library sets up on first use is not parsing
    attempt, texts = partial(_try_parse, cron.parse), fresh_expressions(4 * _FRESH)
    found.figures["parse fresh"] = rate_once_each(attempt, texts, part=50, enough=_FRESH)
    accepted = _parsed(cron, found)
    found.figures["parse warm"] = rate([(cron.parse, text) for text in accepted], seconds=_SECONDS)


def _try_parse(parse: Callable[[str], object], text: str) -> None:
    try:  # noqa: SIM105  # a context manager would weigh on fast libraries
        parse(text)
    except Exception:
        pass  # a refusal is an answer, too


def _parsed(cron: Peer, found: Measurement) -> dict[str, object]:
    parsed = {}
    refused = []
    for text in expressions():
        try:
            parsed[text] = cron.parse(text)
        except Exception as error:  # each library has its own
            refused.append(f"`{text}` ({type(error).__name__})")
    found.figures["refused"] = len(refused)
    if refused:
        found.facts["refused"] = refused[0]
    return parsed


def _measure_zone(cron: Peer, work: Sequence[tuple[int, datetime]], found: Measurement, *, check: bool) -> None:
    parsed, texts, zone = _parsed(cron, found), expressions(), cron.zone_name
    accepted = [(texts[index], at) for index, at in work if texts[index] in parsed]
    answered = _answered(cron, parsed, accepted, found, check=check)
    calls: list[Call] = [(cron.finder(parsed[text]), cron.start(at)) for text, at in answered]
    found.figures[f"{zone} next"] = rate(calls, seconds=_SECONDS)
    found.figures[f"{zone} p99"] = percentile_99(calls, seconds=_SECONDS)
    if calls[0][1].tzinfo is not cron.zone:  # it likes instants; what if it is given local times, like the others?
        local: list[Call] = [(cron.finder(parsed[text]), at.astimezone(cron.zone)) for text, at in answered]
        found.figures[f"{zone} next from local"] = rate(local, seconds=_SECONDS)
    walks: list[Call] = [(partial(_walk, cron, parsed[text]), cron.start(at)) for text, at in answered[:_WALKS]]
    found.figures[f"{zone} successive"] = rate(_working(walks), seconds=_SECONDS, enough=_WALKS // 2) * _SUCCESSIVE
    if zone == "UTC" and cron.back_finder(next(iter(parsed.values()))):
        back: list[Call] = [(cron.back_finder(parsed[text]), cron.start(at)) for text, at in answered[:500]]
        found.figures[f"{zone} previous"] = rate(_working(back), seconds=_SECONDS, enough=250)


def _walk(cron: Peer, parsed: object, start: datetime) -> None:
    cron.walk(parsed, start, _SUCCESSIVE)


def _working(calls: Sequence[Call]) -> list[Call]:
    """Return the calls that do not fail: some libraries see only a few years ahead."""
    found = []
    for function, argument in calls:
        try:
            function(argument)
        except Exception:  # each library has its own
            continue
        found.append((function, argument))
    return found


def _answered(
    cron: Peer, parsed: dict[str, object], work: Sequence[tuple[str, datetime]], found: Measurement, *, check: bool
) -> list[tuple[str, datetime]]:
    """Return the pairs that the peer answers at all; count its wrong answers if asked to."""
    answered = []
    wrong: list[tuple[str, str]] = []
    for text, at in work:
        try:
            answer = cron.instant(cron.finder(parsed[text])(cron.start(at)))
        except Exception:  # each library has its own
            continue
        if answer is None:
            continue
        answered.append((text, at))
        if check and answer != (right := next_instant(text, at, cron.zone)):
            wrong.append((text, f"`{text}` after {_show(at)}: {_show(answer)}, right is {_show(right)}"))
    if check:
        found.figures[f"{cron.zone_name} unanswered"] = len(work) - len(answered)
        found.figures[f"{cron.zone_name} wrong"] = len(wrong)
        found.figures[f"{cron.zone_name} checked"] = len(answered)
        found.figures[f"{cron.zone_name} wrong with both days"] = sum(_restricts_both(text) for text, _ in wrong)
        # An example of something else than day and weekday, if there is one: that cause has its own column.
        for _, example in sorted(wrong, key=lambda pair: _restricts_both(pair[0]))[:1]:
            found.facts[f"{cron.zone_name} wrong"] = example
    return answered


def _restricts_both(text: str) -> bool:
    _minute, _hour, day, _month, weekday = text.split()
    return "*" not in (day, weekday)


def _show(at: datetime | None) -> str:
    return "nothing" if at is None else f"{at:%Y-%m-%d %H:%M}"


def tables(cells: Cells) -> list[Table]:
    """Return the tables of speed and the table of right and wrong."""
    return [_next_table(cells), _walk_table(cells), _parse_table(cells), _answer_table(cells)]


def _next_table(cells: Cells) -> Table:
    header = ("peer", "version", "UTC next/s", "x", "p99 us", "New York next/s", "x", "Paris next/s", "x")
    rows = []
    for cell in _ordered(cells, "UTC next"):
        row = [_name(cell), cell.fact("version"), *_with_ratio(cells, cell, "UTC next"), number(cell.get("UTC p99"))]
        for zone in ZONES[1:]:
            row += _with_ratio(cells, cell, f"{zone} next")
        rows.append(tuple(row))
    notes = ["`*` another start means another object: each next of this peer parses, too", "`+` compiled"]
    locals_ = [number(cells["kron"].get(f"{zone} next from local"), "/s") for zone in ZONES[1:]]
    notes.append(f"Kron is given instants; given local times it does {locals_[0]} in New York, {locals_[1]} in Paris")
    return Table("Next occurrence: parsed object, random start", header, rows, tuple(notes))


def _walk_table(cells: Cells) -> Table:
    header = ("peer", "UTC/s", "x", "New York/s", "x", "Paris/s", "x", "previous UTC/s", "x")
    figures = [*(f"{zone} successive" for zone in ZONES), "UTC previous"]
    rows = [
        (_name(cell), *(text for figure in figures for text in _with_ratio(cells, cell, figure)))
        for cell in _ordered(cells, "UTC successive")
    ]
    return Table(f"{_SUCCESSIVE} successive occurrences, and the previous one", header, rows)


def _parse_table(cells: Cells) -> Table:
    header = ("peer", "fresh/s", "x", "warm/s", "x", "refused")
    rows = []
    for cell in _ordered(cells, "parse fresh"):
        speeds = (*_with_ratio(cells, cell, "parse fresh"), *_with_ratio(cells, cell, "parse warm"))
        rows.append((_name(cell), *speeds, f"{number(cell.count('refused'))}/{len(expressions())}"))
    notes = (
        "fresh: thousands of different texts, each parsed once; warm: the corpus over and over",
        "cronexpr has no parse apart from next: its figure is both; a refusal counts as an answer in fresh",
    )
    return Table("Parse", header, rows, notes)


def _answer_table(cells: Cells) -> Table:
    header = ("peer", "UTC wrong", "by day or weekday", "New York differs", "Paris differs", "no answer", "example")
    rows = []
    for cell in sorted(cells.measured(), key=lambda cell: cell.count("UTC wrong") or 0.0):
        utc, *zones = (
            f"{number(cell.count(f'{zone} wrong'))}/{checked:,.0f}"
            if (checked := cell.count(f"{zone} checked"))
            else MISSING
            for zone in ZONES
        )
        example = next((fact for zone in ZONES if (fact := cell.fact(f"{zone} wrong"))), MISSING)
        both = number(cell.count("UTC wrong with both days"))
        rows.append((_name(cell), utc, both, *zones, number(cell.count("UTC unanswered")), example))
    notes = (
        "wrong: not the answer of a slow reference with POSIX's rule, day or weekday if both are restricted",
        "by day or weekday: how many of the wrong answers are to an expression that restricts both",
        "differs: the same in a zone, where the reference skips a missing minute and repeats a repeated one",
        "a peer with another policy for the nights of a change differs in a handful of answers without being wrong",
    )
    return Table("Right and wrong", header, rows, notes)


def promises(cells: Cells) -> list[Promise]:
    """Return what Kron promises about cron expressions."""
    found = [
        _faster(cells, "UTC next", "cronsim", 15),
        _faster(cells, "UTC next", "croniter", 25),
        _faster(cells, "UTC next", "croniter-rs", 1),
        _faster(cells, "UTC next", "cronexpr", 1),
        *(_faster(cells, f"{zone} next", "cronsim", 10) for zone in ZONES[1:]),
    ]
    for figure in ("parse fresh", "parse warm"):
        kron = cells["kron"]
        samples = kron.samples(figure)
        spread = (min(samples), max(samples)) if samples else None
        found.append(Promise(f"{figure}", kron.get(figure), 100_000, "/s", spread=spread))
        rivals = [name for name in _PURE if cells[name].get(figure)]
        if rivals:
            fastest = max(rivals, key=lambda name: cells[name].get(figure) or 0.0)
            found.append(_faster(cells, figure, fastest, 1, "the fastest in pure Python, "))
    return found


def _faster(cells: Cells, figure: str, peer: str, times: float, whom: str = "") -> Promise:
    kron, other = ("kron", figure), (peer, figure)
    text = f"{figure}, beside {whom}{peer}"
    return Promise(text, cells.ratio(kron, other), times, "x", spread=cells.ratio_range(kron, other))


def _ordered(cells: Cells, figure: str) -> list[Cell]:
    return sorted(cells.measured(), key=lambda cell: -(cell.get(figure) or 0.0))


def _with_ratio(cells: Cells, cell: Cell, figure: str) -> tuple[str, str]:
    return number(cell.get(figure)), number(cells.ratio(("kron", figure), (cell.peer, figure)))


def _name(cell: Cell) -> str:
    peer = PEERS[cell.peer]
    return cell.peer + (" *" if not peer.rebases else "") + (" +" if peer.native else "")


SUITE = Suite("cron", tuple(PEERS), measure, tables, promises)

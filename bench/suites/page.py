"""The page of a daemon: time and size of its overview, and the lateness of jobs while 50 pages are open."""

import sqlite3
from pathlib import Path
from statistics import median
from time import sleep

from bench.daemons.daemon import Jobs, live
from bench.daemons.krond import Krond
from bench.daemons.stamps import stamps
from bench.results import Cell, Cells
from bench.suite import Measurement, Suite
from bench.tables import MISSING, Promise, Table, number
from bench.visitors import Door, Visitors

_OVERVIEW, _LIVE = "krond-overview", "krond-live"
_PEERS = (_OVERVIEW, _LIVE)
_JOBS, _ROWS = 10_000, 1_000_000
_A_MINUTE = 3000
_PAGES = 50
_LOOKS, _BETWEEN = 20, 1.3  # seconds: a page is good for one
_TURN, _TURNS = 20, 3  # seconds, with and without visitors
_MARGIN, _SETTLED = 8.0, 3.0
_FILL = """WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :rows)
INSERT INTO entry (job, kind, nominal, number, attempt, chosen, effective, outcome, reason, detail, definition, at,
    run_id, boot, pid, ticks, ended, result, exit_code)
SELECT job.id, 'period', at, 1, 1, at, at, 'executed', '', '', job.definition, at, 'old-' || i, 'b', 1, 1, at,
    CASE WHEN i % 97 THEN 'succeeded' ELSE 'failed' END, CASE WHEN i % 97 THEN 0 ELSE 1 END
FROM (SELECT i, 1 + i % :jobs AS number, replace(:sample, :day, date('2024-01-01', '+' || (i / :jobs) || ' days')) AS at
    FROM n) JOIN job ON job.id = number"""


class _Listening(Krond):
    """A krond that listens."""

    def __init__(self) -> None:
        self.folder = Path()

    def write(self, folder: Path, jobs: list[Jobs]) -> list[str]:
        """Write its file, with an address in it."""
        self.folder = folder
        command = super().write(folder, jobs)
        path = folder / "jobs.toml"
        path.write_text(path.read_text("utf-8").replace("[krond]\n", '[krond]\nlisten = "127.0.0.1:0"\n', 1), "utf-8")
        return command


def measure(peer: str, repeat: int) -> Measurement:  # noqa: ARG001  # every repeat is the same
    """Measure one of the two."""
    return _overview() if peer == _OVERVIEW else _lateness()


def _overview() -> Measurement:
    daemon, found = _Listening(), Measurement()
    found.facts["version"] = daemon.version()
    with live(daemon, [Jobs(_JOBS, ("/bin/true", ""), minutes=(0,), window="after,59m")]) as _:
        fill(daemon.folder / "state" / "ledger.db", _ROWS)
        door = Door(daemon.folder)
        looks = []
        for _ in range(_LOOKS):
            sleep(_BETWEEN)
            looks.append(door.look("/"))
    found.figures["first"] = median(look.first for look in looks)
    found.figures["worst"] = max(look.first for look in looks)
    found.figures["kB"] = max(look.size for look in looks) / 1000
    return found


def fill(ledger: Path, rows: int) -> None:
    """Put a history into a ledger, as fast as a file takes it; its daemon writes behind it."""
    with sqlite3.connect(ledger, timeout=60) as connection:
        (sample,) = connection.execute("SELECT declared_at FROM job LIMIT 1").fetchone()
        given = {"rows": rows, "jobs": _JOBS, "sample": sample, "day": sample[:10]}
        connection.execute(_FILL, given)
    connection.close()


def _lateness() -> Measurement:
    """Measure in turns without and with visitors, so that a slow second of the machine hits both."""
    daemon, found = _Listening(), Measurement()
    found.facts["version"] = daemon.version()
    late: dict[str, list[float]] = {"alone": [], "live": []}
    looks = 0
    with stamps() as written, live(daemon, [Jobs(_A_MINUTE, written.argv, window="after,59s")], margin=_MARGIN):
        door = Door(daemon.folder)
        sleep(_SETTLED)
        for _ in range(_TURNS):
            written.take()
            sleep(_TURN)
            late["alone"] += [row.begun - row.due for row in written.take() if row.due is not None]
            with Visitors(door, _PAGES) as visitors:
                sleep(_SETTLED)
                written.take()
                sleep(_TURN)
                late["live"] += [row.begun - row.due for row in written.take() if row.due is not None]
            looks += len(visitors.looks)
    for name, values in late.items():
        values.sort()
        found.figures[f"{name} p50"] = values[len(values) // 2] * 1e3
        found.figures[f"{name} p99"] = values[len(values) * 99 // 100] * 1e3
    found.figures["more"] = found.figures["live p99"] - found.figures["alone p99"]
    found.figures["looks"] = looks
    return found


def tables(cells: Cells) -> list[Table]:
    """Return one table for each of the two."""
    first = {"first byte ms": "first", "worst ms": "worst", "kB": "kB"}
    second = {f"{name} {share} ms": f"{name} {share}" for name in ("alone", "live") for share in ("p50", "p99")}
    second["pages fetched"] = "looks"
    return [
        _table(
            cells[_OVERVIEW],
            f"The overview with {_JOBS:,} jobs and {_ROWS:,} records",
            first,
            f"{_LOOKS} looks over a connection of their own, far enough apart that each page is rendered again",
        ),
        _table(
            cells[_LIVE],
            f"Lateness with {_PAGES} open pages, {_A_MINUTE // 60} starts a second",
            second,
            "each page listens, and fetches the overview again when something happened, as its script does",
        ),
    ]


def _table(cell: Cell, title: str, figures: dict[str, str], note: str) -> Table:
    row = (
        cell.fact("version") or MISSING,
        *(number(cell.get(key)) for key in figures.values()),
        str(len(cell.counted)),
    )
    return Table(title, ("version", *figures, "processes"), [] if cell.error else [row], (note,))


def promises(cells: Cells) -> list[Promise]:
    """Return what Kron promises about its page."""
    overview, watched = cells[_OVERVIEW], cells[_LIVE]
    about = f"overview with {_JOBS:,} jobs and {_ROWS:,} records"
    looking = f"p99 of the lateness with {_PAGES} open pages, above that without"
    return [
        Promise(
            f"{about}: first byte", overview.get("first"), 200, " ms", at_most=True, spread=overview.spread("first")
        ),
        Promise(f"{about}: size", overview.get("kB"), 300, " kB", at_most=True, spread=overview.spread("kB")),
        Promise(looking, watched.get("more"), 10, " ms", at_most=True, spread=watched.spread("more")),
    ]


SUITE = Suite("page", _PEERS, measure, tables, promises, most_repeats=dict.fromkeys(_PEERS, 1), seconds_allowed=480.0)

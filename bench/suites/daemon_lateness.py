"""50 starts a second of a real daemon: their lateness, beside daemons with a resolution of minutes."""

from time import sleep

from bench.daemons import load_daemon
from bench.daemons.daemon import MINUTE, Jobs, live, next_minute, processor_seconds, wait_for, wait_until
from bench.daemons.stamps import Stamps, stamps
from bench.results import Cells
from bench.rows import peer_of, row_of, size_of
from bench.suite import Measurement, Suite
from bench.tables import Promise, Table

_KROND = "krond"
_A_MINUTE = 3000  # 50 starts in each of its seconds
_SHORT, _LONG = row_of(_KROND, _A_MINUTE), row_of(_KROND, 5 * _A_MINUTE)
_OTHERS = tuple(row_of(peer, _A_MINUTE) for peer in ("cronstable", "goroutines", "debian-cron"))
_PEERS = (_SHORT, *_OTHERS, _LONG)
_MARGIN = 8.0
_FIRST, _LONGEST = 170.0, 55.0  # seconds that all jobs of a minute have for beginning: the first time, and then
_SETTLED = 2.0  # seconds that a daemon has been ready before its starts count


def measure(peer: str, repeat: int) -> Measurement:  # noqa: ARG001  # every repeat is the same
    """Run as many minutes as the row has starts for."""
    daemon, found = load_daemon(peer_of(peer)), Measurement()
    is_kron = peer_of(peer) == _KROND
    with stamps() as written:
        jobs = Jobs(_A_MINUTE, written.argv, window="after,59s" if is_kron else "")
        with live(daemon, [jobs], margin=_MARGIN) as process:
            found.facts["version"] = daemon.version()
            late = _spread_late(found, written, size_of(peer), process.pid) if is_kron else _minute_late(written)
    late.sort()
    found.figures |= {name: late[int(len(late) * share)] * 1e3 for name, share in (("p50", 0.5), ("p99", 0.99))}
    found.figures |= {"last": late[-1] * 1e3, "starts": len(late)}
    return found


def _spread_late(found: Measurement, written: Stamps, starts: int, pid: int) -> list[float]:
    """Return how late each start was after the second that was chosen for it."""
    sleep(_SETTLED)
    written.take()
    seconds = starts // (_A_MINUTE // MINUTE)
    used = processor_seconds(pid)
    sleep(seconds)
    found.figures["cpu"] = (processor_seconds(pid) - used) / seconds * 100
    late = [row.begun - row.due for row in written.take() if row.due is not None]
    if len(late) < 0.9 * starts:
        raise RuntimeError(f"{len(late)} of some {starts} began")
    return late


def _minute_late(written: Stamps) -> list[float]:
    """Return how late each start was after the minute, when all of them are due; a minute in which all began is over.

    Who has not read its file yet is not late, but not ready; and what does not begin has no figure.
    """
    _wait_for_all(written, _FIRST)
    at = next_minute(1.0)
    wait_until(at - 1)
    written.take()
    wait_until(at)
    _wait_for_all(written, _LONGEST)
    return [row.begun - at for row in written.take()]


def _wait_for_all(written: Stamps, seconds: float) -> None:
    if not wait_for(lambda: written.number() >= _A_MINUTE, seconds):
        raise RuntimeError(f"{written.number()} of {_A_MINUTE} began within {seconds:.0f} s")


def tables(cells: Cells) -> list[Table]:
    """Return one table."""
    figures = {"starts": "starts", "p50 ms": "p50", "p99 ms": "p99", "last ms": "last", "% of a core": "cpu"}
    rows = [cell.row(figures.values()) for cell in cells.measured()]
    notes = (
        f"{_A_MINUTE:,} jobs a minute; milliseconds from each one's own due time to the first line of its program",
        'krond: a window of a minute (window = "after,59s") spreads them, 50 in each second on average',
        "the others know minutes only, so that all are due at its first second; one minute was measured, not the first",
    )
    title = f"Lateness with {_A_MINUTE // MINUTE} starts a second"
    return [Table(title, ("daemon", "version", *figures, "processes"), rows, notes)]


def promises(cells: Cells) -> list[Promise]:
    """Return what Kron promises about lateness."""
    cell = cells[_SHORT] if cells[_LONG].error else cells[_LONG]
    minutes = 1 if cells[_LONG].error else 5
    text = f"lateness with {_A_MINUTE // MINUTE} starts a second for {minutes} min, real daemon, 99th percentile"
    return [Promise(text, cell.get("p99"), 100, " ms", at_most=True, spread=cell.spread("p99"))]


SUITE = Suite(
    "daemon-lateness", _PEERS, measure, tables, promises, most_repeats=dict.fromkeys(_PEERS, 1), seconds_allowed=480.0
)

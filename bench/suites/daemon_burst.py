"""1,000 jobs of a real daemon due in the same second: the first and the last start, beside a bare loop."""

from time import sleep

from bench.daemons import load_daemon
from bench.daemons.daemon import MINUTE, Jobs, live, next_minute, wait_for, wait_until
from bench.daemons.stamps import Stamps, bare, stamps
from bench.results import Cells
from bench.suite import Measurement, Suite
from bench.tables import Promise, Table

_KROND, _USER = "krond", "krond-nobody"
_PEERS = (_KROND, _USER, "cronstable", "goroutines", "debian-cron")
_PROCESSES = 1000
_MARGIN = 9.0  # seconds before the minute at which a daemon is started: it settles, and the bare loops go first
_LONGEST = 50.0  # seconds after the minute
_QUIET = 1.5  # seconds, so that the records of a burst are not written during the next loop
_NOTES = {
    _KROND: "every start recorded durably before, output captured, ends recorded; its second burst after the first",
    _USER: "the same, as the user nobody",
    "cronstable": "no record is kept",
    "goroutines": "a loop as in supercronic, one goroutine a job, no record is kept",
    "debian-cron": "two forks and a shell for each job",
}


def measure(peer: str, repeat: int) -> Measurement:  # noqa: ARG001  # every repeat is the same
    """Let a minute begin, or two of them for Kron, whose first burst is the dearest; bare loops before and after."""
    daemon, found = load_daemon(_KROND if peer == _USER else peer), Measurement()
    bursts = 2 if peer in (_KROND, _USER) else 1
    with stamps() as written:
        jobs = Jobs(_PROCESSES, written.argv, user="nobody" if peer == _USER else "")
        with live(daemon, [jobs], margin=_MARGIN):
            found.facts["version"] = daemon.version()
            at = next_minute(0.0)
            for burst in range(bursts):
                _burst(found, written, at + burst * MINUTE, "first " if burst < bursts - 1 else "")
    return found


def _burst(found: Measurement, written: Stamps, at: int, which: str) -> None:
    loops = [bare(written, _PROCESSES)]
    alike = [bare(written, _PROCESSES, alike=True)]
    wait_until(at)
    if not wait_for(lambda: written.number() >= _PROCESSES, _LONGEST):
        raise RuntimeError(f"{written.number()} of {_PROCESSES} began within {_LONGEST:.0f} s")
    sleep(_QUIET)
    begun = [row.begun - at for row in written.take()]
    alike.append(bare(written, _PROCESSES, alike=True))
    loops.append(bare(written, _PROCESSES))
    middle, middle_alike = sum(loops) / 2, sum(alike) / 2
    found.figures |= {
        f"{which}begin": begun[0] * 1e3,
        f"{which}last": begun[-1] * 1e3,
        f"{which}bare": middle * 1e3,
        f"{which}x bare": begun[-1] / middle,
        f"{which}x alike": begun[-1] / middle_alike,
        f"{which}rate": _PROCESSES / begun[-1],
    }


def tables(cells: Cells) -> list[Table]:
    """Return one table, the quickest first."""
    figures = {
        "first ms": "begin", "last ms": "last", "bare ms": "bare", "last x bare": "x bare",
        "last x bare with session and files": "x alike", "first burst: first ms": "first begin",
        "first burst: last x bare": "first x bare",
    }  # fmt: skip
    rows = [cell.row(figures.values()) for cell in sorted(cells.measured(), key=lambda cell: cell.get("x bare") or 0.0)]
    notes = (
        f"{_PROCESSES:,} jobs due in one second; milliseconds from that second to the first line of a job's program",
        "bare: the mean of two loops of os.posix_spawn with the same program, before and after, that reap as they go",
        *(f"{peer}: {note}" for peer, note in _NOTES.items()),
    )
    return [Table(f"{_PROCESSES:,} jobs in one second", ("daemon", "version", *figures, "processes"), rows, notes)]


def promises(cells: Cells) -> list[Promise]:
    """Return what Kron promises about a burst."""
    made = []
    for peer, as_whom in ((_KROND, ""), (_USER, ", as another user")):
        cell, text = cells[peer], f"of {_PROCESSES:,} jobs due in one second, real daemon{as_whom}"
        made += [
            Promise(f"first {text}", cell.get("begin"), 20, " ms", at_most=True, spread=cell.spread("begin")),
            Promise(
                f"last {text}, beside a bare os.posix_spawn loop", cell.get("x bare"), 1.5, "x",
                at_most=True, spread=cell.spread("x bare"),
            ),
        ]  # fmt: skip
    return made


SUITE = Suite(
    "daemon-burst", _PEERS, measure, tables, promises, most_repeats=dict.fromkeys(_PEERS, 1), seconds_allowed=300.0
)

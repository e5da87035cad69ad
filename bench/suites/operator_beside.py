"""1,000 KronJobs and 1,000 CronJobs: the delay of their Jobs, and their rate with a window."""

from importlib.metadata import version

from bench.results import Cells
from bench.rows import row_of, size_of
from bench.suite import Measurement, Suite
from bench.tables import MISSING, Promise, Table, number

_ROW = row_of("kron-operator", 1_000)
_WINDOW = 10  # minutes
_WHO = {
    "kron-operator": "kron",
    "CronJob controller, kube-api-qps=500": "cron",
    "CronJob controller, as it comes": "cron defaults",
}


def measure(peer: str, repeat: int) -> Measurement:  # noqa: ARG001  # every repeat is the same
    """Measure as many as the row says."""
    from bench.cluster.beside import measure_beside  # needs Kron

    found = measure_beside(size_of(peer), _WINDOW)
    found.facts["version"] = version("kron-scheduler")
    return found


def tables(cells: Cells) -> list[Table]:
    """Return one table about Jobs due at once, and one about Jobs in a window."""
    cell, figures = cells[_ROW], ("first", "last", "peak")
    if cell.error:
        return []
    rows = [
        (
            who,
            cell.fact("version") if key == "kron" else MISSING,
            *tuple(number(cell.get(f"{key} {figure}")) for figure in figures),
        )
        for who, key in _WHO.items()
    ]
    spread = [
        ("none", number(cell.get("kron peak")), MISSING),
        (f"{_WINDOW} min", number(cell.get("window peak")), number(cell.get("window computed"))),
        ("1 h", MISSING, number(cell.get("hour computed"))),
    ]
    return [
        Table(
            f"{size_of(_ROW):,} Jobs due in the same minute",
            ("who", "version", "first s", "last s", "peak/s"),
            rows,
            (
                "seconds from the due second to the server's answer that the Job is created, by its audit log",
                "in turns on one control plane, medians of two; no other controller and no kubelet: they would compete",
                f"meanwhile the operator also has {size_of(_ROW):,} KronJobs with a window, one or two Jobs a second",
            ),
        ),
        Table(
            f"{size_of(_ROW):,} KronJobs with the same schedule, and a window",
            ("window", "peak/s measured", "peak/s computed"),
            spread,
            ("measured: answers in the audit log; computed: the seconds that are chosen",),
        ),
    ]


def promises(cells: Cells) -> list[Promise]:
    """Return what Kron promises beside CronJobs, and about windows."""
    cell, size = cells[_ROW], f"{size_of(_ROW):,}"
    faster = f"{size} Jobs due in the same minute: time of the CronJob controller, by that of the operator"
    return [
        Promise(f"{faster}, kube-api-qps=500", cell.get("x cron"), 1, "x", spread=cell.spread("x cron")),
        Promise(f"{faster}, defaults", cell.get("x cron defaults"), 1, "x", spread=cell.spread("x cron defaults")),
        Promise(
            f"{size} KronJobs with a window of {_WINDOW} min: peak of creations, measured",
            cell.get("window peak"), 10, " a second", at_most=True, spread=cell.spread("window peak"),
        ),
        Promise(
            f"{size} KronJobs with a window of 1 h: peak of creations, computed",
            cell.get("hour computed"), 6, " a second", at_most=True, spread=cell.spread("hour computed"),
        ),
        Promise("the same, below the peak without windows", cell.get("x hour"), 20, "x", spread=cell.spread("x hour")),
    ]  # fmt: skip


SUITE = Suite("operator-beside", (_ROW,), measure, tables, promises, most_repeats={_ROW: 1}, seconds_allowed=1500.0)

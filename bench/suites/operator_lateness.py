"""100 KronJobs due in the same second: the lateness of their Jobs, beside the CronJob controller."""

from importlib.metadata import version

from bench.results import Cells
from bench.rows import row_of, size_of
from bench.suite import Measurement, Suite
from bench.tables import MISSING, Promise, Table, number

_ROW = row_of("kron-operator", 100)


def measure(peer: str, repeat: int) -> Measurement:  # noqa: ARG001  # every repeat is the same
    """Measure as many as the row says."""
    from bench.cluster.beside import measure_lateness  # needs Kron

    found = measure_lateness(size_of(peer))
    found.facts["version"] = version("kron-scheduler")
    return found


def tables(cells: Cells) -> list[Table]:
    """Return one table."""
    figures = ("first", "p50", "p99", "last")
    rows = [
        (
            who,
            cell.fact("version") or MISSING if key == "kron" else MISSING,
            *tuple(number(cell.get(f"{key} {figure}")) for figure in figures),
        )
        for cell in cells.measured()
        for who, key in (("kron-operator", "kron"), ("CronJob controller", "cron"))
    ]
    notes = (
        "seconds from the due second to the server's answer that the Job is created, by its audit log",
        "CronJob controller: in the same control plane, with kube-api-qps=500; no other controller, no kubelet",
    )
    return [
        Table(
            f"{size_of(_ROW)} Jobs due in the same second",
            ("who", "version", *(f"{name} s" for name in figures)),
            rows,
            notes,
        )
    ]


def promises(cells: Cells) -> list[Promise]:
    """Return what Kron promises about lateness."""
    cell = cells[_ROW]
    text = f"chosen time to Job created with {size_of(_ROW)} KronJobs due in the same second, 99th percentile"
    return [
        Promise(text, cell.get("kron p99"), 1, " s", at_most=True, spread=cell.spread("kron p99")),
    ]


SUITE = Suite("operator-lateness", (_ROW,), measure, tables, promises, most_repeats={_ROW: 1}, seconds_allowed=900.0)

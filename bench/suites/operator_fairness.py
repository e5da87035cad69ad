"""20 KronJobs of one tenant: how much later their Jobs are while another tenant overloads the operator."""

from importlib.metadata import version

from bench.results import Cells
from bench.rows import row_of, size_of
from bench.suite import Measurement, Suite
from bench.tables import MISSING, Promise, Table, number

_ROW = row_of("kron-operator", 5_000)
_ATTACKS = {
    "alone": "none",
    "edits": "up to 375 edits a second of 100 KronJobs",
    "costly": "22 edits a second of 30 KronJobs of 20 kB, each of which takes long to declare",
    "metrics": "/metrics asked over 64 connections at once",
    "quota": f"{size_of(_ROW):,} KronJobs over quota, due in the same second",
}
_BOUND = 2  # seconds


def measure(peer: str, repeat: int) -> Measurement:  # noqa: ARG001  # every repeat is the same
    """Measure as many as the row says."""
    from bench.cluster.unfair import measure_fairness  # needs Kron

    found = measure_fairness(size_of(peer))
    found.facts["version"] = version("kron-scheduler")
    return found


def tables(cells: Cells) -> list[Table]:
    """Return one table, a row for each attack."""
    rows = [
        (
            text,
            number(cell.get(f"{key} rate")) if cell.get(f"{key} rate") is not None else MISSING,
            *(number(cell.get(f"{key} {figure}")) for figure in ("p50", "last", "plain")),
            *(number(cell.get(f"{key} {figure}")) if key != "alone" else MISSING for figure in ("later", "server")),
        )
        for cell in cells.measured()
        for key, text in _ATTACKS.items()
    ]
    notes = (
        "seconds from the due second to the server's answer that a Job of the other tenant is there, by its audit log",
        "20 Jobs a minute for two minutes; attacks in other namespaces, one after the other, on the same control plane",
        "plain last s: a client that creates 20 Jobs in the same second without an operator: the server by itself",
        "requests/s: those of the attacker that were answered; a quota of no Job is met by one probe at a time",
    )
    return [
        Table(
            "A tenant beside one that does too much",
            ("attack", "requests/s", "p50 s", "last s", "plain last s", "later s", "plain later s"),
            rows,
            notes,
        )
    ]


def promises(cells: Cells) -> list[Promise]:
    """Return what Kron promises another tenant."""
    cell = cells[_ROW]
    return [
        Promise(
            f"a Job of another tenant beside this attack, later than without: {_ATTACKS[key]}",
            cell.get(f"{key} later"), _BOUND, " s", at_most=True, spread=cell.spread(f"{key} later"),
        )
        for key in ("edits", "costly", "metrics", "quota")
    ]  # fmt: skip


SUITE = Suite("operator-fairness", (_ROW,), measure, tables, promises, most_repeats={_ROW: 1}, seconds_allowed=1500.0)

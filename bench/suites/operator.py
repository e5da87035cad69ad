"""10,000 KronJobs: what the operator needs for them and how fast it creates Jobs, beside a bare client."""

from importlib.metadata import version

from bench.results import Cells
from bench.rows import row_of, size_of
from bench.suite import Measurement, Suite
from bench.tables import MISSING, Promise, Table, number

_FEW, _MANY = (row_of("kron-operator", size) for size in (500, 10_000))
_PEERS = (_FEW, _MANY)


def measure(peer: str, repeat: int) -> Measurement:  # noqa: ARG001  # every repeat is the same
    """Measure as many as the row says."""
    from bench.cluster.crowd import measure_crowd  # imports Kron, which the environment that draws the tables lacks

    found = measure_crowd(size_of(peer))
    found.facts["version"] = version("kron-scheduler")
    return found


def tables(cells: Cells) -> list[Table]:
    """Return one table about the crowd, and one about its Jobs."""
    crowd = {"sync s": "sync", "MiB": "memory", "MiB after the burst": "memory after", "idle % of a core": "idle"}
    jobs = {
        "Jobs/s": "rate", "with statuses/s": "whole rate", "peak/s": "peak", "first after s": "first",
        "status after its Job s": "follows", "statuses a Job": "statuses", "client CPU ms a Job": "cpu",
    }  # fmt: skip
    first, second = [], []
    for cell in cells.measured():
        about = cell.peer, cell.fact("version") or MISSING
        first.append((*about, *(number(cell.get(key)) for key in crowd.values()), str(len(cell.counted))))
        second.append((cell.peer, "operator", *(number(cell.get(key)) for key in jobs.values())))
        second.append((cell.peer, "bare client", *(number(cell.get(f"bare {key}")) for key in jobs.values())))
        second.append((cell.peer, "x", *(number(cell.get(f"x bare {key}")) for key in jobs.values())))
    plain = "etcd and the API server on the same cores; no controllers and no kubelet, which would compete for them"
    return [
        Table(
            "KronJobs that wait",
            ("row", "version", *crowd, "processes"),
            first,
            (
                plain,
                "sync: from the start of the process until /readyz is 200 and it leads with every KronJob armed",
                "MiB: the highest resident memory until every status was written; idle: after that, nothing due",
            ),
        ),
        Table(
            "KronJobs due in the same minute",
            ("row", "who", *jobs),
            second,
            (
                plain,
                "by the answers in the audit log: from the due second, or the bare client's first, to the last of them",
                "bare client: aiohttp, 16 requests at a time; the same Jobs and statuses, prepared before",
                "both: Jobs first, but a status that has waited for 2 s comes before the next Job",
                "bare client: the mean of a turn before the operator's and one after",
                *(
                    f"{cell.peer}: {number(cell.get('events'))} events follow when all is written,"
                    f" in {number(cell.get('events after'))} s; a bare client has none"
                    for cell in cells.measured()
                ),
            ),
        ),
    ]


def promises(cells: Cells) -> list[Promise]:
    """Return what Kron promises about many KronJobs."""
    cell, about = cells[_MANY], f"operator with {size_of(_MANY):,} KronJobs"
    due = "Jobs a second with all of them due at once, beside a bare client"
    return [
        Promise(f"{about}: memory", cell.get("memory"), 400, " MiB", at_most=True, spread=cell.spread("memory")),
        Promise(f"{about}: first sync", cell.get("sync"), 30, " s", at_most=True, spread=cell.spread("sync")),
        Promise(f"{about}: idle", cell.get("idle"), 1, " % of a core", at_most=True, spread=cell.spread("idle")),
        Promise(f"{about}: {due}", cell.get("x bare rate"), 0.8, "x", spread=cell.spread("x bare rate")),
    ]


SUITE = Suite(
    "operator", _PEERS, measure, tables, promises, most_repeats=dict.fromkeys(_PEERS, 1), seconds_allowed=1500.0
)

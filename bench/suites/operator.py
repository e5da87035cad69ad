"""10,000 KronJobs in, what the operator needs for them, and how fast it creates their Jobs beside a bare client, out."""

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from time import sleep, time

from bench.daemons.daemon import MINUTE, processor_seconds, wait_until
from bench.disk import disk_folder
from bench.results import Cell, Cells
from bench.rows import row_of, size_of
from bench.suite import Measurement, Suite
from bench.tables import MISSING, Promise, Table, number

_FEW, _MANY = (row_of("kron-operator", size) for size in (1_000, 10_000))
_PEERS = (_FEW, _MANY)
_REST = 60.0  # seconds of idleness; of the smaller row less
_LONGEST = 600.0  # seconds that anything may take
_SETTLED = 3.0
_OPERATOR, _BARE = "with-operator", "with-bare-client"  # namespaces


def measure(peer: str, repeat: int) -> Measurement:  # noqa: ARG001  # every repeat is the same
    """Have two namespaces with as many KronJobs each, of which the operator has one and the bare client the other."""
    from bench.cluster.rig import create, kronjobs, make_namespace, rig  # noqa: PLC0415  # needs what Kron's peers lack
    from bench.cluster.subjects import bare_client, operator  # noqa: PLC0415
    from bench.cluster.trail import STATUSES, Trail  # noqa: PLC0415

    size, found = size_of(peer), Measurement()
    found.facts["version"] = version("kron-scheduler")
    with ExitStack() as stack:
        plane = stack.enter_context(rig())
        folder = stack.enter_context(disk_folder())
        due = _due_minute(size)
        trail = Trail(plane)
        for namespace in (_OPERATOR, _BARE):
            make_namespace(plane, namespace)
            create(plane, kronjobs(namespace, size, f"{due.minute} {due.hour} * * *"))
        subject = stack.enter_context(
            operator(plane, folder, "--namespace", _OPERATOR, "--lease-namespace", "kron-system")
        )
        found.figures["sync"] = subject.sync(_LONGEST)
        trail.wait(STATUSES, _OPERATOR, size, _LONGEST)
        found.figures["memory"] = subject.highest_memory()
        sleep(_SETTLED)
        used, rest = processor_seconds(subject.process.pid), _REST * min(1.0, size / 10_000)
        sleep(rest)
        found.figures["idle"] = (processor_seconds(subject.process.pid) - used) / rest * 100
        client = stack.enter_context(bare_client(plane, _BARE, due - timedelta(days=1)))
        turns = _Turns(found, trail, size)
        turns.bare(client, due - timedelta(hours=1))
        turns.operator(subject, due)
        turns.bare(client, due - timedelta(hours=2))
    turns.sum_up()
    return found

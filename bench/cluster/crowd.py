"""Measure what the operator needs for many KronJobs and their Jobs, beside a bare client."""

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from statistics import mean
from time import sleep, time

from bench.cluster.rig import OPERATOR, create, kronjobs, make_namespace, rig
from bench.cluster.subjects import BareClient, MeasuredOperator, bare_client, operator
from bench.cluster.trail import EVENTS, JOBS, STATUSES, Trail, peak
from bench.daemons.daemon import next_minute, processor_seconds, wait_until
from bench.disk import disk_folder
from bench.suite import Measurement
from kron.instant import Instant

_REST = 60.0  # seconds of idleness; with fewer KronJobs than 10,000 less
_LONGEST = 600.0  # seconds that anything may take
_SETTLED = 3.0
_OURS, _THEIRS = "with-operator", "with-bare-client"  # namespaces


def measure_crowd(size: int) -> Measurement:
    """Have two namespaces with as many KronJobs each, of which the operator has one and the bare client the other."""
    found = Measurement()
    with ExitStack() as stack:
        plane, folder = stack.enter_context(rig()), stack.enter_context(disk_folder())
        rest = _REST * min(1.0, size / 10_000)
        due = datetime.fromtimestamp(next_minute(60.0 + rest + size / 40), UTC)
        trail = Trail(plane)
        for namespace in (_OURS, _THEIRS):
            make_namespace(plane, namespace)
            create(plane, kronjobs(namespace, size, f"{due.minute} {due.hour} * * *"))
        flags = "--namespace", _OURS, "--lease-namespace", OPERATOR
        subject = stack.enter_context(operator(plane, folder, *flags))
        found.figures["sync"] = subject.sync(_LONGEST)
        trail.wait(STATUSES, _OURS, size, _LONGEST)
        found.figures["memory"] = subject.highest_memory()
        found.figures["idle"] = _idle(subject, rest)
        client = stack.enter_context(bare_client(plane, _THEIRS, due - timedelta(days=1)))
        before = _bare(client, trail, size, due - timedelta(hours=2))
        found.figures |= _burst(subject, trail, size, due)
        after = _bare(client, trail, size, due - timedelta(hours=1))
    for name, value in before.items():
        found.figures[f"bare {name}"] = mean((value, after[name]))
        found.figures[f"x bare {name}"] = found.figures[name] / found.figures[f"bare {name}"]
    return found


def _idle(subject: MeasuredOperator, seconds: float) -> float:
    """Return how much of a core it uses while nothing is due, in per cent."""
    sleep(_SETTLED)
    used = processor_seconds(subject.process.pid)
    sleep(seconds)
    return (processor_seconds(subject.process.pid) - used) / seconds * 100


def _bare(client: BareClient, trail: Trail, size: int, at: Instant) -> dict[str, float]:
    trail.clear()
    took = client.turn(at)
    return _rates(trail, _THEIRS, size, took["begun"]) | {"cpu": took["cpu"] * 1e3}


def _burst(subject: MeasuredOperator, trail: Trail, size: int, due: Instant) -> dict[str, float]:
    if time() > due.timestamp() - _SETTLED:
        raise RuntimeError("the machine is too slow: the KronJobs were due before everything was prepared")
    wait_until(due.timestamp() - _SETTLED)
    trail.clear()
    used = processor_seconds(subject.process.pid)
    trail.wait(JOBS, _OURS, size, _LONGEST)
    trail.wait(STATUSES, _OURS, size, _LONGEST, 0.1)
    used = processor_seconds(subject.process.pid) - used
    figures = _rates(trail, _OURS, size, due.timestamp()) | {"cpu": used / size * 1e3}
    times = trail.wait(EVENTS, _OURS, size, _LONGEST)
    last = trail.times(STATUSES, _OURS)[-1]
    return figures | {"events": len(times), "events after": times[-1] - last, "memory after": subject.highest_memory()}


def _rates(trail: Trail, namespace: str, size: int, begun: float) -> dict[str, float]:
    """Return what the audit log says of one burst; what waits longest was there first, here and there."""
    jobs = trail.wait(JOBS, namespace, size, _LONGEST)
    statuses = trail.wait(STATUSES, namespace, size, _LONGEST)
    return {
        "rate": size / (jobs[-1] - begun),
        "whole rate": size / (statuses[-1] - begun),
        "first": jobs[0] - begun,
        "peak": peak(jobs),
        "follows": max(status - job for job, status in zip(jobs, statuses, strict=False)),
        "statuses": len(statuses) / size,
    }

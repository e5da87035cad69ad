"""Measure Jobs due at once or in a window, beside the CronJob controller."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import NamedTuple

from tests.cluster.plane import CRONJOBS, ControlPlane

from bench.cluster.rig import OPERATOR, create, cronjobs, kronjobs, make_namespace, rig
from bench.cluster.subjects import operator
from bench.cluster.trail import JOBS, STATUSES, Trail, peak
from bench.daemons.daemon import next_minute, wait_until
from bench.disk import disk_folder
from bench.suite import Measurement
from kron.decision.decide import decide
from kron.instant import Instant
from kron.kronjob.kronjob import KronJob
from kron.kronjob.parser import parse_kronjob

_KRON, _CRON, _WINDOW = "kron", "cron", "window"  # namespaces
_FAST = 500  # requests a second of the controllers
_MINUTE = timedelta(minutes=1)
_LEAD = 3.0  # seconds before a minute
_LONGEST = 300.0
_LOOK = 0.2


class _Stage(NamedTuple):
    """A plane with the operator on it, and the first of the minutes at which something is due."""

    plane: ControlPlane
    trail: Trail
    begin: Instant

    def burst(self, namespace: str, minute: int, size: int) -> list[float]:
        """Return how many seconds after their minute the Jobs of a namespace are there, the first one first."""
        due = (self.begin + minute * _MINUTE).timestamp()
        wait_until(due - _LEAD)
        known = len(self.trail.read() and self.trail.times(JOBS, namespace))
        found = self.trail.wait(JOBS, namespace, known + size, _LONGEST, _LOOK)
        return [at - due for at in found[known:]]


@contextmanager
def _stage(size: int, ours: tuple[int, ...], theirs: tuple[int, ...], window: int) -> Iterator[_Stage]:
    """Have so many KronJobs and CronJobs that are due at these minutes, and as many with a window from the first on."""
    with ExitStack() as stack:
        plane, folder = stack.enter_context(rig(controllers=(CRONJOBS,))), stack.enter_context(disk_folder())
        trail = Trail(plane)
        begin = datetime.fromtimestamp(next_minute(25.0 + size / 20), UTC)
        for namespace in (_KRON, _CRON, _WINDOW):
            make_namespace(plane, namespace)
        create(plane, kronjobs(_KRON, size, _schedule(begin, ours)))
        create(plane, cronjobs(_CRON, size, _schedule(begin, theirs)))
        number = size
        if window:
            number += size
            create(plane, kronjobs(_WINDOW, size, _schedule(begin, (0,)), window=f"{window}m"))
        stack.enter_context(operator(plane, folder, "--lease-namespace", OPERATOR)).sync(_LONGEST)
        trail.wait_for(lambda: [each.at for each in trail.writes if each.what == STATUSES], number, STATUSES, _LONGEST)
        yield _Stage(plane, trail, begin)


def _schedule(begin: Instant, minutes: tuple[int, ...]) -> str:
    """Return when they are due: at these minutes from then on, and not again for the rest of the run."""
    return f"{','.join(str((begin + each * _MINUTE).minute) for each in minutes)} * * * *"


def measure_beside(size: int, window: int) -> Measurement:
    """Let both be due in turns while the KronJobs with a window go on, a few of them a second, as they do all day."""
    found = Measurement()
    with _stage(size, (1, 3), (2, 4, 5), window) as stage:
        kron, cron = [], []
        for turn in range(2):
            kron.append(stage.burst(_KRON, 1 + 2 * turn, size))
            cron.append(stage.burst(_CRON, 2 + 2 * turn, size))
        stage.plane.restart_controllers(None)
        slow = stage.burst(_CRON, 5, size)
        end = (stage.begin + window * _MINUTE).timestamp()
        wait_until(end)
        spread = stage.trail.wait(JOBS, _WINDOW, size, _LONGEST)
        chosen = _computed(size, stage.begin, f"{window}m")
        hour = _computed(size, stage.begin, "1h")
    found.figures |= {
        "kron last": median(times[-1] for times in kron),
        "cron last": median(times[-1] for times in cron),
        "cron defaults last": slow[-1],
        "kron first": median(times[0] for times in kron),
        "cron first": median(times[0] for times in cron),
        "cron defaults first": slow[0],
        "kron peak": median(peak(times) for times in kron),
        "cron peak": median(peak(times) for times in cron),
        "cron defaults peak": peak(slow),
        "window peak": peak(spread),
        "window computed": chosen,
        "hour computed": hour,
    }
    found.figures["x cron"] = found.figures["cron last"] / found.figures["kron last"]
    found.figures["x cron defaults"] = slow[-1] / found.figures["kron last"]
    found.figures["x hour"] = found.figures["kron peak"] / hour
    return found


def measure_lateness(size: int) -> Measurement:
    """Let KronJobs be due in the same second three times, and CronJobs in the minutes between."""
    found = Measurement()
    with _stage(size, (0, 2), (1,), 0) as stage:
        kron = [stage.burst(_KRON, 0, size)]
        cron = stage.burst(_CRON, 1, size)
        kron.append(stage.burst(_KRON, 2, size))
    for name, times in (("kron", sorted(each for burst in kron for each in burst)), ("cron", cron)):
        found.figures |= {f"{name} p50": times[len(times) // 2], f"{name} p99": times[len(times) * 99 // 100]}
        found.figures |= {f"{name} first": times[0], f"{name} last": times[-1]}
    return found


def _computed(size: int, nominal: Instant, window: str) -> int:
    """Return the most Jobs in a second that the KronJobs of a window choose, whatever a server then does."""
    chosen: Counter[Instant | None] = Counter()
    for document in kronjobs(_WINDOW, size, "0 * * * *", window=window):
        kronjob = parse_kronjob(document | {"metadata": {**document["metadata"], "uid": "u"}})
        assert isinstance(kronjob, KronJob), kronjob
        chosen[decide(kronjob.timing, nominal).chosen_time] += 1
    return max(chosen.values())

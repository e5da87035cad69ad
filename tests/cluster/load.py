"""Load: many KronJobs of a namespace, some of which are due every second, and the checks at the end."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from kron.adapters.system_clock import SystemClock
from kron.instant import Instant
from tests.cluster.invariants import NamespaceSnapshot, open_periods, violations
from tests.cluster.operator import Operator
from tests.cluster.plane import ControlPlane
from tests.cluster.sight import template
from tests.cluster.wait import wait_until
from tests.kronjob.kronjob_documents import document

MOST_HANDLES = 40  # of an operator: its own, a connection for each of sixteen workers, watches, and who asks it
_PATIENCE = 120.0  # seconds, on a busy machine


def now() -> Instant:
    return SystemClock().now()


class Load:
    """Sixty KronJobs are due once a second: each every minute on the average, at a second of the following hour."""

    def __init__(self, plane: ControlPlane, namespace: str) -> None:
        self._plane, self._namespace = plane, namespace

    def add(self, number: int = 60, prefix: str = "load", **spec: Any) -> None:
        """Create KronJobs. Without another word their Jobs end at once, are kept, and may be five minutes late."""
        said = {
            "schedule": "* * * * *",
            "window": {"duration": "1h"},
            "policy": {"concurrency": "allow", "deadline": "5m"},
            "successfulJobsHistoryLimit": 100,
            "jobTemplate": template("succeeded"),
            **spec,
        }
        for index in range(number):
            salt = {"salt": f"{self._namespace} {index}"}
            self._plane.admin.create(document(f"{prefix}-{index}", self._namespace, **{"seed": salt, **said}))

    def created(self) -> int:
        """Return how many Jobs there are."""
        return len(self._plane.admin.list("Job", self._namespace))

    def wait_for(self, number: int) -> None:
        """Wait until there are so many more Jobs."""
        before = self.created()
        wait_until(lambda: self.created() >= before + number, _PATIENCE, what=f"{number} more Jobs")

    def settle(self, operators: Sequence[Operator], *, skew: timedelta = timedelta()) -> None:
        """Wait until every period up to now has its outcome; then everything holds that has to.

        Time is what the operators take for it: their clocks may go before the server's.
        """
        until = now() + skew
        admin, namespace = self._plane.admin, self._namespace

        def left() -> list[str]:
            return open_periods(admin.list("KronJob", namespace), until)

        try:
            wait_until(lambda: not left(), _PATIENCE)
        except AssertionError:
            raise AssertionError(f"without an outcome: {left()}") from None
        users = {each.user for each in operators}
        kronjobs, at = admin.list("KronJob", namespace), now() + skew
        jobs = admin.list("Job", namespace)
        asked = [row for row in self._plane.audit() if row.user in users and row.namespace == namespace]
        rows = [row._replace(at=row.at + skew) for row in asked]
        wrong = [line for each in operators for line in each.bugs()]
        wrong += violations(NamespaceSnapshot(kronjobs, jobs, rows, at, self._plane.stored_jobs(namespace)), until)
        assert not wrong, "\n".join(wrong)


def handles(operator: Operator) -> int:
    """Return how many files, sockets and threads an operator has."""
    place = Path("/proc") / str(operator.process.pid)
    return sum(len(list((place / each).iterdir())) for each in ("fd", "task"))

"""Trail: follow the server's audit log: which writes, and when they were answered."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple

from tests.cluster.audit import Row, read_rows
from tests.cluster.plane import ControlPlane

JOBS, STATUSES, EVENTS = "jobs", "kronjobs/status", "events"
_LOOK = 0.5  # seconds: who looks takes from whom is measured


class Write(NamedTuple):
    """A write that was answered with a yes."""

    what: str
    namespace: str
    at: float  # stageTimestamp of the answer, as seconds


class Trail:
    """Reads the log on from where it was; one reader is enough for all."""

    def __init__(self, plane: ControlPlane) -> None:
        self._path: Path = plane.folder / "audit.log"
        self._position = 0
        self.writes: list[Write] = []

    def read(self) -> list[Write]:
        """Return all writes so far since the last `clear`."""
        with self._path.open("rb") as file:
            file.seek(self._position)
            text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._position += len(whole)
        rows = read_rows(whole.decode("utf-8").splitlines(keepends=True))
        self.writes += [_write(row) for row in rows if row.code < 300]
        return self.writes

    def clear(self) -> None:
        """Forget what was written so far."""
        self.read()
        self.writes = []

    def times(self, what: str, namespace: str) -> list[float]:
        """Return when such writes were answered, the first one first."""
        return sorted(write.at for write in self.writes if (write.what, write.namespace) == (what, namespace))

    def wait(self, what: str, namespace: str, number: int, seconds: float, look: float = _LOOK) -> list[float]:
        """Wait until there are so many, and return their times."""
        return self.wait_for(lambda: self.times(what, namespace), number, f"{what} in {namespace}", seconds, look)

    def wait_for(
        self, times: Callable[[], list[float]], number: int, what: str, seconds: float, look: float = _LOOK
    ) -> list[float]:
        """Look again and again until there are so many times."""
        end = monotonic() + seconds
        while True:
            self.read()
            found = times()
            if len(found) >= number:
                return found
            if monotonic() > end:
                raise RuntimeError(f"{len(found)} of {number} {what} within {seconds:.0f} s")
            sleep(look)


def peak(times: Sequence[float]) -> int:
    """Return the most of them in any one second of the clock."""
    return max(Counter(int(at) for at in times).values())


def _write(row: Row) -> Write:
    what = f"{row.resource}/{row.subresource}" if row.subresource else row.resource
    return Write(what, row.namespace, row.at.timestamp())

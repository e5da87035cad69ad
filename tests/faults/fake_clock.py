"""FakeClock: a wall clock for processes that tests set while they run. It needs a C compiler."""

import shutil
import struct
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kron.instant import Instant

_SOURCE = Path(__file__).with_suffix(".c")
_AHEAD = struct.Struct("qq")  # nanoseconds, of the wall clock and of the monotonic one
_MICROSECOND = timedelta(microseconds=1)


class FakeClock:
    """As far from the real one as `move` says. It goes at the usual pace; only `skip` touches the monotonic clock."""

    def __init__(self, folder: Path) -> None:
        compiler = shutil.which("cc")
        if compiler is None:
            pytest.skip("THERE IS NO C COMPILER HERE: what a clock that is set does to krond was not tried")
        layer, self._file = folder / "fake_clock.so", folder / "clock"
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", layer, _SOURCE, "-ldl"], check=True)
        self._ahead = self._skipped = 0
        self.move(timedelta())
        self.environment = {"LD_PRELOAD": str(layer), "FAKE_CLOCK": str(self._file)}

    def now(self) -> Instant:
        """Return what it shows."""
        return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=(time.time_ns() + self._ahead) // 1000)

    def set(self, to: Instant) -> None:
        """Let it show a time."""
        self.move(to - self.now())

    def move(self, by: timedelta) -> None:
        """Set it ahead, or back."""
        self._ahead += by // _MICROSECOND * 1000
        with self._file.open("r+b" if self._file.exists() else "wb") as file:
            file.write(_AHEAD.pack(self._ahead, self._skipped))

    def skip(self, by: timedelta) -> None:
        """Let both clocks show that so much time has passed: for processes that are stopped, it has."""
        self._skipped += by // _MICROSECOND * 1000
        self.move(by)

"""Krond: the daemon of the working copy."""

import sys
from importlib.metadata import version
from pathlib import Path

from bench.daemons.daemon import Jobs

COMMAND = str(Path(sys.executable).with_name("krond"))
_READY = b'"KrondReady"'


class Krond:
    """As it comes: events in JSON, output captured, everything recorded before it starts."""

    def version(self) -> str:
        """Return its version."""
        return version("kron-scheduler")

    def write(self, folder: Path, jobs: list[Jobs]) -> list[str]:
        """Write one TOML file."""
        lines = ["[krond]", 'timezone = "UTC"']
        for group, each in enumerate(jobs):
            for number in range(each.number):
                lines += [f"[jobs.j{group}-{number}]", f'schedule = "{each.schedule}"', f"command = {[*each.argv]}"]
                lines += [f'{key} = "{value}"' for key in ("user", "window") if (value := getattr(each, key))]
        (folder / "jobs.toml").write_text("\n".join(lines) + "\n", "utf-8")
        return [COMMAND, "run", "--config", str(folder / "jobs.toml"), "--state", str(folder / "state")]

    def is_ready(self, folder: Path, seconds: float) -> bool:  # noqa: ARG002  # it says so itself
        """Whether it has said so."""
        return _READY in (folder / "said").read_bytes()

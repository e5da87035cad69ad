"""Cronstable, Debian's cron, and a loop like supercronic's: other daemons in use today."""

import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from bench.daemons.daemon import Jobs
from bench.daemons.stamps import build
from bench.environments import BENCH_HOME

_SETTLED = 5.0  # seconds after which a daemon that says nothing has read its file


class Cronstable:
    """Python, asyncio; no record is kept unless asked for."""

    def version(self) -> str:
        """Return its version."""
        return version("cronstable")

    def write(self, folder: Path, jobs: list[Jobs]) -> list[str]:
        """Write one YAML file."""
        lines = ["jobs:"]
        for group, each in enumerate(jobs):
            for number in range(each.number):
                lines += [f"  - name: j{group}-{number}", f"    schedule: '{each.schedule}'", "    utc: true"]
                lines += ["    captureStderr: true", "    captureStdout: true", "    command:"]
                lines += [f"      - {word}" for word in each.argv]
        (folder / "jobs.yaml").write_text("\n".join(lines) + "\n", "utf-8")
        return [str(Path(sys.executable).with_name("cronstable")), "-c", str(folder / "jobs.yaml")]

    def is_ready(self, folder: Path, seconds: float) -> bool:  # noqa: ARG002  # it says nothing
        """Whether it has had time enough."""
        return seconds > _SETTLED


class Goroutines:
    """A goroutine for each job, and two pipes for its output; nothing is recorded."""

    def version(self) -> str:
        """Return what made it."""
        return subprocess.run(["go", "version"], capture_output=True, text=True, check=True).stdout.split()[2]

    def write(self, folder: Path, jobs: list[Jobs]) -> list[str]:  # noqa: ARG002  # it has no file
        """Make the program; its jobs are all alike, and come every minute."""
        if shutil.which("go") is None:
            raise RuntimeError("needs go")
        program = build(Path(__file__).with_name("loop.go"), ["go", "build", "-o"])
        return [str(program), str(jobs[0].number), *jobs[0].argv]

    def is_ready(self, folder: Path, seconds: float) -> bool:  # noqa: ARG002  # it says nothing
        """Whether it has had time enough."""
        return seconds > 1


class DebianCron:
    """Vixie's cron as Debian has it, in a namespace of its own: nothing of this host is read or touched."""

    def version(self) -> str:
        """Return the version of the package."""
        package = next((BENCH_HOME / "cron").glob("cron_*.deb"))
        return package.name.split("_")[1]

    def write(self, folder: Path, jobs: list[Jobs]) -> list[str]:
        """Write one file as in /etc/cron.d."""
        if os.geteuid() != 0:
            raise PermissionError("only root may run it")
        program = _fetch_cron()
        line = f"{jobs[0].schedule} root {' '.join(jobs[0].argv)}\n"
        (folder / "tab").write_text(line * jobs[0].number, "utf-8")
        script = (
            "set -e; mount --make-rprivate /; mount -t tmpfs t /var/spool; mkdir -p /var/spool/cron/crontabs; "
            "mkdir -p /etc/cron.d; mount -t tmpfs t /etc/cron.d; mount -t tmpfs t /run; "
            f"cp {folder / 'tab'} /etc/cron.d/bench; chmod 644 /etc/cron.d/bench; exec {program} -f"
        )
        return ["unshare", "-m", "sh", "-c", script]

    def is_ready(self, folder: Path, seconds: float) -> bool:  # noqa: ARG002  # it says nothing
        """Whether it has had time enough."""
        return seconds > 1


def _fetch_cron() -> Path:
    """Return the program out of Debian's package, which is not installed."""
    home = BENCH_HOME / "cron"
    program = home / "usr" / "sbin" / "cron"
    if not program.exists():
        home.mkdir(parents=True, exist_ok=True)
        for command in (["apt-get", "download", "cron"], ["sh", "-c", "dpkg-deb -x cron_*.deb ."]):
            done = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(f"Debian's cron cannot be had: {done.stderr.strip()[-200:]}")
    return program

"""Programs confined like in a container: process 1 of an unprivileged user on a read-only root."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.hosts.krond.krond_process import Krond

UNPRIVILEGED = 65534
_MAIN = "from kron.entry_points import krond_main; krond_main()"
_PACKAGES = ("kron", "click", "tzdata")
_PREPARE = """
if [ -n "$CLOSED" ]; then
  mount --bind "$PREFIX" "$PYTHON"
  mount -t tmpfs -o mode=755 none "$CLOSED"
  mkdir -p "$PREFIX"
  mount --bind "$PYTHON" "$PREFIX"
fi
while read -r _ target _; do mount -o remount,bind,ro "$target" 2>/dev/null || :; done < /proc/self/mounts
if [ -n "$VOLUME" ]; then
  mount --bind "$VOLUME" "$VOLUME"
  mount -o remount,bind,rw "$VOLUME"
fi
exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --bounding-set=-all -- "$@"
"""


def why_not() -> str:
    """Return what this machine lacks for a sandbox; nothing if all is there."""
    if os.geteuid() != 0:
        return "only root makes namespaces and gives them up to another user"
    for program in ("unshare", "setpriv", "mount"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    done = subprocess.run(
        ["unshare", "--pid", "--fork", "--mount", "--mount-proc", "true"], capture_output=True, text=True, check=False
    )
    return done.stderr.strip()


def closed(path: Path) -> str:
    """Return the first directory on the way to a path that only its owner may enter; nothing if there is none."""
    on_the_way = [*reversed(path.parents), path]
    return next((str(folder) for folder in on_the_way if not folder.stat().st_mode & 0o001), "")


def copy_packages(folder: Path, names: Iterable[str]) -> None:
    """Copy packages: the folders of these tests, and of Python itself, may be closed to other users."""
    (folder / "python").mkdir()
    for name in names:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        shutil.copytree(Path(spec.origin).parent, folder / "site" / name)


def confined(folder: Path, *words: str, volume: str = "", **variables: str) -> "subprocess.Popen[str]":
    """Start Python with these words, the packages of the folder, and nothing to write but the volume."""
    command = ["unshare", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "sh", "-euc", _PREPARE, "sh"]
    environment = {
        "PATH": os.environ["PATH"], "PYTHONPATH": str(folder / "site"), "VOLUME": volume, "PREFIX": sys.base_prefix,
        "PYTHON": str(folder / "python"), "CLOSED": closed(Path(sys.base_prefix)), **variables,
    }  # fmt: skip
    command += [os.path.realpath(sys.executable), *words]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, cwd="/")


class Sandbox(Krond):
    """What `Krond` can do, inside. The commands ask from outside, through the volume."""

    def __init__(self, jobs: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="kron-sandbox-"))
        self.folder.chmod(0o755)
        super().__init__(self.folder, jobs)
        self.volume = self.folder / "volume"
        self.volume.mkdir(mode=0o755)
        os.chown(self.volume, UNPRIVILEGED, UNPRIVILEGED)
        self.state = self.volume / "state"
        copy_packages(self.folder, _PACKAGES)

    def start(self) -> "Sandbox":
        """Start it, and return when it says that it is ready."""
        words = ("-c", _MAIN, "run", "--config", str(self.file), "--log", "json")
        self.process = confined(self.folder, *words, volume=str(self.volume), KROND_STATE=str(self.state))
        self.wait_for("KrondReady")
        return self

    def remove(self) -> None:
        """Leave nothing behind."""
        shutil.rmtree(self.folder)

"""Programs for checks, each built once from the Go module proxy into a cache."""

import fcntl
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kron"


class ToolMissingError(Exception):
    """A program cannot be built here; the text says why."""


@dataclass(frozen=True, slots=True)
class GoTool:
    """A program, the package that it is built from, and its version."""

    name: str
    package: str
    version: str

    def path(self) -> str:
        """Return the program, which is built if it is not there. ToolMissingError: it cannot be."""
        cache = _CACHE / f"{self.name}-{self.version}"
        cache.mkdir(parents=True, exist_ok=True)
        with (cache / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # one process builds, the others wait for it
            if not (cache / self.name).exists():
                self._build(cache)
        return str(cache / self.name)

    def _build(self, cache: Path) -> None:
        """Build beside the program and move it: a program that is there is whole."""
        if shutil.which("go") is None:
            raise ToolMissingError(f"Go, which builds {self.name}, is not installed")
        made = cache / "made"
        environment = {**os.environ, "GOBIN": str(made), "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
        command = ["go", "install", "-trimpath", f"{self.package}@{self.version}"]
        done = subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, check=False)
        if done.returncode:
            *_, last = done.stderr.strip().splitlines() or ["no output"]
            raise ToolMissingError(f"{self.name} cannot be built: {last}")
        (made / self.name).replace(cache / self.name)


HELM = GoTool("helm", "helm.sh/helm/v3/cmd/helm", "v3.22.0")
ACTIONLINT = GoTool("actionlint", "github.com/rhysd/actionlint/cmd/actionlint", "v1.7.12")

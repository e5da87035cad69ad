"""Helm, built once from the Go module proxy into a cache, to render the chart with what people use."""

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest

_VERSION = "v3.22.0"
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kron" / f"helm-{_VERSION}"


def helm() -> str:
    """Return the program, built if it is not there; without Go or the proxy the test is skipped, and says so."""
    program = _CACHE / "helm"
    _CACHE.mkdir(parents=True, exist_ok=True)
    with (_CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one process builds, the others wait for it
        if not program.exists():
            _build(program)
    return str(program)


def _build(program: Path) -> None:
    """Build beside it and move: a program that is there is whole."""
    if shutil.which("go") is None:
        pytest.skip("the chart was NOT rendered: Go, which builds Helm, is not installed")
    made = _CACHE / "made"
    environment = {**os.environ, "GOBIN": str(made), "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
    command = ["go", "install", "-trimpath", f"helm.sh/helm/v3/cmd/helm@{_VERSION}"]
    done = subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, check=False)
    if done.returncode:
        *_, last = done.stderr.strip().splitlines() or ["no output"]
        pytest.skip(f"the chart was NOT rendered: Helm cannot be built: {last}")
    (made / "helm").replace(program)

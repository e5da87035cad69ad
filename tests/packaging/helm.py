"""Helm, built once from the Go module proxy into a cache, to render the chart with what people use."""

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
    if not program.exists():
        if shutil.which("go") is None:
            pytest.skip("the chart was NOT rendered: Go, which builds Helm, is not installed")
        _build(program)
    return str(program)


def _build(program: Path) -> None:
    """Build beside the cache and move: a program that is there is whole, whoever else builds it."""
    made = _CACHE / str(os.getpid())
    environment = {
        **os.environ,
        "GOBIN": str(made),
        "GOTOOLCHAIN": "local",
        "CGO_ENABLED": "0",
        "GOFLAGS": "-modcacherw",
    }
    command = ["go", "install", "-trimpath", f"helm.sh/helm/v3/cmd/helm@{_VERSION}"]
    done = subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, check=False)
    if done.returncode:
        *_, last = done.stderr.strip().splitlines() or ["no output"]
        pytest.skip(f"the chart was NOT rendered: Helm cannot be built: {last}")
    (made / "helm").replace(program)
    made.rmdir()

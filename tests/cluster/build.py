"""Build etcd, kube-apiserver and kube-controller-manager from source, once: python -m tests.cluster.build"""

import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MODULE = Path(__file__).parent / "kubernetes"  # its go.mod and go.sum pin every source, and the version
PACKAGES = {  # program: what it is built from
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
}
_LOG_INTERVAL = 15.0  # seconds


def version() -> str:
    """Return the version of Kubernetes that is built, such as 1.37.1."""
    found = re.search(r"^\tk8s\.io/kubernetes v(\S+)", (MODULE / "go.mod").read_text("utf-8"), re.MULTILINE)
    assert found is not None
    return found[1]


def folder() -> Path:
    """Return where the programs are, or would be."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "kron" / f"kubernetes-{version()}"


def missing(place: Path) -> list[str]:
    """Return the programs that are not there, or do not say that they are of this version."""
    return [program for program in PACKAGES if not _answers(place / program)]


def build(place: Path) -> None:
    """Build all programs beside the place and put them there at once, so that a build that was ended leaves nothing."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with _alone(place.with_name(f"{place.name}.lock")):
        if not missing(place):  # another one built them while this one waited
            return
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=f"{place.name}.") as aside:
            made = Path(aside) / "made"
            made.mkdir()
            _compile(made)
            for program, package in PACKAGES.items():
                Path(made / _name_by_go(package)).rename(made / program)
            if wrong := missing(made):
                raise BuildError(f"what was built does not answer --version: {', '.join(wrong)}")
            if place.exists():
                place.rename(Path(aside) / "old")
            made.rename(place)


class BuildError(Exception):
    """The programs cannot be built here."""


def _compile(made: Path) -> None:
    go = shutil.which("go")
    if go is None:
        raise BuildError("there is no `go` in PATH; Go 1.26 or later is needed")
    major, minor = version().split(".")[:2]
    stamp = {"gitVersion": f"v{version()}", "gitMajor": major, "gitMinor": minor}
    flags = " ".join(["-s -w", *(f"-X k8s.io/component-base/version.{key}={value}" for key, value in stamp.items())])
    command = ["nice", go, "build", "-v", "-trimpath", "-mod=readonly", "-ldflags", flags, "-o", f"{made}/"]
    environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false", "GOWORK": "off"}
    began = reported = time.monotonic()
    words: list[str] = []
    with subprocess.Popen(
        [*command, *PACKAGES.values()], cwd=MODULE, env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            words.append(line)
            if time.monotonic() - reported > _LOG_INTERVAL:
                reported = time.monotonic()
                log(f"{reported - began:4.0f} s, {len(words)} steps, now {line.strip()}")
    if process.returncode:
        raise BuildError("".join(words[-10:]).strip())
    log(f"{time.monotonic() - began:4.0f} s, built")


def _name_by_go(package: str) -> str:
    """Return what `go build` calls the program of a package: its last word that is no version."""
    return [word for word in package.split("/") if not re.fullmatch(r"v\d+", word)][-1]


def _answers(program: Path) -> bool:
    wanted = _etcd_version() if program.name == "etcd" else version()
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and wanted in done.stdout


def _etcd_version() -> str:
    found = re.search(r"^\tgo\.etcd\.io/etcd/server/v3 v(\S+)", (MODULE / "go.mod").read_text("utf-8"), re.MULTILINE)
    assert found is not None
    return found[1]


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def log(text: str) -> None:
    """Say how far it is."""
    sys.stderr.write(f"cluster: {text}\n")
    sys.stderr.flush()


def main() -> None:
    """Build what is missing, or say why that cannot be done."""
    place = folder()
    wanted = missing(place)
    if not wanted:
        log(f"{place} is there")
        return
    log(f"building {', '.join(wanted)} into {place}: once, eight minutes on two free cores")
    try:
        build(place)
    except (BuildError, OSError) as error:
        log(f"NO CONTROL PLANE, every cluster test is skipped: {error}")
        sys.exit(1)


if __name__ == "__main__":
    main()

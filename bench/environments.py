"""The virtual environments of the peers, created on first use below .bench/."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.rows import peer_of

ROOT = Path(__file__).resolve().parent.parent
BENCH_HOME = ROOT / ".bench"

# Pinned, so that two runs months apart compare Kron and not its peers. Kron itself is the working copy.
_ENVIRONMENTS: dict[str, tuple[str, ...]] = {
    "main": (
        "croniter==6.2.4",
        "cronsim==2.8",
        "apscheduler==3.11.3",
        "celery==5.7.0",
        "crontab==1.0.5",
        "cron-converter==2.0.2",
        "hron==2.2.1",
        "croniters==0.2.1",
        "croniter-rs==0.2.0",
        "cronexpr==0.30.0",
        "sqlalchemy==2.1.8",
        "aiocron==2.1",
        "schedule==1.2.2",
        "huey==3.5.4",
        "tzdata",
        f"--editable={ROOT}[krond,operator]",
    ),
    "apscheduler4": ("apscheduler==4.0.0a6", "sqlalchemy==2.1.8", "aiosqlite==0.22.1", "greenlet", "sniffio", "tzdata"),
    "cronstable": ("cronstable==1.2.72",),
}
# Peers that do not live in main, because they clash with one that does.
_OTHER_HOMES = {"apscheduler4": "apscheduler4", "apscheduler4-sqlite": "apscheduler4", "cronstable": "cronstable"}


@dataclass(frozen=True, slots=True)
class Environment:
    """An interpreter, and the requirements that could not be installed for it, each with the reason."""

    python: Path
    missing: dict[str, str]


def environment_of(peer: str) -> str:
    """Return the name of the environment that a peer, or the peer of a row, lives in."""
    return _OTHER_HOMES.get(peer_of(peer), "main")


def ensure(name: str, say: Callable[[str], None]) -> Environment:
    """Return the environment, made or repaired if its requirements are not those that were installed."""
    directory = BENCH_HOME / name
    python, installed = directory / "bin" / "python", directory / "installed.txt"
    wanted = "\n".join(_ENVIRONMENTS[name])
    if python.exists() and installed.exists() and installed.read_text("utf-8") == wanted:
        return Environment(python, {})
    say(f"environment {name}: creating")
    shutil.rmtree(directory, ignore_errors=True)
    failure = _run([sys.executable, "-m", "venv", str(directory)])
    if failure:
        return Environment(python, dict.fromkeys(_ENVIRONMENTS[name], failure))
    say(f"environment {name}: installing {len(_ENVIRONMENTS[name])} requirements")
    missing = _install(python, _ENVIRONMENTS[name], say)
    if not missing:
        installed.write_text(wanted, "utf-8")  # last: a broken installation is tried again the next time
    return Environment(python, missing)


def _install(python: Path, requirements: tuple[str, ...], say: Callable[[str], None]) -> dict[str, str]:
    """Install all at once, or, if that fails, one by one to find out which of them cannot be."""
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if not _run([*pip, *requirements]):
        return {}
    missing = {}
    for requirement in requirements:
        say(f"  one by one: {requirement}")
        failure = _run([*pip, requirement])
        if failure:
            missing[requirement] = failure
    return missing


def _run(command: list[str]) -> str:
    """Run a command; return nothing if it succeeded, otherwise its last word."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else ((done.stderr or done.stdout).strip().splitlines() or ["no output"])[-1]

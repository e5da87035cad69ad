"""What an import adds to the start of a bare interpreter, and which modules it loads."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from itertools import repeat
from statistics import median
from time import perf_counter

from bench.clock import clean_slices
from bench.results import Cells
from bench.suite import Measurement, Suite
from bench.tables import MISSING, Promise, Table, number

_STARTS = 5  # per process of the suite, alternating with as many bare ones
_ATTEMPTS = 2
_BARE = "pass"
_STATEMENTS = {
    "kron": "import kron",
    "kron-schedule": "import kron; kron.Schedule",
    "kron-zone": "import kron; kron.Schedule('0 9 * * 1-5', timezone='Europe/Paris')",
    "kron-decide": "import kron; kron.Schedule, kron.Timing, kron.decide",
    "cronsim": "from cronsim import CronSim",
    "croniter": "from croniter import croniter",
    "croniters": "from croniters import croniter",
    "croniter-rs": "from croniter_rs import croniter",
    "cronexpr": "import cronexpr",
    "crontab": "from crontab import CronTab",
    "cron-converter": "from cron_converter import Cron",
    "hron": "from hron import Schedule",
    "apscheduler3": "from apscheduler.triggers.cron import CronTrigger",
    "apscheduler4": "from apscheduler.triggers.cron import CronTrigger",
    "celery": "from celery.schedules import crontab",
}
_HEAVY = ("asyncio", "sqlite3")
_ALLOWED = {"kron", "tzdata"}


def measure(peer: str, repeat: int) -> Measurement:  # noqa: ARG001  # every repeat is the same
    """Start the interpreter with and without the statement, in turns."""
    statement, found = _STATEMENTS[peer], Measurement()
    added = sorted(set(_modules(statement)) - set(_modules(_BARE)))  # these starts also fill the bytecode cache
    third_party = sorted({name.partition(".")[0] for name in added if not _is_ours(name)})
    heavy = [name for name in _HEAVY if name in added]
    found.figures |= {"modules": len(added), "heavy": len(heavy), "third party": len(third_party)}
    if heavy or third_party:
        found.facts["drags along"] = " ".join([*heavy, *third_party[:6], *(["..."] if len(third_party) > 6 else [])])
    _stay_on_one_core()
    turns = [(_start(_BARE), _start(statement)) for _ in range(_STARTS)]
    for which, name in enumerate(("", " by the wall clock")):
        bare, full = (median(turn[kind][which] for turn in turns) * 1e3 for kind in (0, 1))
        found.figures |= {f"bare{name}": bare, f"added{name}": full - bare}
    return found


def _is_ours(module: str) -> bool:
    """Whether a module is of the standard library or allowed; some of the former are named after the platform."""
    top = module.partition(".")[0]
    return top in sys.stdlib_module_names or top in _ALLOWED or top.startswith(("_sysconfigdata_", "__mp_main__"))


def _modules(statement: str) -> list[str]:
    script = f"{statement}\nimport sys\nnames = list(sys.modules)\nimport json\nprint(json.dumps(names))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ImportError(done.stderr.strip().splitlines()[-1])
    names: list[str] = json.loads(done.stdout)
    return names


def _stay_on_one_core() -> None:
    """The yardstick between two starts says nothing about another core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _start(statement: str) -> tuple[float, float]:
    """Return what an interpreter takes from start to end: seconds of the processor, and of the wall clock."""

    def run(part: Sequence[list[str]]) -> float:
        start = perf_counter()
        subprocess.run(part[0], check=True)
        return perf_counter() - start

    command = [sys.executable, "-c", statement]
    starts = repeat([command], _ATTEMPTS)
    best = min(clean_slices(run, starts, enough=1, clock=_children_seconds), key=lambda attempt: attempt.yardstick)
    return best.seconds, best.result


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def tables(cells: Cells) -> list[Table]:
    """Return one table: milliseconds added, modules added, and the heavy or foreign ones by name."""
    rows = [
        (
            cell.peer,
            number(cell.get("added")),
            number(cell.get("added by the wall clock")),
            number(cells.ratio((cell.peer, "added"), ("kron-schedule", "added"))),
            number(cell.get("modules")),
            cell.fact("drags along") or MISSING,
            f"`{_STATEMENTS[cell.peer]}`",
        )
        for cell in sorted(cells.measured(), key=lambda cell: cell.get("added") or 0.0)
    ]
    header = (
        "peer",
        "added ms",
        "by the wall clock",
        "x kron-schedule",
        "modules",
        "asyncio, sqlite3 or third party",
        "statement",
    )
    bare = number(cells["kron"].get("bare"), " ms")
    starts = _STARTS * max((len(cell.counted) for cell in cells.measured()), default=0)
    notes = (
        f"added to a bare interpreter, which takes {bare}; {starts} starts of each, alternating with bare ones",
        "processor time, which is the wall clock's on an idle machine and suffers less from a busy one",
    )
    return [Table("Import", header, rows, notes)]


def promises(cells: Cells) -> list[Promise]:
    """Return what Kron promises about being imported."""
    kron = cells["kron-schedule"]
    samples = kron.samples("added")
    spread = (min(samples), max(samples)) if samples else None
    found = [
        Promise("import kron, with Schedule, processor time", kron.get("added"), 60, " ms", at_most=True, spread=spread)
    ]
    for name in ("kron-schedule", "kron-zone", "kron-decide"):
        cell = cells[name]
        heavy, foreign = cell.get("heavy"), cell.get("third party")
        unwanted = None if heavy is None or foreign is None else heavy + foreign
        text = f"asyncio, sqlite3 and third-party modules other than tzdata loaded by {name}"
        found.append(Promise(text, unwanted, 0, at_most=True))
    return found


SUITE = Suite("import", tuple(_STATEMENTS), measure, tables, promises, fewest_repeats=5)

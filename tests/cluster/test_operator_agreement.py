"""The library, krond and the operator choose the same seconds for one job."""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from kron.instant import Instant, format_instant
from tests.cluster.conftest import Replicas
from tests.cluster.load import now
from tests.cluster.plane import ControlPlane
from tests.cluster.sight import NamespaceReader
from tests.cluster.soon import due_soon
from tests.cluster.wait import wait_until
from tests.hosts.krond.krond_process import Krond

pytestmark = pytest.mark.cluster

Choice = dict[str, Any]

KRON = (sys.executable, "-c", "from kron.entry_points import kron_main; kron_main()")
DISTRIBUTION = {"name": "skewEarly", "params": {"shape": 3}}
NOTES = ("period_id", "nominal_time", "chosen_time", "seed_hash")


def test_library_krond_and_operator_choose_the_same_seconds(
    plane: ControlPlane, namespace: str, replica: Replicas, tmp_path: Path
) -> None:
    operator, sight = replica().start(), NamespaceReader(plane, namespace)
    due = due_soon(now(), namespace, first=(8, 15), timeZone="Europe/Paris", distribution=DISTRIBUTION)
    line = (
        f"* * * * * @win(after,1h) @dist(skewEarly,shape=3) @seed(stable,salt={due.document['spec']['seed']['salt']})"
    )

    plane.admin.create(due.document)
    krond = ask_krond(tmp_path, line, f"{namespace}/soon")
    kron = ask_kron(line, f"{namespace}/soon", since=min(each.nominal_time for each in due.decisions))
    wait_until(sight.outcomes, what="a Job")

    (job,) = sight.jobs().values()
    notes = job["metadata"]["annotations"]
    first = due.first.to_dict()
    assert [notes[f"kron.io/{key.replace('_', '-')}"] for key in NOTES] == [first[key] for key in NOTES]
    (logged,) = [each["decision"] for each in operator.lines("decision") if each["name"] == "soon"]
    assert logged == first
    library = choices(each.to_dict() for each in due.decisions)
    assert choices([first]) <= choices(krond)
    assert len(choices(krond)) == 30
    assert choices(krond) <= library | choices(kron)
    assert len(library & choices(kron)) >= len(due.decisions) - 1


def ask_krond(folder: Path, line: str, identity: str) -> list[Choice]:
    """Return what krond says that comes."""
    said = {"identity": identity, "schedule": line, "timezone": "Europe/Paris"}
    keys = "\n".join(f"{key} = {json.dumps(value)}" for key, value in said.items())
    krond = Krond(folder, f'[jobs.soon]\n{keys}\ncommand = ["true"]\n').start()
    try:
        found: list[Choice] = krond.json("next", "--count", "30")
        return found
    finally:
        krond.kill()


def ask_kron(line: str, identity: str, *, since: Instant) -> list[Choice]:
    """Return what `kron next` prints of the periods after this one."""
    words = ["next", f"{line} @tz(Europe/Paris)", "--identity", identity, "--from", format_instant(since)]
    done = subprocess.run([*KRON, *words, "--count", "90", "--json"], capture_output=True, text=True, check=True)
    found: list[Choice] = json.loads(done.stdout)
    return found


def choices(given: Iterable[Choice]) -> set[tuple[str, str]]:
    """Return which seconds were chosen for which periods."""
    return {(each["nominal_time"], each["chosen_time"]) for each in given}

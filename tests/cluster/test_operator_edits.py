"""kron-operator while its KronJobs are edited every second."""

from functools import partial
from itertools import pairwise
from typing import NamedTuple

import pytest

from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.instant import SECOND, Instant, parse_instant
from tests.cluster.client import Document
from tests.cluster.conftest import Replicas
from tests.cluster.load import Load, now
from tests.cluster.plane import ControlPlane
from tests.cluster.sight import NamespaceReader
from tests.cluster.wait import wait_until
from tests.kronjob.kronjob_documents import kronjob

pytestmark = pytest.mark.cluster

EDIT = "kron.test/edit"
SALTS = ("one", "other")
NUMBER = 60
SEEN = 5 * SECOND  # so long an edit may take until it is seen, on a busy machine


class Change(NamedTuple):
    """Another definition: between these instants it came into force."""

    begun: Instant
    seen: Instant
    salt: str


def test_edits_of_template_and_labels_change_no_second_and_reach_the_next_job(
    plane: ControlPlane, namespace: str, replica: Replicas
) -> None:
    operator, load = replica().start(), Load(plane, namespace)
    load.add(NUMBER)
    edited = [edit(plane, namespace, number) for number in range(12)]

    load.wait_for(2)
    load.settle([operator])
    made = {row.name: row.at for row in operator.asked() if (row.verb, row.resource) == ("create", "jobs")}
    jobs = NamespaceReader(plane, namespace).jobs()
    assert jobs
    for name, job in jobs.items():
        number = int(job["metadata"]["annotations"].get(EDIT, -1))
        assert number + 1 == len(edited) or made[name] <= edited[number + 1] + SEEN, name


def test_a_period_runs_only_if_the_definition_of_its_second_chose_that_second(
    plane: ControlPlane, namespace: str, replica: Replicas
) -> None:
    operator, load = replica().start(), Load(plane, namespace)
    begun = now()
    load.add(NUMBER, seed={"salt": SALTS[0]})
    changes = [Change(begun, now(), SALTS[0])]
    for number in range(16):
        if number % 4 == 0 and number:
            begun, salt = now(), SALTS[number // 4 % 2]
            known = hashes(plane, namespace)
            edit(plane, namespace, number, seed={"salt": salt})
            wait_until(partial(are_all_new, plane, namespace, known), what="the change seen")
            changes.append(Change(begun, now(), salt))
        else:
            edit(plane, namespace, number)
    wait_until(lambda: operator.number("kron_queue_depth") == 0, what="all written")

    made = [row.name for row in operator.asked() if (row.verb, row.resource, row.code) == ("create", "jobs", 201)]
    assert len(made) == len(set(made)) > 0
    jobs = NamespaceReader(plane, namespace).jobs()
    assert [name for name, job in jobs.items() if not may_run(job, changes)] == []


def edit(plane: ControlPlane, namespace: str, number: int, **spec: object) -> Instant:
    """Edit every KronJob, and return when that was done, a second later."""
    begun, marks = now(), {EDIT: str(number)}
    change = {
        "metadata": {"annotations": marks, "labels": marks},
        "spec": {"jobTemplate": {"metadata": {"annotations": marks}}, **spec},
    }
    for each in plane.admin.list("KronJob", namespace):
        plane.admin.patch("KronJob", namespace, each["metadata"]["name"], change)
    done = now()
    wait_until(lambda: now() >= begun + SECOND, what="a second")
    return done


def hashes(plane: ControlPlane, namespace: str) -> dict[str, str]:
    """Return by name which definition each status is about."""
    found = plane.admin.list("KronJob", namespace)
    return {each["metadata"]["name"]: each.get("status", {}).get("definitionHash", "") for each in found}


def are_all_new(plane: ControlPlane, namespace: str, known: dict[str, str]) -> bool:
    return all(known[name] != each for name, each in hashes(plane, namespace).items())


def may_run(job: Document, changes: list[Change]) -> bool:
    """Whether a definition that may have been in force at the second of a Job has chosen that second."""
    notes = job["metadata"]["annotations"]
    namespace, _, name = notes["kron.io/identity"].partition("/")
    nominal, chosen = (parse_instant(notes[f"kron.io/{key}"]) for key in ("nominal-time", "chosen-time"))
    ends = [*(after.seen for _, after in pairwise(changes)), now()]
    salts = {change.salt for change, end in zip(changes, ends, strict=True) if change.begun <= chosen <= end}
    return any(decide(timing(namespace, name, salt), nominal).chosen_time == chosen for salt in salts)


def timing(namespace: str, name: str, salt: str) -> Timing:
    said = {"schedule": "* * * * *", "window": {"duration": "1h"}, "seed": {"salt": salt}}
    return kronjob(name=name, namespace=namespace, **said).timing

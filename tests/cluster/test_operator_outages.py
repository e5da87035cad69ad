"""kron-operator on a real cluster when something goes wrong: every period has one outcome, and one Job at most."""

from pathlib import Path
from typing import Any

import pytest

from kron.instant import format_instant
from kron.rules.kronjob.crd import crd
from tests.cluster.build import folder
from tests.cluster.conftest import Replicas
from tests.cluster.operator import Operator, install, shipped
from tests.cluster.plane import ControlPlane
from tests.cluster.soon import Due, due_soon
from tests.cluster.test_operator import condition, first_name, handled, names, now, status, template
from tests.cluster.wait import wait_until
from tests.rules.kronjob.world import document

pytestmark = pytest.mark.cluster

QUICK = ("--lease-duration", "5s", "--renew-deadline", "3s", "--retry-period", "500ms")
DEADLINE: dict[str, Any] = {"policy": {"deadline": "10m"}}


def wait_for_the_only_job(plane: ControlPlane, namespace: str, due: Due) -> None:
    """Wait until the period that was due soon is handled, and see that it has one Job and one entry."""
    wait_until(lambda: handled(plane, namespace, "soon"), what="the period handled")
    periods = [each["periodID"] for each in status(plane, namespace, "soon")["handledPeriods"]]
    assert periods == [due.first.period_id]
    assert handled(plane, namespace, "soon") == [("executed", "")]
    assert names(plane, namespace) == {first_name(due)}


def leads(operator: Operator) -> bool:
    """Tell whether the replica says that it leads."""
    return "kron_operator_leader 1.0" in operator.answer("/metrics")[1]


def test_a_period_that_falls_into_an_outage_of_the_server_is_made_up_for(
    plane: ControlPlane, namespace: str, replica: Replicas
) -> None:
    operator = replica().start()
    due = due_soon(now(), namespace, first=(5, 8), second=(120, 600))
    plane.admin.create(due.document)
    wait_until(lambda: "nextChosenTime" in status(plane, namespace, "soon"), what="the KronJob seen")
    chosen = due.first.chosen_time
    assert chosen is not None

    plane.kill_api_server()
    wait_until(lambda: now() > chosen, what="its second over")
    plane.start_api_server()

    wait_for_the_only_job(plane, namespace, due)
    assert operator.process.poll() is None
    assert operator.answer("/healthz")[0] == 200


def test_a_watch_from_a_revision_that_is_gone_begins_anew(
    plane: ControlPlane, namespace: str, replica: Replicas
) -> None:
    replica().start()
    plane.admin.create(document("before", namespace))
    wait_until(lambda: condition(plane, namespace, "before", "Ready")[0] == "True", what="the first KronJob seen")

    plane.kill_api_server()
    plane.compact()
    plane.start_api_server()
    plane.admin.create(document("after", namespace))

    wait_until(lambda: condition(plane, namespace, "after", "Ready")[0] == "True", what="the second KronJob seen")


def test_a_standby_does_what_a_killed_leader_cannot(plane: ControlPlane, namespace: str, replica: Replicas) -> None:
    leader = replica(*QUICK).start()
    wait_until(lambda: leads(leader), what="a leader")
    standby = replica(*QUICK).start()
    due = due_soon(now(), namespace, first=(5, 10), second=(120, 600))
    plane.admin.create(due.document)
    wait_until(lambda: "nextChosenTime" in status(plane, namespace, "soon"), what="the KronJob seen")
    assert not leads(standby)

    leader.kill()

    wait_for_the_only_job(plane, namespace, due)
    assert leads(standby)


def test_a_leader_that_is_asked_to_end_hands_over(plane: ControlPlane, namespace: str, replica: Replicas) -> None:
    leader = replica("--retry-period", "500ms").start()
    wait_until(lambda: leads(leader), what="a leader")
    standby = replica("--retry-period", "500ms").start()

    code = leader.stop()

    assert code == 0
    wait_until(lambda: leads(standby), what="the standby leading")
    (lease,) = plane.admin.list("Lease", namespace)
    changes = lease["spec"]["leaseTransitions"]
    assert changes == 1


def test_two_leaders_create_one_job_and_write_one_entry(plane: ControlPlane, namespace: str, replica: Replicas) -> None:
    for _ in range(2):
        replica("--leader-elect=false").start()
    due = due_soon(now(), namespace, second=(120, 600))

    plane.admin.create(due.document)

    wait_for_the_only_job(plane, namespace, due)


def test_a_killed_operator_finds_its_job_again_and_makes_no_second_one(
    plane: ControlPlane, namespace: str, replica: Replicas
) -> None:
    operator = replica("--leader-elect=false").start()
    due = due_soon(now(), namespace, second=(120, 600), jobTemplate=template("running"), **DEADLINE)
    plane.admin.create(due.document)
    wait_until(lambda: names(plane, namespace), what="the Job")

    operator.kill()
    operator.start()

    wait_until(lambda: status(plane, namespace, "soon").get("activeJobs") == 1, what="the Job found")
    wait_for_the_only_job(plane, namespace, due)


def test_what_was_due_while_no_operator_ran_is_executed_within_its_deadline(
    plane: ControlPlane, namespace: str, replica: Replicas
) -> None:
    operator = replica("--leader-elect=false").start()
    due = due_soon(now(), namespace, first=(5, 8), second=(120, 600), **DEADLINE)
    plane.admin.create(due.document)
    wait_until(lambda: "nextChosenTime" in status(plane, namespace, "soon"), what="the KronJob seen")
    chosen = due.first.chosen_time
    assert chosen is not None

    operator.kill()
    wait_until(lambda: now() > chosen, what="its second over")
    operator.start()

    wait_for_the_only_job(plane, namespace, due)
    assert status(plane, namespace, "soon")["lastChosenTime"] == format_instant(chosen)


def test_a_server_that_is_away_at_the_start_is_waited_for(
    plane: ControlPlane, namespace: str, replica: Replicas
) -> None:
    operator = replica()
    plane.kill_api_server()

    wait_until_it_waits(operator)
    plane.start_api_server()

    wait_until(lambda: operator.answer("/readyz")[0] == 200, what="/readyz")
    plane.admin.create(document("seen", namespace))
    wait_until(lambda: condition(plane, namespace, "seen", "Ready")[0] == "True", what="the KronJob seen")


def test_rights_that_come_later_are_waited_for(plane: ControlPlane, namespace: str, replica: Replicas) -> None:
    (binding,) = [each for each in shipped("namespaced.yaml", namespace) if each["kind"] == "RoleBinding"]
    plane.admin.delete("RoleBinding", namespace, binding["metadata"]["name"])
    operator = replica()

    wait_until_it_waits(operator)
    wait_until(lambda: [row for row in operator.asked() if not row.is_allowed], what="a refusal")
    plane.admin.create(binding)

    wait_until(lambda: operator.answer("/readyz")[0] == 200, what="/readyz")
    wait_until(lambda: leads(operator), what="a leader")


def test_a_definition_that_comes_later_is_waited_for(plane: ControlPlane, tmp_path: Path) -> None:
    assert plane.server  # so that there are programs
    bare = ControlPlane(tmp_path / "plane", folder())
    try:
        namespace = bare.start().namespace()
        install(bare, shipped("namespaced.yaml", namespace))
        operator = Operator(bare, namespace, tmp_path, "--namespace", namespace)
        wait_until_it_waits(operator)
        wait_until(lambda: 404 in {row.code for row in operator.asked()}, what="a resource that is not there")

        bare.apply_crd(crd())

        wait_until(lambda: operator.answer("/readyz")[0] == 200, what="/readyz")
        operator.kill()
    finally:
        bare.stop()


def wait_until_it_waits(operator: Operator) -> None:
    """Start a replica that cannot be ready, and wait until it says so."""
    operator.begin()
    wait_until(lambda: operator.answer("/healthz")[0] == 200, what="/healthz")
    assert operator.answer("/readyz")[0] == 503

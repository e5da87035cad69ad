"""kron-operator on a real cluster: bad input is reported with its field and a fix, and other KronJobs run."""

from typing import Any

import pytest

from kron.kronjob.kronjob import job_name
from tests.cluster.client import Refused
from tests.cluster.conftest import Replicas
from tests.cluster.load import Load, now
from tests.cluster.plane import ControlPlane
from tests.cluster.sight import NamespaceReader, template
from tests.cluster.soon import due_soon
from tests.cluster.test_plane import job
from tests.cluster.wait import wait_until
from tests.kronjob.kronjob_documents import document

pytestmark = pytest.mark.cluster

BAD: list[tuple[str, dict[str, Any], str]] = [  # the field, a bad value of the spec, and what the fix names
    ("spec.schedule", {"schedule": "61 * * * *"}, "0-59"),
    ("spec.schedule", {"schedule": "* * *"}, "5"),
    ("spec.schedule", {"schedule": "CRON_TZ=UTC 0 0 * * *"}, ""),
    ("spec.timeZone", {"timeZone": "Europe/Pari"}, "Europe/Paris"),
    ("spec.window.duration", {"window": {"duration": "an hour"}}, ""),
    ("spec.window.duration", {"window": {"duration": "1.0000001s"}}, ""),
    ("spec.policy.deadline", {"policy": {"deadline": "-5m"}}, ""),
    ("spec.policy.concurrency", {"policy": {"concurrency": "Forbid"}}, "forbid"),
    ("spec.distribution.name", {"distribution": {"name": "gauss"}}, "normal"),
    ("spec.distribution", {"distribution": {"name": "uniform", "params": {"shape": 2}}}, "shape"),
    ("spec.distribution.params", {"distribution": {"name": "skewLate", "params": {"steep": 2}}}, "shape"),
    ("spec.constraints", {"constraints": {"only": ["dow=MON"], "avoid": ["dow=MON"]}}, ""),
    ("spec.constraints.only", {"constraints": {"only": ["day=MON"]}}, "dow"),
    ("spec.window.duration", {"schedule": "* * * * *", "policy": {"deadline": "2000h"}}, "spec.policy.deadline"),
    ("spec.successfulJobsHistoryLimit", {"successfulJobsHistoryLimit": -1}, "0"),
    ("spec.jobTemplate", {"jobTemplate": {}}, ""),
]


def test_every_bad_spec_is_reported_with_its_field_and_the_others_run(
    plane: ControlPlane, namespace: str, sight: NamespaceReader, replica: Replicas
) -> None:
    operator = replica().start()
    messages: list[str] = []
    for number, (field, spec, fix) in enumerate(BAD):
        name = f"bad-{number}"
        try:
            plane.admin.create(document(name, namespace, **spec))
        except Refused as error:
            message = f"{error.fields} {error.message}"
        else:
            message = wait_until(lambda name=name: sight.complaint("InvalidSpec", name), what=str(spec))  # type: ignore[misc]
            assert message.startswith(field), message
            assert sight.conditions(name)["Ready"] == ("False", "InvalidSpec")
            assert "nextChosenTime" not in sight.status(name)
            wait_until(lambda name=name: ("Warning", "InvalidSpec") in sight.reasons(name), what="an event")  # type: ignore[misc]
        assert field in message
        assert fix in message, message
        messages.append(message)

    plane.admin.create(due_soon(now(), namespace).document)
    wait_until(lambda: sight.outcomes() == [("executed", "")], what="a good one runs")
    assert operator.bugs() == []
    assert len(messages) == len(BAD)


def test_a_spec_that_becomes_wrong_while_its_job_runs_stops_and_says_so(
    plane: ControlPlane, namespace: str, sight: NamespaceReader, replica: Replicas
) -> None:
    operator = replica().start()
    due = due_soon(now(), namespace, second=(12, 16), policy={"concurrency": "allow"}, jobTemplate=template("running"))
    plane.admin.create(due.document)
    wait_until(sight.outcomes, what="a Job")

    plane.admin.patch("KronJob", namespace, "soon", {"spec": {"timeZone": "Mars/Base"}})

    wait_until(lambda: sight.complaint("InvalidSpec"), what="InvalidSpec")
    assert sight.complaint("InvalidSpec").startswith("spec.timeZone: ")
    second = due.decisions[1].chosen_time
    assert second is not None
    wait_until(lambda: any(row.at > second for row in operator.asked()), what="the second period over")
    (running,) = sight.jobs().values()
    assert "deletionTimestamp" not in running["metadata"]
    assert ("skipped", "DefinitionChanged") in sight.outcomes()
    sight.let_pods("succeeded")
    wait_until(lambda: sight.status()["active"] == [], what="the end of the Job in the status")
    wait_until(lambda: ("Normal", "SawCompletedJob") in sight.reasons(), what="the event of the end of the Job")


def test_a_template_that_the_server_refuses_is_missed_at_once_and_reported(
    plane: ControlPlane, namespace: str, sight: NamespaceReader, replica: Replicas
) -> None:
    operator = replica().start()
    wrong = template("succeeded", parallelism=-1)
    due = due_soon(now(), namespace, policy={"deadline": "5m"}, jobTemplate=wrong, second=(60, 1000))
    plane.admin.create(due.document)

    wait_until(lambda: sight.outcomes() == [("missed", "Rejected")], what="Rejected")

    assert sight.conditions()["SchedulingError"] == ("True", "Rejected")
    assert "spec.parallelism" in sight.complaint("SchedulingError")
    expected = {("Warning", "FailedCreate"), ("Warning", "Missed")}
    wait_until(lambda: expected <= sight.reasons(), what="events")
    assert any("spec.parallelism" in each.message for each in sight.events())
    Load(plane, namespace).settle([operator])


def test_a_foreign_job_of_the_name_is_left_alone_and_the_period_is_missed(
    plane: ControlPlane, namespace: str, sight: NamespaceReader, replica: Replicas
) -> None:
    replica().start()
    due = due_soon(now(), namespace, policy={"deadline": "5m"})
    name = job_name(f"{namespace}/soon", due.first.nominal_time)
    uid = plane.admin.create(job(name, "running"), namespace)["metadata"]["uid"]
    plane.admin.create(due.document)

    wait_until(lambda: sight.outcomes() == [("missed", "NameTaken")], what="NameTaken")

    assert sight.conditions()["SchedulingError"] == ("True", "NameTaken")
    assert name in sight.complaint("SchedulingError")
    wait_until(lambda: ("Warning", "NameTaken") in sight.reasons(), what="an event")
    assert sight.jobs()[name]["metadata"]["uid"] == uid


def test_a_period_without_a_second_is_reported(
    plane: ControlPlane, namespace: str, sight: NamespaceReader, replica: Replicas
) -> None:
    """Its window holds no second that its constraints allow, for the periods of this hour at least."""
    replica().start()
    hour = (now().hour + 12) % 24
    between = f"between={hour:02}:00-{hour:02}:30"
    spec = {"schedule": "* * * * *", "window": {"duration": "1m"}, "constraints": {"only": [between]}}
    plane.admin.create(document("soon", namespace, **spec))

    wait_until(lambda: ("unschedulable", "NoCandidate") in sight.outcomes(), 90, what="unschedulable")

    wait_until(lambda: sight.conditions()["Unschedulable"][0] == "True", what="Unschedulable")
    wait_until(lambda: ("Warning", "Unschedulable") in sight.reasons(), what="an event")
    assert sight.jobs() == {}

"""Tests of the test kubelet: what it does for a Pod in each state."""

from typing import Any

import pytest

from tests.cluster.kubelet import NODE, ORDER, Outcome, Step, next_step


def pod(order: str = "", *, phase: str = "Pending", node: str = NODE, **metadata: Any) -> dict[str, Any]:
    """Return a Pod on our node."""
    annotations = {"annotations": {ORDER: order}} if order else {}
    return {"metadata": {**annotations, **metadata}, "spec": {"nodeName": node}, "status": {"phase": phase}}


DELETED: dict[str, Any] = {"deletionTimestamp": "2026-03-01T00:00:00Z", "deletionGracePeriodSeconds": 30}


def test_a_new_pod_is_bound_first() -> None:
    assert next_step(pod("failed", node="")) is Step.BIND


def test_a_pod_succeeds_without_another_instruction() -> None:
    assert next_step(pod()) is Step.SUCCEED


@pytest.mark.parametrize(
    ("order", "step"), [("succeeded", Step.SUCCEED), ("failed", Step.FAIL), ("running", Step.RUN), ("stuck", Step.RUN)]
)
def test_a_bound_pod_follows_its_instruction(order: str, step: Step) -> None:
    assert next_step(pod(order)) is step


@pytest.mark.parametrize("order", ["running", "stuck"])
def test_a_running_pod_goes_on(order: str) -> None:
    assert next_step(pod(order, phase="Running")) is Step.WAIT


def test_a_running_pod_fails_on_its_instruction() -> None:
    assert next_step(pod("failed", phase="Running")) is Step.FAIL


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
@pytest.mark.parametrize("order", [each.value for each in Outcome])
def test_a_pod_that_has_ended_is_left_alone(order: str, phase: str) -> None:
    assert next_step(pod(order, phase=phase)) is Step.WAIT


def test_a_running_pod_that_is_deleted_ends_and_is_then_removed() -> None:
    assert next_step(pod("running", phase="Running", **DELETED)) is Step.FAIL
    assert next_step(pod("running", phase="Failed", **DELETED)) is Step.REMOVE


def test_a_removed_pod_that_waits_for_its_finalizer_is_not_removed_again() -> None:
    removed = {**DELETED, "deletionGracePeriodSeconds": 0}

    assert next_step(pod("running", phase="Failed", **removed)) is Step.WAIT


def test_a_stuck_pod_stays_when_it_is_deleted() -> None:
    assert next_step(pod("stuck", phase="Running", **DELETED)) is Step.WAIT


def test_a_pod_that_is_deleted_before_it_was_bound_is_not_bound() -> None:
    assert next_step(pod(node="", **DELETED)) is Step.WAIT

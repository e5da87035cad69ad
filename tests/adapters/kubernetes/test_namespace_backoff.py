"""Tests of the backoff after refused Jobs: per KronJob, and per namespace after several."""

import pytest

from kron.adapters.kubernetes.namespace_backoff import NamespaceBackoff
from kron.errors import ApiError, ApiRefusedError, ApiUnreachableError
from tests.hosts.operator.fake_cluster import refused

QUOTA = refused(403, "Forbidden", message="exceeded quota")
RIGHTS = refused(403, "Forbidden", message='jobs.batch is forbidden: User "x" cannot create resource "jobs"')
DENIED = refused(403, "Forbidden", message='admission webhook "w" denied the request: exceeded quota of names')


class BackoffHarness:
    """Refusals, and a clock that only the test moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.refusals = NamespaceBackoff(lambda: self.now)

    def probe(self, error: ApiError | None = QUOTA) -> float:
        """Try as soon as that is allowed; return how long it took."""
        begun = self.now
        while seconds := self.refusals.wait("ns/a"):
            self.now += seconds
        self.refusals.on_answer("ns/a", error)
        return self.now - begun


def test_a_kronjob_rests_twice_as_long_after_each_refusal_up_to_two_minutes() -> None:
    office = BackoffHarness()

    rests = [office.probe() for _ in range(13)]

    assert rests == [0, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 120, 120, 120]


def test_a_waiting_kronjob_is_retried_within_seconds() -> None:
    office = BackoffHarness()
    for _ in range(12):
        office.probe()

    assert office.refusals.wait("ns/a") == 5.0


def test_one_at_a_time_tries_after_a_rest() -> None:
    office = BackoffHarness()
    office.probe()
    office.now = 0.25

    assert [office.refusals.wait("ns/a") for _ in range(3)] == [0.0, 1.0, 1.0]


def test_several_that_are_refused_together_count_once() -> None:
    office = BackoffHarness()
    for number in range(16):
        office.refusals.on_answer(f"ns/{number}", QUOTA)

    assert office.refusals.wait("ns/a") == 0.25


@pytest.mark.parametrize("error", [QUOTA, RIGHTS, refused(404, "NotFound")], ids=["quota", "rights", "no namespace"])
def test_a_namespace_rests_after_several_of_its_kronjobs_were_refused_for_its_sake(error: ApiError) -> None:
    office = BackoffHarness()
    rests = []
    for number in range(3):
        rests.append(office.refusals.wait("ns/other"))
        office.refusals.on_answer(f"ns/{number}", error)

    assert rests == [0.0, 0.0, 0.0]
    assert office.refusals.wait("ns/other") == 0.25


def test_one_kronjob_that_is_refused_again_and_again_rests_alone() -> None:
    office = BackoffHarness()
    for _ in range(5):
        office.probe()

    assert office.refusals.wait("ns/a") > 0
    assert office.refusals.wait("ns/other") == 0.0


def test_kronjobs_that_a_webhook_denies_rest_each_for_itself() -> None:
    office = BackoffHarness()
    for number in range(10):
        office.refusals.on_answer(f"ns/{number}", DENIED)

    assert office.refusals.wait("ns/other") == 0.0
    assert {office.refusals.wait(f"ns/{number}") for number in range(10)} == {0.25}


def test_the_job_of_another_kronjob_does_not_end_the_rest_of_one_that_a_webhook_denies() -> None:
    office = BackoffHarness()
    office.refusals.on_answer("ns/a", DENIED)

    office.refusals.on_answer("ns/other", None)
    office.refusals.on_change("ns")

    assert office.refusals.wait("ns/a") == 0.25
    assert office.probe(DENIED) == 0.25
    assert office.probe(DENIED) == 0.5


def test_a_job_that_is_created_ends_the_rest() -> None:
    office = BackoffHarness()
    office.probe()
    office.probe(None)

    assert [office.refusals.wait("ns/a") for _ in range(3)] == [0.0, 0.0, 0.0]
    assert office.refusals.reason("ns/a") == ""


def test_other_namespaces_do_not_rest() -> None:
    office = BackoffHarness()
    office.probe()

    assert office.refusals.wait("other/a") == 0.0
    assert (office.refusals.reason("ns/a"), office.refusals.reason("other/a")) == ("exceeded quota", "")


def test_a_job_that_ended_brings_the_next_probe_within_a_second() -> None:
    office = BackoffHarness()
    for _ in range(12):
        office.probe()

    office.refusals.on_change("ns")

    assert office.probe() == 1.0


def test_a_server_that_asks_for_a_pause_gets_it() -> None:
    office = BackoffHarness()
    office.probe(ApiRefusedError(code=403, reason="Forbidden", message="exceeded quota", retry_after=7.0))

    assert office.probe() == 7.0


@pytest.mark.parametrize("error", [refused(500, "InternalError"), ApiUnreachableError(server="s", reason="cut")])
def test_an_answer_that_is_not_about_the_namespace_lets_the_next_one_try(error: ApiError) -> None:
    office = BackoffHarness()
    office.probe()
    office.probe(error)

    assert office.refusals.wait("ns/a") == 0.0


def test_a_namespace_that_is_being_deleted_does_not_rest() -> None:
    office = BackoffHarness()
    office.probe(refused(403, "Forbidden", causes=("NamespaceTerminating",)))

    assert office.refusals.wait("ns/a") == 0.0

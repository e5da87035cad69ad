"""A namespace whose Jobs are refused rests, longer each time, and one probe ends that."""

import pytest

from kron.errors import ApiError, ApiRefusedError, ApiUnreachableError
from kron.hosts.operator.refusals import Refusals
from tests.hosts.operator.cluster import refused

QUOTA = refused(403, "Forbidden", message="exceeded quota")


class Office:
    """Refusals, and a clock that only the test moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.refusals = Refusals(lambda: self.now)

    def probe(self, error: ApiError | None = QUOTA) -> float:
        """Try as soon as that is allowed; return how long it took."""
        begun = self.now
        while seconds := self.refusals.wait("ns"):
            self.now += seconds
        self.refusals.on_answer("ns", error)
        return self.now - begun


def test_a_namespace_rests_twice_as_long_after_each_refusal_up_to_two_minutes() -> None:
    office = Office()

    rests = [office.probe() for _ in range(13)]

    assert rests == [0, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 120, 120, 120]


def test_who_waits_is_asked_again_within_seconds() -> None:
    office = Office()
    for _ in range(12):
        office.probe()

    assert office.refusals.wait("ns") == 5.0


def test_one_at_a_time_tries_after_a_rest() -> None:
    office = Office()
    office.probe()
    office.now = 0.25

    assert [office.refusals.wait("ns") for _ in range(3)] == [0.0, 1.0, 1.0]


def test_several_that_are_refused_together_count_once() -> None:
    office = Office()
    for _ in range(16):
        office.refusals.on_answer("ns", QUOTA)

    assert office.refusals.wait("ns") == 0.25


def test_a_job_that_is_created_ends_the_rest() -> None:
    office = Office()
    office.probe()
    office.probe(None)

    assert [office.refusals.wait("ns") for _ in range(3)] == [0.0, 0.0, 0.0]
    assert office.refusals.reason("ns") == ""


def test_other_namespaces_do_not_rest() -> None:
    office = Office()
    office.probe()

    assert office.refusals.wait("other") == 0.0
    assert (office.refusals.reason("ns"), office.refusals.reason("other")) == ("exceeded quota", "")


def test_a_job_that_ended_brings_the_next_probe_within_a_second() -> None:
    office = Office()
    for _ in range(12):
        office.probe()

    office.refusals.on_change("ns")

    assert office.probe() == 1.0


def test_a_server_that_asks_for_a_pause_gets_it() -> None:
    office = Office()
    office.probe(ApiRefusedError(code=403, reason="Forbidden", message="later", retry_after=7.0))

    assert office.probe() == 7.0


@pytest.mark.parametrize("error", [refused(500, "InternalError"), ApiUnreachableError(server="s", reason="cut")])
def test_an_answer_that_is_not_about_the_namespace_lets_the_next_one_try(error: ApiError) -> None:
    office = Office()
    office.probe()
    office.probe(error)

    assert office.refusals.wait("ns") == 0.0


def test_a_namespace_that_is_being_deleted_does_not_rest() -> None:
    office = Office()
    office.probe(refused(403, "Forbidden", causes=("NamespaceTerminating",)))

    assert office.refusals.wait("ns") == 0.0

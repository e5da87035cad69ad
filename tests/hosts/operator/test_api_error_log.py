"""Tests of the API error log: refusals are logged completely, at most once a minute."""

import asyncio
import io
import json
from typing import Any

import pytest

from kron.adapters.kubernetes.client import EVENTS, JOBS, KRONJOB_STATUS, Resource
from kron.errors import ApiError, ApiRefusedError, ApiUnreachableError
from kron.hosts.operator.log import ApiErrorLog, LoggingClient, OperatorLog
from tests.hosts.operator.fake_cluster import refused
from tests.hosts.operator.replica import NOON

FORBIDDEN = 'User "system:serviceaccount:kron-system:kron-operator" cannot do that to a resource of this API group'
LONG = f"{FORBIDDEN} {'at the cluster scope, ' * 20}in the namespace team-b"


class RefusingClient:
    """A client whose requests are all refused."""

    def __init__(self, error: ApiError) -> None:
        self._error = error

    async def request(self, *_asked: Any) -> Any:
        raise self._error


class LoggedErrors:
    """The lines of the log about writes that were refused, at seconds of a clock."""

    def __init__(self) -> None:
        self._stream, self.second = io.StringIO(), 0.0
        self.problems = ApiErrorLog(OperatorLog(self._stream, lambda: NOON), lambda: self.second)

    def ask(self, error: ApiError, resource: Resource = KRONJOB_STATUS) -> None:
        with pytest.raises(type(error)):
            asyncio.run(LoggingClient(RefusingClient(error), self.problems).request("patch", resource, "ns", "a"))

    @property
    def lines(self) -> list[tuple[str, str]]:
        found = [json.loads(line) for line in self._stream.getvalue().splitlines()]
        assert all(each.get("object", "ns/a") == "ns/a" for each in found)
        return [(each["resource"], each["error"]) for each in found]


@pytest.mark.parametrize("error", [refused(403, "Forbidden"), refused(500, "InternalError"), refused(429, "Later")])
@pytest.mark.parametrize("resource", [KRONJOB_STATUS, EVENTS, JOBS])
def test_a_write_that_is_refused_for_now_is_logged(error: ApiRefusedError, resource: Resource) -> None:
    errors = LoggedErrors()

    errors.ask(error, resource)

    assert errors.lines == [(resource.label, error.message)]


def test_a_server_that_does_not_answer_is_logged() -> None:
    errors = LoggedErrors()

    errors.ask(ApiUnreachableError(server="https://test", reason="reset"))

    assert errors.lines == [("kronjobs/status", "API server https://test: reset")]


@pytest.mark.parametrize("error", [refused(409, "Conflict"), refused(404, "NotFound"), refused(422, "Invalid")])
def test_an_error_that_is_handled_elsewhere_is_not_logged(error: ApiRefusedError) -> None:
    errors = LoggedErrors()

    errors.ask(error)

    assert errors.lines == []


def test_the_same_error_of_many_objects_is_logged_once_a_minute() -> None:
    errors = LoggedErrors()

    for second in (0, 1, 59, 60, 61):
        errors.second = second
        errors.ask(refused(403, "Forbidden", message=f"kronjobs.kron.io a-{second} is forbidden"))

    assert [text for _, text in errors.lines] == [
        "kronjobs.kron.io a-0 is forbidden",
        "kronjobs.kron.io a-60 is forbidden",
    ]


def test_the_log_says_how_to_install_a_missing_definition() -> None:
    errors = LoggedErrors()

    errors.problems.log_watch_error("kronjobs", refused(404, "NotFound", message="404 page not found"))

    ((_, text),) = errors.lines
    assert text.endswith("kron-operator crd | kubectl apply -f -")


def test_a_problem_is_logged_completely() -> None:
    errors = LoggedErrors()

    errors.problems.log_watch_error("kronjobs", refused(403, "Forbidden", message=LONG))

    assert errors.lines == [("kronjobs", LONG)]

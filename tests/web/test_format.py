"""Words and symbols of pages: the class of a result agrees with the sets of results in `rules`."""

import pytest

from kron.instant import parse_instant
from kron.rules.history import RunRow
from kron.rules.job_record import PROBLEM, RETRYABLE, ResultCode, RunKind
from kron.rules.verdict import Outcome
from kron.web.format import TERMS, badge_of, last_badge, reason_of
from tests.architecture.test_docs import ROOT, anchors

NOON = parse_instant("2026-03-01T12:00:00Z")


@pytest.mark.parametrize("result", ResultCode)
def test_the_page_shows_a_result_as_bad_if_and_only_if_it_is_a_problem(result: ResultCode) -> None:
    badge = last_badge(Outcome.EXECUTED.value, result.value)

    assert (badge.kind == "bad") == (result in PROBLEM)
    assert (badge.kind == "good") == (result is ResultCode.SUCCEEDED)


def test_a_run_whose_end_was_not_seen_is_a_problem_and_is_not_retried() -> None:
    assert {*PROBLEM} - {*RETRYABLE} == {ResultCode.UNKNOWN}


def closed(reason: str, detail: str | None, *, count: int = 1) -> RunRow:
    return RunRow(
        identity="a",
        name="a",
        kind=RunKind.PERIOD,
        nominal_time=NOON,
        outcome=Outcome.MISSED,
        reason=reason,
        detail=detail,
        period_count=count,
    )


def test_a_reason_is_followed_by_its_detail_and_said_once() -> None:
    assert reason_of(closed("downtime", "the host was down")) == "downtime: the host was down"
    assert reason_of(closed("downtime", "downtime")) == "downtime"
    assert reason_of(closed("downtime", None)) == "downtime"


def test_the_badge_of_a_range_says_how_many_periods_it_has() -> None:
    assert badge_of(closed("downtime", None, count=3)).word == "missed ×3"
    assert badge_of(closed("downtime", None)).word == "missed"


@pytest.mark.parametrize("address", sorted(set(TERMS.values())))
def test_a_term_leads_to_a_page_of_the_documentation_and_a_heading_of_it(address: str) -> None:
    name, _, anchor = address.partition("#")
    page = ROOT / "docs" / name.replace(".html", ".md")

    assert page.is_file()
    assert not anchor or anchor in anchors(page)

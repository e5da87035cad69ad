"""Every clause has a test under each of its contracts, every citation names a clause, and the page is current."""

import ast
from functools import cache

import pytest

from kron.rules.contract import PRESETS
from tests.conformance.citing import clause
from tests.conformance.clause import Clause
from tests.conformance.clauses import CATALOGUE, CLAUSES
from tests.conformance.table import (
    BROKEN,
    HOLDS,
    PAGE,
    ROOT,
    citations,
    cited_by,
    page,
    place_of,
    verdict,
    verdicts_on_the_page,
)


def test_no_two_clauses_share_a_name() -> None:
    assert len(CATALOGUE) == len(CLAUSES)


def test_the_contracts_of_a_clause_exist() -> None:
    assert all(each.revisions and set(each.revisions) <= set(PRESETS) for each in CLAUSES)


def test_every_contract_has_clauses() -> None:
    assert {name for each in CLAUSES for name in each.revisions} == set(PRESETS)


@pytest.mark.parametrize("each", CLAUSES, ids=lambda each: each.id)
def test_a_clause_is_shown_under_each_of_its_contracts_or_says_why_it_cannot_be(each: Clause) -> None:
    shown = {name for citation in citations() if each.id in citation.clauses for name in citation.contracts}

    if each.shown_by:
        shown |= set(each.revisions)
    assert shown == (set() if each.untestable else set(each.revisions))


@pytest.mark.parametrize("each", [each for each in CLAUSES if each.shown_by], ids=lambda each: each.id)
def test_the_tests_that_a_clause_names_exist(each: Clause) -> None:
    missing = [test for test in cited_by(each) if test.partition("::")[2] not in _tests_of(place_of(test))]

    assert missing == []
    assert len(set(each.shown_by)) == len(each.shown_by)


@cache
def _tests_of(place: str) -> frozenset[str]:
    """Return the names of the functions in a file."""
    path = ROOT / place.partition("::")[0]
    tree = ast.parse(path.read_text("utf-8")) if path.exists() else ast.Module([], [])
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_a_citation_of_a_clause_that_does_not_exist_is_refused() -> None:
    with pytest.raises(KeyError):
        clause("no.such-clause")


def test_a_citation_that_no_contract_fits_is_refused() -> None:
    with pytest.raises(AssertionError):
        clause("time.fold-both", "time.fold-first-only")


def test_every_citation_names_clauses_of_the_catalogue() -> None:
    unknown = {name for citation in citations() for name in citation.clauses if name not in CATALOGUE}

    assert unknown == set()


@pytest.mark.parametrize(
    ("cases", "expected"),
    [([True, True], HOLDS), ([True, False], BROKEN), (None, BROKEN)],
    ids=["all passed", "one failed", "none was run"],
)
def test_a_clause_holds_when_every_case_of_every_test_passed(cases: list[bool] | None, expected: str) -> None:
    each = CATALOGUE["start.first-minute"]
    passed = {} if cases is None else dict.fromkeys(cited_by(each), cases)

    assert verdict(each, passed) == expected


def test_the_page_shows_the_catalogue_and_its_tests() -> None:
    assert PAGE.read_text("utf-8") == page(verdicts_on_the_page()), "update it: python -m tests.conformance.table"

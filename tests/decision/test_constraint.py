"""Constraints: every kind on both sides, how they combine, and which clause is named when one rejects."""

from datetime import datetime

import pytest
from hypothesis import given, settings, strategies as st

from kron.decision.constraint import KINDS, Clauses, Constraints
from tests.decision import reference
from tests.decision.strategies import clauses, sides

sunday_noon = "2026-03-01 12:00:00"
RULES = [  # a clause, wall times that it matches, and wall times that it does not
    ("hours=9", ["2026-03-01 09:00:00", "2026-03-01 09:59:59"], ["2026-03-01 08:59:59", "2026-03-01 10:00:00"]),
    ("hours=0,22-23", ["2026-03-01 00:00:00", "2026-03-01 23:59:59"], ["2026-03-01 01:00:00", "2026-03-01 21:59:59"]),
    ("hours=00-09", ["2026-03-01 00:00:00", "2026-03-01 09:59:59"], ["2026-03-01 10:00:00"]),
    ("dow=MON-FRI", ["2026-03-02 00:00:00", "2026-03-06 23:59:59"], [sunday_noon, "2026-03-07 12:00:00"]),
    ("dow=SUN", [sunday_noon], ["2026-02-28 23:59:59", "2026-03-02 00:00:00"]),
    ("dow=0", [sunday_noon], ["2026-03-02 12:00:00"]),
    ("dow=7", [sunday_noon], ["2026-03-02 12:00:00"]),
    ("dow=SAT-SUN", [sunday_noon, "2026-02-28 12:00:00"], ["2026-02-27 12:00:00", "2026-03-02 12:00:00"]),
    ("dow=5-7", [sunday_noon, "2026-02-27 12:00:00"], ["2026-03-02 12:00:00", "2026-02-26 12:00:00"]),
    ("dow=tue,Thu,6", ["2026-03-03 12:00:00", "2026-03-05 12:00:00", "2026-03-07 12:00:00"], [sunday_noon]),
    ("dom=1", [sunday_noon, "2026-04-01 00:00:00"], ["2026-03-02 00:00:00", "2026-02-28 23:59:59"]),
    ("dom=29-31", ["2024-02-29 12:00:00", "2026-01-31 12:00:00"], ["2026-02-28 12:00:00"]),
    ("months=3", [sunday_noon, "2026-03-31 23:59:59"], ["2026-02-28 23:59:59", "2026-04-01 00:00:00"]),
    ("months=JAN-MAR,dec", [sunday_noon, "2026-12-31 12:00:00"], ["2026-04-01 12:00:00", "2026-11-30 12:00:00"]),
    (
        "between=08:00-20:00",
        ["2026-03-01 08:00:00", "2026-03-01 20:00:00", "2026-03-01 20:00:59"],
        ["2026-03-01 07:59:59", "2026-03-01 20:01:00"],
    ),
    ("between=12:00-12:00", [sunday_noon, "2026-03-01 12:00:59"], ["2026-03-01 11:59:59", "2026-03-01 12:01:00"]),
    ("between=00:00-23:59", ["2026-03-01 00:00:00", "2026-03-01 23:59:59"], []),
    ("between=22:00-23:59,00:00-05:59", ["2026-03-01 23:00:00", "2026-03-01 05:59:59"], [sunday_noon]),
    ("date=2026-03-01", [sunday_noon, "2026-03-01 23:59:59"], ["2026-02-28 23:59:59", "2026-03-02 00:00:00"]),
    ("date=2026-03-01,2026-12-25", [sunday_noon, "2026-12-25 00:00:00"], ["2025-12-25 12:00:00"]),
    (
        "dates=2026-12-24..2027-01-02",
        ["2026-12-24 00:00:00", "2027-01-02 23:59:59"],
        ["2026-12-23 23:59:59", "2027-01-03 00:00:00"],
    ),
    ("dates=2026-03-01..2026-03-01", [sunday_noon], ["2026-03-02 00:00:00"]),
]
each_rule = pytest.mark.parametrize(("clause", "matching", "other"), RULES, ids=[rule[0] for rule in RULES])


def only(clauses: str) -> Constraints:
    return Constraints(only=Clauses.parse(clauses))


def avoid(clauses: str) -> Constraints:
    return Constraints(avoid=Clauses.parse(clauses))


def both(wanted: str, unwanted: str) -> Constraints:
    return Constraints(Clauses.parse(wanted), Clauses.parse(unwanted))


def allows(constraints: Constraints, wall: str) -> bool:
    return constraints.allows(datetime.fromisoformat(wall))


# --- one clause -------------------------------------------------------------------------------------------------------


@each_rule
def test_only_allows_what_its_clause_matches_and_nothing_else(
    clause: str, matching: list[str], other: list[str]
) -> None:
    verdicts = [allows(only(clause), wall) for wall in matching + other]

    assert verdicts == [True] * len(matching) + [False] * len(other)


@each_rule
def test_avoid_rejects_what_its_clause_matches_and_nothing_else(
    clause: str, matching: list[str], other: list[str]
) -> None:
    verdicts = [allows(avoid(clause), wall) for wall in matching + other]

    assert verdicts == [False] * len(matching) + [True] * len(other)


def test_the_rules_above_cover_every_kind() -> None:
    assert {rule[0].split("=")[0] for rule in RULES} == set(KINDS)


def test_without_clauses_everything_is_allowed() -> None:
    assert allows(Constraints(), sunday_noon)
    assert not Constraints()


# --- several clauses --------------------------------------------------------------------------------------------------


def test_the_kinds_of_only_must_all_hold() -> None:
    constraints = only("dow=MON-FRI;between=08:00-20:00")

    assert allows(constraints, "2026-03-02 09:00:00")
    assert not allows(constraints, "2026-03-02 21:00:00")
    assert not allows(constraints, "2026-03-01 09:00:00")


def test_hours_and_between_are_two_kinds_that_must_both_hold() -> None:
    constraints = only("hours=9-12;between=12:30-14:00")

    assert allows(constraints, "2026-03-01 12:45:00")
    assert not allows(constraints, "2026-03-01 12:15:00")
    assert not allows(constraints, "2026-03-01 13:15:00")


@pytest.mark.parametrize("spelling", ["dow=MON,WED", "dow=MON;dow=WED"])
def test_of_the_values_of_one_kind_one_must_hold(spelling: str) -> None:
    verdicts = [allows(only(spelling), f"2026-03-0{day} 12:00:00") for day in (2, 3, 4)]

    assert verdicts == [True, False, True]


@pytest.mark.parametrize(
    "spelling", ["date=2026-03-01;dates=2026-03-03..2026-03-04", "dates=2026-03-03..2026-03-04;date=2026-03-01"]
)
def test_date_and_dates_are_one_kind(spelling: str) -> None:
    verdicts = [allows(only(spelling), f"2026-03-0{day} 12:00:00") for day in (1, 2, 3, 4, 5)]

    assert verdicts == [True, False, True, True, False]


def test_any_match_of_avoid_rejects() -> None:
    constraints = avoid("dow=SUN;hours=12")

    assert not allows(constraints, "2026-03-01 09:00:00")
    assert not allows(constraints, "2026-03-02 12:00:00")
    assert allows(constraints, "2026-03-02 09:00:00")


def test_avoid_cuts_holes_into_only() -> None:
    constraints = both("hours=8-20", "between=12:00-12:59;date=2026-12-25")

    assert allows(constraints, "2026-03-01 11:59:59")
    assert not allows(constraints, "2026-03-01 12:00:00")
    assert not allows(constraints, "2026-12-25 11:59:59")
    assert not allows(constraints, "2026-03-01 07:00:00")


def test_a_clause_on_both_sides_allows_nothing() -> None:
    assert not allows(both("hours=12", "hours=12"), sunday_noon)


@settings(max_examples=300)
@given(sides, st.datetimes(datetime(1970, 1, 1), datetime(2100, 12, 31)))  # noqa: DTZ001 # wall times
def test_the_reference_allows_the_same_wall_times(given: dict[str, list[str]], wall: datetime) -> None:
    constraints = Constraints(*(Clauses.parse(given.get(side, [])) for side in ("only", "avoid")))

    assert constraints.allows(wall) == reference.allowed(wall, given)


# --- which clause rejected --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wall", "clause"),
    [
        ("2026-03-02 09:00:00", ""),
        ("2026-03-01 09:00:00", "only(dow=MON-FRI)"),
        ("2026-03-02 07:00:00", "only(hours=8-20)"),
        ("2026-12-25 09:00:00", "avoid(date=2026-12-25)"),
        ("2026-03-02 12:30:00", "avoid(between=12:00-12:59)"),
    ],
)
def test_the_clause_that_rejects_is_named_as_it_was_written(wall: str, clause: str) -> None:
    constraints = both("dow=MON-FRI;hours=8-20", "date=2026-12-25;between=12:00-12:59")

    assert constraints.rejecting_clause(datetime.fromisoformat(wall)) == clause


def test_clauses_of_one_kind_are_named_together() -> None:
    constraints = only("date=2026-03-02;hours=12;dates=2026-03-04..2026-03-05")

    assert constraints.rejecting_clause(datetime.fromisoformat(sunday_noon)) == (
        "only(date=2026-03-02;dates=2026-03-04..2026-03-05)"
    )


@given(sides, st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31)))  # noqa: DTZ001 # wall times
def test_a_clause_is_named_exactly_when_the_wall_time_is_not_allowed(
    given: dict[str, list[str]], wall: datetime
) -> None:
    constraints = Constraints(*(Clauses.parse(given.get(side, [])) for side in ("only", "avoid")))

    assert (constraints.rejecting_clause(wall) == "") is constraints.allows(wall)


# --- texts ------------------------------------------------------------------------------------------------------------


def test_a_text_a_list_and_a_table_give_the_same_clauses() -> None:
    text = Clauses.parse("dow=MON-FRI;hours=9,10")

    assert Clauses.parse(["dow=MON-FRI", "hours=9,10"]) == text
    assert Clauses.from_table({"dow": ["MON-FRI"], "hours": [9, "10"]}) == text
    assert Clauses.from_table({"dow": "MON-FRI", "hours": "9,10"}) == text


def test_blanks_around_clauses_and_values_do_not_matter() -> None:
    assert Clauses.parse(" dow=MON , TUE ; hours=9 ") == Clauses.parse("dow=MON,TUE;hours=9")


@given(st.lists(clauses, max_size=4))
def test_clauses_are_printed_as_a_text_that_reads_back(given: list[str]) -> None:
    parsed = Clauses.parse(given)

    assert Clauses.parse(parsed.texts) == parsed


def test_the_order_of_the_clauses_does_not_matter() -> None:
    assert Clauses.parse("dow=MON;hours=9") == Clauses.parse("hours=9;dow=MON")


def test_equal_clauses_hash_alike() -> None:
    assert hash(Clauses.parse("dow=MON;hours=9")) == hash(Clauses.parse("hours=9;dow=MON"))

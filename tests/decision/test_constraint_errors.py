"""Constraints: a bad clause is one clear error that names its kind and, where there is one, the right spelling."""

from datetime import date
from typing import Any

import pytest

from kron.decision.constraint import Clauses
from kron.errors import InvalidDefinitionError

KINDS = "must be one of hours, dow, dom, months, between, date, dates"


def refusal(clauses: Any) -> InvalidDefinitionError:
    with pytest.raises(InvalidDefinitionError) as caught:
        Clauses.from_table(clauses) if isinstance(clauses, dict) else Clauses.parse(clauses)
    return caught.value


@pytest.mark.parametrize(
    ("clause", "fix"),
    [
        ("hours=22-2", "write 22-23,0-2"),
        ("hours=23-0", "write 23,0"),
        ("dow=FRI-MON", "write FRI-SAT,SUN-MON"),
        ("dow=5-1", "write 5-6,0-1"),
        ("dow=SAT-FRI", "write SAT,SUN-FRI"),
        ("dow=7-2", "write 0-2"),
        ("dom=28-3", "write 28-31,1-3"),
        ("months=NOV-FEB", "write NOV-DEC,JAN-FEB"),
        ("months=12-1", "write 12,1"),
        ("between=22:00-06:00", "write between=22:00-23:59,00:00-06:00"),
        ("between=12:01-12:00", "write between=12:01-23:59,00:00-12:00"),
        ("dates=2027-01-02..2026-12-24", "write dates=2026-12-24..2027-01-02"),
    ],
)
def test_a_range_that_wraps_is_refused_with_the_right_spelling(clause: str, fix: str) -> None:
    error = refusal(clause)

    assert error.field == f"constraint {clause.split('=')[0]}"
    assert error.fix == fix


@pytest.mark.parametrize(
    "clause",
    ["hours=22-2", "dow=FRI-MON", "dom=28-3", "months=NOV-FEB", "between=22:00-06:00", "dates=2027-01-02..2026-12-24"],
)
def test_the_right_spelling_of_a_wrapped_range_is_accepted(clause: str) -> None:
    kind = clause.split("=")[0]
    spelling = refusal(clause).fix.removeprefix("write ").removeprefix(f"{kind}=")

    assert Clauses.parse(f"{kind}={spelling}").texts == [f"{kind}={spelling}"]


@pytest.mark.parametrize(
    ("clause", "reason"),
    [
        ("hours=24", "value 24 is outside 0-23"),
        ("hours=-1", "has a range without a start or a sign (-1)"),
        ("hours=9-", "has a range without an end (9-)"),
        ("hours=", "has an empty list element"),
        ("hours=9,,10", "has an empty list element"),
        ("hours=9,", "has an empty list element"),
        ("hours=*", "must name its values"),
        ("hours=*/2", "must name its values"),
        ("hours=0-23/2", "uses a step (0-23/2), which a constraint does not have"),
        ("hours=MON", "has an unknown name (MON)"),
        ("hours=٣", "has '٣' where a decimal number is expected"),
        ("hours=1_0", "has '_' where a decimal number is expected"),
        ("hours=9.5", "has '.' where a decimal number is expected"),
        ("dow=8", "value 8 is outside 0-7"),
        ("dow=MONDAY", "has an unknown name (MONDAY)"),
        ("dow=FUNDAY", "has an unknown name (FUNDAY)"),
        ("dom=0", "value 0 is outside 1-31"),
        ("dom=32", "value 32 is outside 1-31"),
        ("months=0", "value 0 is outside 1-12"),
        ("months=13", "value 13 is outside 1-12"),
        ("months=MON", "has an unknown name (MON)"),
        ("between=", "must be HH:MM-HH:MM"),
        ("between=8:00-20:00", "must be HH:MM-HH:MM"),
        ("between=08:00", "must be HH:MM-HH:MM"),
        ("between=08:00-24:00", "must be HH:MM-HH:MM"),
        ("between=08:60-09:00", "must be HH:MM-HH:MM"),
        ("between=08:00–20:00", "must be HH:MM-HH:MM"),
        ("between=٠8:00-20:00", "must be HH:MM-HH:MM"),
        ("between=08:00:00-20:00:00", "must be HH:MM-HH:MM"),
        ("date=", "must be a date YYYY-MM-DD"),
        ("date=2026-02-29", "must be a date YYYY-MM-DD"),
        ("date=2026-13-01", "must be a date YYYY-MM-DD"),
        ("date=26-03-01", "must be a date YYYY-MM-DD"),
        ("date=2026-3-1", "must be a date YYYY-MM-DD"),
        ("date=20260301", "must be a date YYYY-MM-DD"),
        ("date=2026-W09-7", "must be a date YYYY-MM-DD"),
        ("date=0000-01-01", "must be a date YYYY-MM-DD"),
        ("date=2026-03-01..2026-03-02", "must be a date YYYY-MM-DD"),
        ("dates=2026-03-01", "must be FROM..TO"),
        ("dates=2026-03-01..", "must be a date YYYY-MM-DD"),
        ("dates=..2026-03-01", "must be a date YYYY-MM-DD"),
        ("dates=2026-03-01...2026-03-02", "must be a date YYYY-MM-DD"),
        ("dates=2026-03-01-2026-03-02", "must be FROM..TO"),
    ],
)
def test_a_bad_value_is_refused_with_its_reason_and_the_name_of_its_kind(clause: str, reason: str) -> None:
    error = refusal(clause)

    assert error.field == f"constraint {clause.split('=')[0]}"
    assert error.reason == reason


@pytest.mark.parametrize("clause", ["weekdays=MON", "DOW=MON", "hour=9", "=9", "@only=9"])
def test_an_unknown_kind_is_refused_with_the_known_ones(clause: str) -> None:
    error = refusal(clause)

    assert (error.field, error.found, error.reason) == ("constraint", clause.split("=")[0], KINDS)


@pytest.mark.parametrize(("clause", "meant"), [("hour=9", "hours"), ("month=3", "months"), ("DOW=MON", "dow")])
def test_a_kind_that_is_nearly_right_is_answered_with_the_right_one(clause: str, meant: str) -> None:
    assert refusal(clause).fix == f"did you mean {meant}?"


@pytest.mark.parametrize("text", ["", "MON-FRI", "dow=MON;", ";dow=MON", "dow=MON;;hours=9"])
def test_a_clause_without_a_kind_is_refused(text: str) -> None:
    error = refusal(text)

    assert (error.field, error.reason) == ("constraint", "a clause needs KIND=VALUES")


@pytest.mark.parametrize("clauses", [[5], [None], [["dow=MON"]], [{"dow": "MON"}]], ids=str)
def test_an_item_of_a_list_must_be_a_text(clauses: list[object]) -> None:
    assert refusal(clauses).reason == "a clause must be a text"


def test_a_table_may_hold_dates_as_toml_reads_them() -> None:
    assert Clauses.from_table({"date": date(2026, 12, 25)}) == Clauses.parse("date=2026-12-25")


@pytest.mark.parametrize("value", [[], None, True, 9.5, [True], [None], [["MON"]], {}], ids=str)
def test_a_table_holds_texts_numbers_or_lists_of_them(value: object) -> None:
    error = refusal({"dow": value})

    assert (error.field, error.reason) == ("constraint dow", "must be a non-empty list of texts, numbers or dates")


def test_a_megabyte_of_values_is_refused_without_repeating_it() -> None:
    assert len(str(refusal("hours=" + "1," * 500_000 + "x"))) < 500

"""The schedule of a registration, under a contract, a dialect and a time zone."""

from datetime import datetime, timedelta
from typing import Literal

import pytest

from kron.cron.schedule import Schedule
from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.errors import (
    CronExpressionInvalidError,
    FieldParseError,
    InvalidCronExpressionError,
    InvalidDefinitionError,
    InvalidRegistrationError,
    KronError,
    UnknownTimezoneError,
)
from kron.instant import parse_instant
from kron.rules.contract import DECLARATIVE, POLLING, POLLING_DRAFT, Contract
from kron.rules.due import Due
from kron.rules.registration import ScheduleReader
from tests.cron.moments import at

NOON = parse_instant("2026-03-02T12:00:00Z")
LONG_AGO = NOON - timedelta(days=400)


def reader(
    dialect: Literal["extended", "posix"] = "posix", *, contract: Contract = DECLARATIVE, timezone: str = "UTC"
) -> ScheduleReader:
    return ScheduleReader(contract, dialect, timezone)


def extended(text: str, *, timezone: str = "UTC", contract: Contract = DECLARATIVE) -> Due:
    return reader("extended", timezone=timezone, contract=contract)(text, "report")


def refusal(read: ScheduleReader, text: str, name: str = "report") -> KronError:
    """Return the error that a text is refused with."""
    with pytest.raises(KronError) as caught:
        read(text, name)
    return caught.value


def occurrences(due: Due, after: datetime, count: int) -> list[datetime]:
    found = [after]
    while len(found) <= count:
        coming = due.next(found[-1])
        assert coming is not None
        found.append(coming)
    return found[1:]


# --- expressions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ["posix", "extended"])
def test_an_expression_is_due_at_its_occurrences(dialect: Literal["extended", "posix"]) -> None:
    due = reader(dialect)("30 3 * * *", "report")

    assert due.next(NOON) == at("2026-03-03 03:30:00Z")
    assert due.latest(NOON, LONG_AGO) == at("2026-03-02 03:30:00Z")


def test_an_expression_is_read_in_the_time_zone_of_the_scheduler() -> None:
    due = reader(timezone="Europe/Paris")("30 3 * * *", "report")

    assert due.next(NOON) == at("2026-03-03 03:30:00+01:00")


@pytest.mark.parametrize("text", ["*/10 * * * *", "@daily", "0 0 * jan *", "0 0 * * *  @tz(UTC)"])
def test_an_extension_is_refused_in_the_other_dialect(text: str) -> None:
    assert type(refusal(reader("posix"), text)) is CronExpressionInvalidError
    assert extended(text).next(NOON) is not None


def test_equal_texts_are_one_schedule() -> None:
    read = reader()

    assert read("0 3 * * *", "one") is read("0 3 * * *", "another")
    assert read("0 3 * * *", "one") is not read("0 4 * * *", "one")


def test_readers_share_nothing() -> None:
    paris, utc = reader(timezone="Europe/Paris"), reader()

    assert paris("0 3 * * *", "report").next(NOON) != utc("0 3 * * *", "report").next(NOON)


# --- blanks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("contract", [POLLING_DRAFT, POLLING, DECLARATIVE], ids=lambda contract: contract.name)
@pytest.mark.parametrize("text", ["0 3 * * *", "0\t3 * * *", " 0  3 \t* * * "], ids=ascii)
def test_spaces_and_tabs_are_blanks_everywhere(contract: Contract, text: str) -> None:
    assert reader(contract=contract)(text, "report").next(NOON) == at("2026-03-03 03:00:00Z")


@pytest.mark.parametrize("text", ["0\n3 * * *", "0 3 * * *\n", "0 3\r\n* * *"], ids=ascii)
def test_line_breaks_are_blanks_only_where_the_contract_says_so(text: str) -> None:
    assert reader(contract=POLLING_DRAFT)(text, "report").next(NOON) == at("2026-03-03 03:00:00Z")
    assert type(refusal(reader(contract=POLLING), text)) is CronExpressionInvalidError
    assert type(refusal(reader(contract=DECLARATIVE), text)) is CronExpressionInvalidError


@pytest.mark.parametrize("blank", ["\v", "\f", "\u00a0", "\u2003", "\u3000"], ids=ascii)
def test_no_other_character_is_a_blank_in_any_contract(blank: str) -> None:
    for contract in (POLLING_DRAFT, POLLING, DECLARATIVE):
        assert type(refusal(reader(contract=contract), f"0{blank}3 * * *")) is CronExpressionInvalidError


def test_line_breaks_separate_the_modifiers_of_a_line_too() -> None:
    due = extended("0 3 * * *\n@tz(Europe/Paris)", contract=POLLING_DRAFT)

    assert due.next(NOON) == at("2026-03-03 03:00:00+01:00")


# --- the repeated minute ----------------------------------------------------------------------------------------------

# Europe/Paris, 25 October 2026: 03:00 summer time is 02:00 winter time, so 02:30 is 00:30Z and 01:30Z.
NIGHT = at("2026-10-24 12:00:00Z")
FIRST, SECOND = at("2026-10-25 00:30:00Z"), at("2026-10-25 01:30:00Z")
NEXT_DAY = at("2026-10-26 01:30:00Z")


@pytest.mark.parametrize(
    ("contract", "expected"),
    [(POLLING_DRAFT, [FIRST, NEXT_DAY]), (POLLING, [FIRST, NEXT_DAY]), (DECLARATIVE, [FIRST, SECOND])],
    ids=lambda value: value.name if isinstance(value, Contract) else "",
)
@pytest.mark.parametrize("text", ["30 2 * * *", "30 2 * * * @tz(Europe/Paris)"])
def test_a_minute_that_occurs_twice_counts_as_the_contract_says(
    contract: Contract, expected: list[datetime], text: str
) -> None:
    assert occurrences(extended(text, timezone="Europe/Paris", contract=contract), NIGHT, 2) == expected


@pytest.mark.parametrize(
    ("line", "contract", "expected"),
    [
        ("30 2 * * * @dst(repeated=first)", DECLARATIVE, [FIRST, NEXT_DAY]),
        ("30 2 * * * @dst(repeated=both)", POLLING, [FIRST, SECOND]),
    ],
)
def test_a_line_that_says_what_it_wants_of_a_repeated_minute_gets_it(
    line: str, contract: Contract, expected: list[datetime]
) -> None:
    assert occurrences(extended(line, timezone="Europe/Paris", contract=contract), NIGHT, 2) == expected


def test_a_line_that_wants_a_skipped_minute_gets_the_first_after_it() -> None:
    # Europe/Paris, 29 March 2026: 02:00 is 03:00.
    before = at("2026-03-28 12:00:00Z")

    assert extended("30 2 * * * @dst(gap=shift)", timezone="Europe/Paris").next(before) == at("2026-03-29 01:00:00Z")
    assert extended("30 2 * * *", timezone="Europe/Paris").next(before) == at("2026-03-30 00:30:00Z")


# --- lines ------------------------------------------------------------------------------------------------------------


def test_a_line_with_a_zone_is_read_in_that_zone() -> None:
    due = extended("0 3 * * * @tz(Asia/Tokyo)", timezone="Europe/Paris")

    assert due.next(NOON) == at("2026-03-03 03:00:00+09:00")


def test_a_line_with_a_window_is_due_at_the_second_chosen_for_the_name_of_the_task() -> None:
    line, nominal = "0 3 * * * @win(after,1h) @seed(stable,salt=x)", at("2026-03-03 03:00:00Z")
    read = reader("extended")

    chosen = {name: read(line, name).next(NOON) for name in ("one", "another")}

    assert chosen == {name: decide(Timing.parse(line, identity=name), nominal).chosen_time for name in chosen}
    assert chosen["one"] != chosen["another"]


def test_a_line_without_a_zone_has_its_window_in_the_time_zone_of_the_scheduler() -> None:
    due = extended("0 3 * * * @win(after,0s)", timezone="Asia/Tokyo")

    assert due.next(NOON) == at("2026-03-03 03:00:00+09:00")


# --- what is refused --------------------------------------------------------------------------------------------------


def test_a_field_that_is_wrong_is_reported_through_the_whole_chain() -> None:
    error = refusal(reader(), "61 * * * *")

    assert type(error) is CronExpressionInvalidError
    assert error.message == 'Invalid cron expression "61 * * * *": minute field value 61 is outside 0-59'
    assert dict(error.details) == {
        "expression": "61 * * * *",
        "field": "minute",
        "reason": "value 61 is outside 0-59",
    }
    assert type(error.__cause__) is InvalidCronExpressionError
    assert type(error.__cause__.__cause__) is FieldParseError
    assert error.__cause__.__cause__.details["fieldValue"] == "61"


@pytest.mark.parametrize("text", ["", " ", "* * * *", "* * * * * *", "0 0 30 2 *"], ids=repr)
def test_where_no_field_is_to_blame_the_expression_is(text: str) -> None:
    error = refusal(reader(), text)

    assert type(error) is CronExpressionInvalidError
    assert error.details["field"] == "expression"
    assert error.details["expression"] == text
    assert type(error.__cause__) is InvalidCronExpressionError
    assert error.__cause__.__cause__ is None


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("* * * * * @policy(concurrency=forbid)", "policy"),
        ("* * * * * @tz(Europe/Atlantis)", "timezone"),
        ("* * * * * @win(after,soon)", "window.duration"),
        ("* * * * * @only(hours=99)", "constraint hours"),
        ("* * * * * @colour(red)", "modifier"),
    ],
)
def test_a_modifier_that_is_wrong_is_reported_with_its_name_and_the_line(line: str, field: str) -> None:
    error = refusal(reader("extended"), line)

    assert type(error) is InvalidRegistrationError
    assert (error.details["field"], error.details["value"]) == (field, line)
    assert type(error.__cause__) is InvalidDefinitionError


def test_a_wrong_field_of_a_line_is_reported_with_the_whole_line() -> None:
    error = refusal(reader("extended"), "61 * * * * @tz(UTC)")

    assert type(error) is CronExpressionInvalidError
    assert (error.details["field"], error.details["expression"]) == ("minute", "61 * * * * @tz(UTC)")


def test_the_message_names_the_field_once() -> None:
    assert refusal(reader("extended"), "* * * * * @colour(red)").message.count("modifier") == 1


def test_a_name_of_two_lines_may_not_have_a_window_because_it_enters_the_seed() -> None:
    with pytest.raises(InvalidRegistrationError) as caught:
        reader("extended")("0 3 * * * @win(after,1h)", "two\nlines")

    assert (caught.value.details["field"], caught.value.details["value"]) == ("name", "two\nlines")


def test_a_text_that_was_refused_is_refused_again() -> None:
    read = reader()

    assert refusal(read, "61 * * * *").details == refusal(read, "61 * * * *").details


@pytest.mark.parametrize("timezone", ["Europe/Atlantis", "", "../etc/passwd"])
def test_a_wrong_time_zone_is_refused_before_anything_is_read(timezone: str) -> None:
    with pytest.raises(UnknownTimezoneError):
        reader(timezone=timezone)


def test_a_wrong_dialect_is_refused_before_anything_is_read() -> None:
    with pytest.raises(InvalidDefinitionError):
        reader("vixie")  # type: ignore[arg-type] # what an untyped caller may pass


def test_the_schedule_is_that_of_the_same_text() -> None:
    due, schedule = reader(timezone="Europe/Paris")("0 3 1,15 * 1", "report"), Schedule("0 3 1,15 * 1", "Europe/Paris")

    assert occurrences(due, NOON, 20) == list(schedule.between(NOON, occurrences(due, NOON, 20)[-1]))

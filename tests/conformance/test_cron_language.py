"""Cron language: what is accepted, what is refused, and which minutes an expression names.

A task without a record runs at once if its expression names the present minute: that is how a match is seen here.
"""

import pytest

from kron.errors import CronExpressionInvalidError
from kron.rules.contract import Contract
from tests.conformance.citing import clause
from tests.conformance.contract_harness import ContractHarness

MONDAY = "2026-03-02T10:07:30Z"


async def matches(contract: Contract, cron: str, *moments: str) -> list[str]:
    """Return the moments at which a new task of that expression runs at once."""
    found = []
    for moment in moments:
        harness = ContractHarness(contract, moment)
        await harness.start(harness.task(cron=cron))
        found += [moment for _ in harness.began]
    return found


async def refused(contract: Contract, cron: str) -> object:
    """Return which field the scheduler finds wrong; nothing of the task is kept."""
    harness = ContractHarness(contract)
    with pytest.raises(CronExpressionInvalidError) as caught:
        await harness.start(harness.task(cron=cron))
    assert harness.store.records == {}
    details = caught.value.details
    assert details["expression"] == cron
    return details["field"]


async def minutes_of_an_hour(contract: Contract, cron: str) -> list[int]:
    """Return the minutes of an hour in which a task runs."""
    moments = [f"2026-03-02T10:{minute:02}:00Z" for minute in range(60)]
    return [moments.index(moment) for moment in await matches(contract, cron, *moments)]


# --- the grammar ------------------------------------------------------------------------------------------------------


@clause("cron.posix")
@pytest.mark.parametrize(
    ("cron", "moment"),
    [
        ("0 0 * * *", "2026-03-02T00:00:00Z"),
        ("15 3 * * 1-5", "2026-03-02T03:15:00Z"),
        ("0,30 * * * *", "2026-03-02T10:30:00Z"),
        ("0 12 14 2 *", "2026-02-14T12:00:00Z"),
    ],
)
async def test_the_examples_of_the_specification_run(contract: Contract, cron: str, moment: str) -> None:
    assert await matches(contract, cron, moment, "2026-03-01T17:17:00Z") == [moment]


@clause("cron.posix")
@pytest.mark.parametrize(
    "cron",
    [
        "*/15 * * * *",
        "0 0 * * mon",
        "@daily",
        "0 0 ? * *",
        "~ * * * *",
        "H * * * *",
        "1-5~7 * * * *",
        "!5 * * * *",
        "0 0 * * * # nightly",
        "CRON_TZ=UTC 0 0 * * *",
        "0 3 * * * @tz(Europe/Paris)",
        "1;2 * * * *",
    ],
)
async def test_nothing_beyond_posix_is_accepted(contract: Contract, cron: str) -> None:
    assert await refused(contract, cron)


@clause("cron.grammar")
@pytest.mark.parametrize(
    ("field", "minutes"),
    [
        ("*", list(range(60))),
        ("7", [7]),
        ("5-8", [5, 6, 7, 8]),
        ("9-9", [9]),
        ("0,30,59", [0, 30, 59]),
        ("50,3-5,4,50,10-11", [3, 4, 5, 10, 11, 50]),
    ],
)
async def test_a_field_is_a_star_or_a_list_of_numbers_and_ranges(
    contract: Contract, field: str, minutes: list[int]
) -> None:
    assert await minutes_of_an_hour(contract, f"{field} * * * *") == minutes


@clause("cron.grammar")
@pytest.mark.parametrize("field", ["0,*", "*,0", "*,*", "**", "*-5", "1-*", "5*"])
async def test_a_star_is_never_part_of_anything(contract: Contract, field: str) -> None:
    assert await refused(contract, f"{field} * * * *") == "minute"


@clause("cron.grammar")
@pytest.mark.parametrize("field", [",", "1,", ",1", "1,,2", "-", "1-", "-1", "1-2-3", "1--2", "1.5", "1:2"])
async def test_a_list_that_lacks_or_exceeds_something_is_refused(contract: Contract, field: str) -> None:
    assert await refused(contract, f"* {field} * * *") == "hour"


@clause("cron.numbers-are-digits")
@pytest.mark.parametrize("cron", ["07 10 2 3 1", "007 0010 02 00003 01", "00-07 010-010 * * *", f"{'0' * 99}7 * * * *"])
async def test_zeros_may_lead_a_number(contract: Contract, cron: str) -> None:
    assert await matches(contract, cron, MONDAY, "2026-03-02T10:08:00Z") == [MONDAY]


@clause("cron.numbers-are-digits")
@pytest.mark.parametrize("digit", ["٧", "７", "७", "⁷", "Ⅶ"], ids=ascii)
async def test_digits_that_are_not_decimal_ascii_are_refused(contract: Contract, digit: str) -> None:
    assert await refused(contract, f"{digit} * * * *") == "minute"


# --- blanks -----------------------------------------------------------------------------------------------------------


@clause("cron.blanks-around")
@pytest.mark.parametrize("cron", [" 7 10 * * *", "7 10 * * * ", "  7 10 * * *  ", "\t7 10 * * *\t", " \t7 10 * * *\t "])
async def test_blanks_may_stand_before_and_after(contract: Contract, cron: str) -> None:
    assert await matches(contract, cron, MONDAY) == [MONDAY]


@clause("cron.blanks-with-line-ends")
@pytest.mark.parametrize("blank", [" ", "\t", "\n", "\r", "\r\n", " \t\n\r "], ids=ascii)
async def test_spaces_tabs_and_line_ends_separate_fields(contract: Contract, blank: str) -> None:
    assert await matches(contract, f"{blank}7{blank}10{blank}*{blank}*{blank}*{blank}", MONDAY) == [MONDAY]


@clause("cron.blanks-with-line-ends")
@pytest.mark.parametrize("blank", ["\v", "\f", "\x1c", "\x85", "\xa0", "\u2003", "\u2028", "\u3000", "\0"], ids=ascii)
async def test_other_blanks_than_spaces_tabs_and_line_ends_are_refused(contract: Contract, blank: str) -> None:
    assert await refused(contract, f"7{blank}10 * * *") == "expression"
    assert await refused(contract, f"7 10 * * *{blank}") == "weekday"


@clause("cron.blanks")
@pytest.mark.parametrize("blank", [" ", "\t", "  ", "\t\t", " \t "], ids=ascii)
async def test_spaces_and_tabs_separate_fields(contract: Contract, blank: str) -> None:
    assert await matches(contract, f"7{blank}10{blank}*{blank}*{blank}*", MONDAY) == [MONDAY]


@clause("cron.blanks")
@pytest.mark.parametrize("blank", ["\n", "\r", "\v", "\f", "\x1c", "\x85", "\xa0", "\u2003", "\u2028", "\0"], ids=ascii)
async def test_other_blanks_than_spaces_and_tabs_are_refused(contract: Contract, blank: str) -> None:
    assert await refused(contract, f"7{blank}10 * * *") == "expression"
    assert await refused(contract, f"7 10 * * *{blank}") == "weekday"


# --- values -----------------------------------------------------------------------------------------------------------


@clause("cron.field-ranges")
@pytest.mark.parametrize(
    ("cron", "moment"),
    [
        ("0 0 1 1 *", "2026-01-01T00:00:00Z"),
        ("59 23 31 12 *", "2026-12-31T23:59:00Z"),
        ("* * * * 0", "2026-03-01T10:07:30Z"),
        ("* * * * 6", "2026-03-07T10:07:30Z"),
        ("0-59 0-23 1-31 1-12 0-6", MONDAY),
    ],
    ids=["lowest", "highest", "lowest weekday", "highest weekday", "all"],
)
async def test_the_bounds_of_each_field_belong_to_it(contract: Contract, cron: str, moment: str) -> None:
    assert await matches(contract, cron, moment) == [moment]


@clause("cron.field-ranges", "cron.in-range")
@pytest.mark.parametrize(
    ("cron", "field"),
    [
        ("60 * * * *", "minute"),
        ("* 24 * * *", "hour"),
        ("* * 0 * *", "day"),
        ("* * 32 * *", "day"),
        ("* * * 0 *", "month"),
        ("* * * 13 *", "month"),
        ("* * * * 8", "weekday"),
    ],
)
async def test_the_neighbours_of_the_bounds_are_refused(contract: Contract, cron: str, field: str) -> None:
    assert await refused(contract, cron) == field


@clause("cron.in-range")
@pytest.mark.parametrize("field", ["0-60", "5,60", "1-5,99", "100", "4294967296", "060"])
async def test_a_value_out_of_range_is_refused_in_every_position(contract: Contract, field: str) -> None:
    assert await refused(contract, f"{field} * * * *") == "minute"


# --- what is refused --------------------------------------------------------------------------------------------------


@clause("cron.five-fields")
@pytest.mark.parametrize("cron", ["", " ", "*", "* * * *", "* * * * * *", "0 0 0 * * * 2026", "*****"])
async def test_other_than_five_fields_are_refused(contract: Contract, cron: str) -> None:
    assert await refused(contract, cron) == "expression"


@clause("cron.no-steps")
@pytest.mark.parametrize("step", ["*/15", "1-5/2", "1/2", "*/1", "0,*/2", "/2", "*/"])
@pytest.mark.parametrize("field", ["minute", "hour", "day", "month", "weekday"])
async def test_steps_are_refused(contract: Contract, step: str, field: str) -> None:
    fields = ["minute", "hour", "day", "month", "weekday"]

    assert await refused(contract, " ".join(step if each == field else "*" for each in fields)) == field


@clause("cron.no-names")
@pytest.mark.parametrize(
    ("cron", "field"),
    [
        ("* * * jan *", "month"),
        ("* * * JAN-MAR *", "month"),
        ("* * * 1,Dec *", "month"),
        ("* * * january *", "month"),
        ("* * * * mon", "weekday"),
        ("* * * * MON-FRI", "weekday"),
        ("* * * * sunday", "weekday"),
    ],
)
async def test_names_of_months_and_weekdays_are_refused(contract: Contract, cron: str, field: str) -> None:
    assert await refused(contract, cron) == field


@clause("cron.no-macros")
@pytest.mark.parametrize(
    "macro",
    ["@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually", "@reboot", "@DAILY", "@every 5m"],
)
async def test_macros_are_refused(contract: Contract, macro: str) -> None:
    assert await refused(contract, macro) == "expression"


@clause("cron.no-quartz")
@pytest.mark.parametrize(
    ("cron", "field"),
    [
        ("* * ? * *", "day"),
        ("* * * * ?", "weekday"),
        ("* * L * *", "day"),
        ("* * * * 5L", "weekday"),
        ("* * LW * *", "day"),
        ("* * 15W * *", "day"),
        ("* * * * 1#2", "weekday"),
    ],
)
async def test_tokens_of_quartz_are_refused(contract: Contract, cron: str, field: str) -> None:
    assert await refused(contract, cron) == field


@clause("cron.no-weekday-seven")
@pytest.mark.parametrize("weekday", ["7", "07", "5-7", "0,7", "7-7"])
async def test_weekday_seven_is_refused(contract: Contract, weekday: str) -> None:
    assert await refused(contract, f"* * * * {weekday}") == "weekday"


@clause("cron.no-wrap-around")
@pytest.mark.parametrize(
    ("cron", "field"),
    [
        ("50-10 * * * *", "minute"),
        ("* 22-2 * * *", "hour"),
        ("* * 31-1 * *", "day"),
        ("* * * 11-2 *", "month"),
        ("* * * * 5-1", "weekday"),
        ("1,9-8 * * * *", "minute"),
    ],
)
async def test_ranges_that_wrap_around_are_refused(contract: Contract, cron: str, field: str) -> None:
    assert await refused(contract, cron) == field


@clause("cron.decimal-only")
@pytest.mark.parametrize("number", ["+5", "-5", "5e0", "1E1", "0x5", "0b1", "0o7", "5.0", "1_0", "5h"])
async def test_numbers_that_are_not_plain_decimals_are_refused(contract: Contract, number: str) -> None:
    assert await refused(contract, f"{number} * * * *") == "minute"

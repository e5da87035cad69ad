"""Expressions in plain English: a table of sentences, and the law that different times have different sentences."""

import pytest

from kron.cron.description import describe
from kron.cron.expression import parse


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("* * * * *", "Every minute"),
        ("*/5 * * * *", "Every 5 minutes"),
        ("0,30 * * * *", "Every 30 minutes"),
        ("0 * * * *", "Every hour on the hour"),
        ("15 * * * *", "At minute 15 of every hour"),
        ("5,10,20 * * * *", "At minutes 5, 10 and 20 of every hour"),
        ("0-10 * * * *", "At minutes 0 to 10 of every hour"),
        ("*/40 * * * *", "At minutes 0 and 40 of every hour"),
        ("0 0 * * *", "At 00:00 every day"),
        ("5 7 * * *", "At 07:05 every day"),
        ("0 9,12,18 * * *", "At 09:00, 12:00 and 18:00 every day"),
        ("0 */6 * * *", "At 00:00, 06:00, 12:00 and 18:00 every day"),
        ("0 */5 * * *", "At 00:00, 05:00, 10:00, 15:00 and 20:00 every day"),
        ("0 */2 * * *", "Every 2 hours from 00:00"),
        ("30 */2 * * *", "Every 2 hours from 00:30"),
        ("0 9-17 * * *", "Every hour from 09:00 to 17:00"),
        ("*/15 9-17 * * *", "Every 15 minutes from 09:00 to 17:45"),
        ("* 9-17 * * *", "Every minute from 09:00 to 17:59"),
        ("* 9,12 * * *", "Every minute of the hours 9 and 12"),
        ("0,15,30 9,12,18 * * *", "At minutes 0, 15 and 30 of the hours 9, 12 and 18 every day"),
    ],
)
def test_times_of_day(text: str, sentence: str) -> None:
    assert describe(parse(text)) == sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("15 9 * * 1-5", "At 09:15 on weekdays"),
        ("0 0 * * 0,6", "At 00:00 on weekends"),
        ("0 0 * * SUN", "At 00:00 on Sundays"),
        ("0 0 * * 1,3,5", "At 00:00 on Mondays, Wednesdays and Fridays"),
        ("0 0 * * 5-7", "At 00:00 on Fridays, Saturdays and Sundays"),
        ("0 0 1 * *", "At 00:00 on the 1st of the month"),
        (
            "0 0 2,3,11,12,13,22,23,31 * *",
            "At 00:00 on the 2nd, the 3rd, the 11th to the 13th, the 22nd, the 23rd and the 31st of the month",
        ),
        ("0 0 1,15 * *", "At 00:00 on the 1st and the 15th of the month"),
        ("0 0 1-7 * *", "At 00:00 on the 1st to the 7th of the month"),
        ("0 0 */2 * *", "At 00:00 on every 2nd day from the 1st of the month"),
        ("0 12 14 2 *", "At 12:00 on the 14th of February"),
        ("0 0 15 6-8 *", "At 00:00 on the 15th of June, July and August"),
        ("0 0 * 1 1", "At 00:00 on Mondays in January"),
        ("* * * 6 *", "Every minute in June"),
        ("*/5 * 1 * *", "Every 5 minutes on the 1st of the month"),
        ("0 9-17 * * 1-5", "Every hour from 09:00 to 17:00 on weekdays"),
    ],
)
def test_days(text: str, sentence: str) -> None:
    assert describe(parse(text)) == sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0 0 1,15 * 1", "At 00:00 on the 1st and the 15th of the month or on Mondays"),
        ("0 3 13 * 5", "At 03:00 on the 13th of the month or on Fridays"),
        ("0 0 15 6 1", "At 00:00 on the 15th of June or on Mondays in June"),
        ("0 0 1-31 * 1", "At 00:00 every day"),
        ("0 0 15 * 0-6", "At 00:00 every day"),
        ("0 3 13 * */5", "At 03:00 on Fridays and Sundays that fall on the 13th of the month"),
    ],
    ids=["or", "Friday or the 13th", "or, in a month", "full day range", "full weekday range", "and"],
)
def test_two_day_fields(text: str, sentence: str) -> None:
    assert describe(parse(text)) == sentence


@pytest.mark.parametrize(
    ("day", "ordinal"),
    [
        (1, "1st"),
        (2, "2nd"),
        (3, "3rd"),
        (4, "4th"),
        (11, "11th"),
        (12, "12th"),
        (13, "13th"),
        (21, "21st"),
        (22, "22nd"),
    ],
)
def test_days_have_their_endings(day: int, ordinal: str) -> None:
    assert describe(parse(f"0 0 {day} 1 *")) == f"At 00:00 on the {ordinal} of January"


# --- different times, different sentences -----------------------------------------------------------------------------


def texts_that_share_a_sentence(template: str, low: int, high: int) -> list[tuple[str, str]]:
    """Try ranges with every end and step in a place of the template; return pairs that read alike but are not."""
    known: dict[str, tuple[set[int], str]] = {}
    wrong = []
    for first in range(low, low + 4):
        for last in range(first, high + 1):
            for step in range(1, last - first + 2):
                text = template.format(f"{first}-{last}/{step}")
                values = set(range(first, last + 1, step))
                other, other_text = known.setdefault(describe(parse(text)), (values, text))
                if other != values:
                    wrong.append((other_text, text))
    return wrong


@pytest.mark.parametrize("template", ["{} * * * *", "{} 3 * * *", "{} 3,4,9 * * *", "{} 3-8 * * *"])
def test_different_minutes_never_share_a_sentence(template: str) -> None:
    assert texts_that_share_a_sentence(template, 0, 59) == []


@pytest.mark.parametrize("template", ["0 {} * * *", "* {} * * *", "*/5 {} * * *", "1,7 {} * * *"])
def test_different_hours_never_share_a_sentence(template: str) -> None:
    assert texts_that_share_a_sentence(template, 0, 23) == []


@pytest.mark.parametrize("template", ["0 0 * {} *", "0 0 1 {} *", "0 0 1 {} 5", "0 0 1-7 {} *"])
def test_different_months_never_share_a_sentence(template: str) -> None:
    assert texts_that_share_a_sentence(template, 1, 12) == []


@pytest.mark.parametrize("template", ["0 0 * * {}", "0 0 1 * {}", "0 0 */3 1 {}"])
def test_different_weekdays_never_share_a_sentence(template: str) -> None:
    assert texts_that_share_a_sentence(template, 0, 6) == []


@pytest.mark.parametrize("template", ["0 0 {} * *", "0 0 {} 6 *", "0 0 {} * 1"])
def test_different_days_never_share_a_sentence(template: str) -> None:
    assert texts_that_share_a_sentence(template, 1, 31) == []


@pytest.mark.parametrize("text", ["* 9 * * *", "*/5 3 * * *", "0-29 3 * * *"])
def test_a_single_hour_is_not_a_plural(text: str) -> None:
    assert "hours" not in describe(parse(text))

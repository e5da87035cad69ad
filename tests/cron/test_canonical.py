"""The canonical text: one for all equal expressions, and parsing it gives the expression back."""

from random import Random

import pytest
from hypothesis import given, strategies as st

from kron.cron.dialect import EXTENDED, POSIX
from kron.cron.expression import parse
from tests.cron.reference import read
from tests.cron.texts import matching, untidy


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        (" 00\t03  *  * * ", "0 3 * * *"),
        ("0,1,2,3 * * * *", "0-3 * * * *"),
        ("0,1 * * * *", "0,1 * * * *"),
        ("5,3,4,3,1 * * * *", "1,3-5 * * * *"),
        ("0-59 0-23 1-31 1-12 0-6", "* * 1-31 * 0-6"),
        ("0 0 * * 0,1,2,3,4,5,6", "0 0 * * 0-6"),
        ("0,15,30,45 * * * *", "0,15,30,45 * * * *"),
    ],
)
def test_the_strict_canonical_text_has_runs_as_ranges_and_stars_for_all(text: str, canonical: str) -> None:
    assert parse(text, POSIX).canonical == canonical


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("0,15,30,45 * * * *", "*/15 * * * *"),
        ("*/15 * * * *", "*/15 * * * *"),
        ("*/1 * */1 * */1", "* * * * *"),
        ("*/40 * * * *", "0,40 * * * *"),
        ("0 0 */2 * MON", "0 0 */2 * 1"),
        ("0 0 1-31/2 * MON", "0 0 1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31 * 1"),
        ("0 0 1 JAN,jul-SEP SUN", "0 0 1 1,7-9 0"),
        ("0 0 * * 7", "0 0 * * 0"),
        ("0 0 * * SAT-SUN", "0 0 * * 0,6"),
        ("@daily", "0 0 * * *"),
        ("@Weekly", "0 0 * * 0"),
    ],
)
def test_the_extended_canonical_text_has_steps_where_they_are_regular(text: str, canonical: str) -> None:
    assert parse(text, EXTENDED).canonical == canonical


def test_a_day_field_keeps_its_leading_star_because_it_decides_between_and_and_or() -> None:
    starred, listed = parse("0 0 */10 * 1"), parse("0 0 1,11,21,31 * 1")

    assert starred != listed
    assert (starred.canonical, listed.canonical) == ("0 0 */10 * 1", "0 0 1,11,21,31 * 1")


@given(untidy(matching(extended=False)))
def test_strict_parse_print_parse_is_parse(text: str) -> None:
    expression = parse(text, POSIX)

    assert parse(expression.canonical, POSIX) == expression


@given(untidy(matching(extended=True)))
def test_extended_parse_print_parse_is_parse(text: str) -> None:
    expression = parse(text, EXTENDED)

    assert parse(expression.canonical, EXTENDED) == expression


@given(matching(extended=False))
def test_the_strict_canonical_text_is_a_fixed_point(text: str) -> None:
    canonical = parse(text, POSIX).canonical

    assert parse(canonical, POSIX).canonical == canonical


@given(matching(extended=True))
def test_the_extended_canonical_text_is_a_fixed_point(text: str) -> None:
    canonical = parse(text, EXTENDED).canonical

    assert parse(canonical, EXTENDED).canonical == canonical


@given(matching(extended=True))
def test_the_extended_canonical_text_names_the_same_minutes(text: str) -> None:
    assert read(parse(text, EXTENDED).canonical) == read(text)


@given(matching(extended=False))
def test_the_strict_canonical_text_names_the_same_minutes(text: str) -> None:
    assert read(parse(text, POSIX).canonical) == read(text)


@given(matching(extended=False), st.randoms(use_true_random=False))
def test_equal_expressions_share_hash_and_canonical_text(text: str, shuffle: Random) -> None:
    one, other = parse(text, POSIX), parse(_respelled(text, shuffle), POSIX)

    assert one == other
    assert hash(one) == hash(other)
    assert one.canonical == other.canonical


def _respelled(text: str, shuffle: Random) -> str:
    """The same values, every one spelled out, in any order."""
    reference = read(text)
    sets = (reference.minutes, reference.hours, reference.days, reference.months, reference.weekdays)
    fields = []
    for part, values in zip(text.split(), sets, strict=True):
        numbers = [str(value) for value in sorted(values)]
        shuffle.shuffle(numbers)
        fields.append(part if part == "*" else ",".join(numbers))
    return " ".join(fields)


@given(matching(extended=True), matching(extended=True))
def test_expressions_are_equal_exactly_if_their_canonical_texts_are(text: str, other: str) -> None:
    one, two = parse(text), parse(other)

    assert (one == two) == (one.canonical == two.canonical)


@given(matching(extended=True))
def test_the_canonical_text_is_plain(text: str) -> None:
    canonical = parse(text).canonical

    assert canonical.isascii()
    assert set(canonical) <= set("0123456789*/,- ")
    assert len(canonical.split(" ")) == 5

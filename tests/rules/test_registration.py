"""Tests of parse_registrations: valid registrations, refused ones, and which of several errors is reported."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import combinations
from typing import NamedTuple, TypeAlias

import pytest
from hypothesis import given, strategies as st

from kron.cron.schedule import Schedule
from kron.errors import (
    InvalidRegistrationError,
    KronError,
    NegativeRetryDelayError,
    RegistrationShapeError,
    RegistrationsNotArrayError,
    ScheduleDuplicateTaskError,
)
from kron.rules.due import Due, Occurrences
from kron.rules.registration import Registration, TaskSpec, parse_registrations

DAILY = "0 3 * * *"
FIVE_MINUTES = timedelta(minutes=5)
AT_THREE = Occurrences(Schedule(DAILY))


class UnreadableError(KronError):
    """What the reader of these tests raises."""


def read(cron: str, name: str) -> Due:
    """Read the one expression that these tests know."""
    if cron != DAILY:
        raise UnreadableError(f"{name}: {cron}")
    return AT_THREE


async def work() -> None: ...


def a(name: object = "backup", cron: object = DAILY, callback: object = work, delay: object = FIVE_MINUTES) -> object:
    return (name, cron, callback, delay)


def refusal(*registrations: object) -> KronError:
    """Return the error that the list is refused with."""
    with pytest.raises(KronError) as caught:
        parse_registrations(list(registrations), read)
    return caught.value


# --- the list ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("container", [list, tuple])
def test_a_list_or_a_tuple_of_registrations_becomes_tasks_in_their_order(
    container: Callable[[Sequence[object]], object],
) -> None:
    tasks = parse_registrations(container([a("one"), a("two", delay=timedelta())]), read)

    assert tasks == [
        TaskSpec("one", DAILY, work, FIVE_MINUTES, AT_THREE),
        TaskSpec("two", DAILY, work, timedelta(), AT_THREE),
    ]


def test_an_empty_list_is_no_tasks() -> None:
    assert parse_registrations([], read) == []


@pytest.mark.parametrize(
    "given",
    [None, "registrations", {"backup": a()}, {a()}, iter([a()]), (each for each in [a()]), 4, b"", a],
    ids=["None", "a text", "a dict", "a set", "an iterator", "a generator", "a number", "bytes", "a function"],
)
def test_anything_else_is_no_list(given: object) -> None:
    with pytest.raises(RegistrationsNotArrayError) as caught:
        parse_registrations(given, read)

    assert (caught.value.message, dict(caught.value.details)) == ("Registrations must be an array", {})


# --- the shape of an item ---------------------------------------------------------------------------------------------


class NamedByItsUser(NamedTuple):
    """A user's own named tuple of four."""

    title: str
    when: str
    what: object
    wait: timedelta


@pytest.mark.parametrize(
    "item",
    [
        ("backup", DAILY, work, FIVE_MINUTES),
        ["backup", DAILY, work, FIVE_MINUTES],
        Registration("backup", DAILY, work, FIVE_MINUTES),
        NamedByItsUser("backup", DAILY, work, FIVE_MINUTES),
    ],
    ids=["a tuple", "a list", "a Registration", "another named tuple"],
)
def test_an_item_is_a_tuple_or_list_of_four(item: object) -> None:
    assert parse_registrations([item], read) == [TaskSpec("backup", DAILY, work, FIVE_MINUTES, AT_THREE)]


@pytest.mark.parametrize(
    "item",
    [
        (),
        ("backup", DAILY, work),
        ("backup", DAILY, work, FIVE_MINUTES, 1),
        "four",
        None,
        {"name": "backup", "cron": DAILY, "callback": work, "delay": FIVE_MINUTES},
        iter(("backup", DAILY, work, FIVE_MINUTES)),
        a(name=None),
        a(name=b"backup"),
        a(name=7),
        a(cron=None),
        a(cron=b"0 3 * * *"),
        a(cron=AT_THREE),
        a(delay=None),
        a(delay=300),
        a(delay=300.0),
        a(delay=-1),
        a(delay=float("nan")),
        a(delay=float("inf")),
        a(delay="5m"),
    ],
    ids=lambda item: (
        type(item).__name__ if not isinstance(item, tuple) else str([type(part).__name__ for part in item])
    ),
)
def test_a_wrong_length_or_type_is_reported_with_its_place(item: object) -> None:
    error = refusal(a("first"), item)

    assert type(error) is RegistrationShapeError
    assert error.message == "Invalid registration shape: expected [string, string, function, Duration]"
    assert dict(error.details) == {"registrationIndex": 1, "received": item}


# --- names ------------------------------------------------------------------------------------------------------------


def test_an_empty_name_is_refused() -> None:
    error = refusal(a(name=""))

    assert type(error) is InvalidRegistrationError
    assert error.message == "Invalid registration: name must not be empty"
    assert dict(error.details) == {"field": "name", "value": "", "reason": "must not be empty"}


@pytest.mark.parametrize("name", ["\ud800", "back\udfffup", "\udcff" * 3], ids=ascii)
def test_a_name_with_a_lone_surrogate_is_refused_in_a_text_that_can_be_printed(name: str) -> None:
    error = refusal(a(name=name))

    assert type(error) is InvalidRegistrationError
    assert error.message == "Invalid registration: name must be a text that UTF-8 can hold"
    assert (error.details["field"], error.details["value"]) == ("name", ascii(name))
    assert isinstance(error.__cause__, UnicodeEncodeError)


@pytest.mark.parametrize(
    "name",
    [" ", "two\nlines\r\n", "nul\0", "\x1b[31mred", "x" * 10_000, "é", "𝒦" * 10_000, "\u202e"],
    ids=lambda name: ascii(name[:20]),
)
def test_any_other_name_is_kept_as_it_is(name: str) -> None:
    assert parse_registrations([a(name=name)], read)[0].name == name


@given(st.text(min_size=1))
def test_every_name_that_utf_8_can_hold_is_accepted(name: str) -> None:
    name = name.encode(errors="replace").decode()

    assert [task.name for task in parse_registrations([a(name=name)], read)] == [name]


def test_a_second_registration_of_a_name_is_refused() -> None:
    error = refusal(a("one"), a("two"), a("three"), a("two"), a("one"))

    assert type(error) is ScheduleDuplicateTaskError
    assert error.message == 'Task with name "two" is already scheduled'
    assert dict(error.details) == {"taskName": "two"}


def test_a_duplicate_is_named_in_one_short_line() -> None:
    name = "two\nlines" + "x" * 10_000

    error = refusal(a(name), a(name))

    assert error.details["taskName"] == name
    assert error.message.isprintable()
    assert len(error.message) < 300


def test_names_that_only_look_equal_are_different() -> None:
    names = ["é", "e\u0301", "E", "e", " e", "e "]

    assert [task.name for task in parse_registrations([a(name) for name in names], read)] == names


# --- delays -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delay", [timedelta(), timedelta(microseconds=1), timedelta(days=36500)], ids=str)
def test_any_delay_that_is_not_negative_is_kept_as_it_is(delay: timedelta) -> None:
    assert parse_registrations([a(delay=delay)], read)[0].retry_delay == delay


def test_of_a_delay_beyond_a_century_the_microseconds_are_dropped() -> None:
    [task] = parse_registrations([a(delay=timedelta.max)], read)

    assert task.retry_delay == timedelta.max - timedelta(microseconds=999)


@pytest.mark.parametrize(
    ("delay", "milliseconds"),
    [
        (timedelta(milliseconds=-1), -1),
        (timedelta(minutes=-5), -300_000),
        (timedelta(microseconds=-1), -1),  # whole milliseconds, and never reported as zero
        (timedelta.min, -86_399_999_913_600_000),
    ],
)
def test_a_negative_delay_is_refused(delay: timedelta, milliseconds: int) -> None:
    error = refusal(a(delay=delay))

    assert type(error) is NegativeRetryDelayError
    assert error.message == "Retry delay must be non-negative"
    assert dict(error.details) == {"retryDelayMs": milliseconds}


# --- which error wins -------------------------------------------------------------------------------------------------

# What is wrong with an item of a list that begins with a good "backup", in the order in which it is looked at.
Wrong: TypeAlias = tuple[str, dict[str, object], type[KronError]]
WRONG: list[Wrong] = [
    ("name type", {"name": 7}, RegistrationShapeError),
    ("name", {"name": ""}, InvalidRegistrationError),
    ("callback", {"callback": None}, RegistrationShapeError),
    ("duplicate", {"name": "backup"}, ScheduleDuplicateTaskError),
    ("cron type", {"cron": None}, RegistrationShapeError),
    ("cron", {"cron": "never"}, UnreadableError),
    ("delay type", {"delay": None}, RegistrationShapeError),
    ("delay", {"delay": timedelta(-1)}, NegativeRetryDelayError),
]


@pytest.mark.parametrize(("first", "second"), list(combinations(WRONG, 2)), ids=lambda row: row[0])
def test_of_two_errors_in_an_item_the_first_in_order_is_reported(first: Wrong, second: Wrong) -> None:
    error = refusal(a(), a(**{"name": "other", **second[1], **first[1]}))

    assert type(error) is first[2]


@pytest.mark.parametrize("first", WRONG, ids=lambda row: row[0])
@pytest.mark.parametrize("second", WRONG, ids=lambda row: row[0])
def test_of_two_wrong_items_the_first_is_reported(first: Wrong, second: Wrong) -> None:
    error = refusal(a(), a(**{"name": "one", **first[1]}), a(**{"name": "two", **second[1]}))

    assert type(error) is first[2]
    assert error.details.get("registrationIndex", 1) == 1


def test_a_missing_part_is_reported_before_anything_that_is_in_it() -> None:
    assert type(refusal(("", "never", None))) is RegistrationShapeError


def test_the_reader_is_asked_with_expression_and_name() -> None:
    assert refusal(a("x", "never")).message == "x: never"


def test_the_reader_is_not_asked_about_what_follows_an_error() -> None:
    asked: list[str] = []

    def note(cron: str, name: str) -> Due:
        asked.append(name)
        return read(cron, name)

    with pytest.raises(NegativeRetryDelayError):
        parse_registrations([a("one"), a("two", delay=timedelta(-1)), a("three")], note)

    assert asked == ["one", "two"]

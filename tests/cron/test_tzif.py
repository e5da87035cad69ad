"""Compiled zone files: a sound one is read, and a damaged one raises ValueError."""

from random import Random

import pytest
from hypothesis import example, given, settings, strategies as st

from kron.cron.tzif import RuleChange, TzifData, read_tzif
from kron.cron.zone import Zone
from tests.cron.iana import data, distinct_names
from tests.cron.moments import at

PARIS = data("Europe/Paris")
TOKYO = data("Asia/Tokyo")
HEADER_SIZE = 44


def read_or_refuse(damaged: bytes) -> TzifData | None:
    """Read what can be read; any other error than ValueError fails the test."""
    try:
        return read_tzif(damaged)
    except ValueError:
        return None


# --- sound files ------------------------------------------------------------------------------------------------------


def test_a_file_gives_its_offsets_its_changes_and_its_rule() -> None:
    # Tokyo: local mean time +09:18:59 until 1887, then +09:00, with summers in 1948 to 1951 and none since.
    tokyo = read_tzif(TOKYO)

    assert tokyo.first_offset == 9 * 3600 + 18 * 60 + 59
    assert tokyo.known[-1] == (int(at("1951-09-08 15:00:00Z").timestamp()), 9 * 3600)
    assert tokyo.yearly is None


def test_the_rule_for_later_years_is_read_from_the_footer() -> None:
    # CET-1CEST,M3.5.0,M10.5.0/3: the last Sundays of March at 02:00 and of October at 03:00, each on the clock before.
    assert read_tzif(PARIS).yearly == (RuleChange(3, 5, 0, 7200, 7200), RuleChange(10, 5, 0, 10800, 3600))


def test_the_rule_makes_two_changes_a_year() -> None:
    changes = read_tzif(PARIS).in_year(2057)

    assert changes == [
        (int(at("2057-03-25 01:00:00Z").timestamp()), 7200),
        (int(at("2057-10-28 01:00:00Z").timestamp()), 3600),
    ]


@pytest.mark.parametrize(
    ("footer", "standard", "summer"),
    [
        ("IST-1GMT0,M10.5.0,M3.5.0/1", 3600, 0),
        ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 37800, 39600),
        ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", -7200, -3600),
        ("EST5EDT,M3.2.0,M11.1.0", -18000, -14400),
        ("<+1245>-12:45<+1345>,M9.5.0/2:45,M4.1.0/3:45", 45900, 49500),
    ],
    ids=["negative summer time", "half an hour", "an evening before", "default hour", "quarter hours"],
)
def test_a_rule_in_any_of_its_forms_is_read(footer: str, standard: int, summer: int) -> None:
    yearly = read_tzif(with_footer(footer)).yearly

    assert yearly is not None
    assert (yearly[1].offset, yearly[0].offset) == (standard, summer)


def with_footer(footer: str) -> bytes:
    return PARIS[: PARIS.rindex(b"\n", 0, -1)] + b"\n" + footer.encode() + b"\n"


# --- damaged files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "damaged",
    [b"", b"TZif", b"TZif2", PARIS[: HEADER_SIZE - 1], b"GIF89a" + PARIS, PARIS[1:], bytes(1000), b"\xff" * 1000],
    ids=["nothing", "magic", "magic and version", "half a header", "a picture", "shifted", "zeros", "ones"],
)
def test_a_file_that_is_not_compiled_is_refused(damaged: bytes) -> None:
    with pytest.raises(ValueError):
        read_tzif(damaged)


@pytest.mark.parametrize("version", [b"\x00", b"1"])
def test_a_file_of_the_first_version_is_refused(version: bytes) -> None:
    with pytest.raises(ValueError):
        read_tzif(PARIS[:4] + version + PARIS[5:])


@pytest.mark.parametrize(
    "footer",
    [
        "",
        "nonsense",
        "CET-1CEST",
        "CET-1CEST,J60,J300",
        "CET-1CEST,M3.5.0",
        "CET-1CEST,M3.6.0,M10.5.0",
        "CÉT-1",
        "<CET-1",
    ],
    ids=ascii,
)
def test_a_footer_that_is_no_known_rule_is_refused(footer: str) -> None:
    with pytest.raises(ValueError):
        read_tzif(with_footer(footer))


@pytest.mark.parametrize("sound", [PARIS, TOKYO], ids=["with a rule", "without"])
def test_a_file_that_ends_too_early_is_refused_wherever_it_ends(sound: bytes) -> None:
    for length in range(len(sound)):
        read_or_refuse(sound[:length])


@settings(max_examples=300)
@given(st.binary(max_size=200))
@example(bytes(24))
def test_garbage_behind_the_magic_is_refused(garbage: bytes) -> None:
    read_or_refuse(b"TZif2" + bytes(15) + garbage)


def test_a_file_with_one_wrong_byte_is_read_or_refused() -> None:
    for position in range(len(TOKYO)):
        for wrong in (0, 1, 127, 255):
            read_or_refuse(TOKYO[:position] + bytes([wrong]) + TOKYO[position + 1 :])


@pytest.mark.slow
def test_any_file_with_a_few_wrong_bytes_is_read_or_refused() -> None:
    chance = Random(9636)
    for name in distinct_names():
        for _ in range(100):
            damaged = bytearray(data(name))
            for _ in range(chance.randint(1, 4)):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            read_or_refuse(bytes(damaged))


# --- sound in form, impossible in content -----------------------------------------------------------------------------


def change(month: int) -> RuleChange:
    return RuleChange(month, 5, 0, 7200, 7200)


@pytest.mark.parametrize(
    "transitions",
    [
        TzifData(0, (), (change(13), change(10))),
        TzifData(0, ((2**62, 3600),), None),
        TzifData(0, ((1000, 3600), (500, 0)), None),
        TzifData(0, ((1000, 90_000),), None),
    ],
    ids=["a thirteenth month", "a change behind the calendar", "changes in disorder", "clocks more than a day ahead"],
)
def test_a_zone_is_not_made_of_impossible_changes(transitions: TzifData) -> None:
    with pytest.raises(ValueError):
        Zone("Europe/Atlantis", transitions)

"""Zone names: the error of an unknown name, and names that are not allowed."""

import pytest
import tzdata

from kron.cron.zone import load_zone, tzdata_release
from kron.errors import InvalidDefinitionError, UnknownTimezoneError


def refusal(name: object) -> UnknownTimezoneError:
    with pytest.raises(UnknownTimezoneError) as caught:
        load_zone(name)  # type: ignore[arg-type]  # what an untyped caller may pass
    return caught.value


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("Europe/Pari", "Europe/Paris"),
        ("europe/paris", "Europe/Paris"),
        ("EUROPE/PARIS", "Europe/Paris"),
        ("Paris", "Europe/Paris"),
        ("New York", "America/New_York"),
        ("America/New York", "America/New_York"),
        ("Amerika/New_York", "America/New_York"),
        ("utc", "UTC"),
        ("Asia/Calcuta", "Asia/Calcutta"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_one(name: str, suggestion: str) -> None:
    error = refusal(name)

    assert f"did you mean {suggestion}" in str(error)


def test_a_name_like_no_other_is_refused_with_an_example() -> None:
    error = refusal("Middle-earth")

    assert error.details["suggestions"] == ()
    assert str(error) == "Unknown time zone 'Middle-earth'; use an IANA name such as Europe/Paris"


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        ".",
        "..",
        "../x",
        "../zones",
        "../../../../../../etc/localtime",
        "Europe/../Europe/Paris",
        "./Europe/Paris",
        "Europe//Paris",
        "Europe/Paris/",
        "/Europe/Paris",
        "/etc/localtime",
        "Europe",
        "America/Argentina",
        "Europe\\Paris",
        "Europe/Paris\x00",
        "Europe/Paris\n",
        " Europe/Paris",
        "Europe/Paris/Louvre",
        "tzdata.zi",
        "zone1970.tab",
        "__init__.py",
        "__pycache__",
        "Еurope/Paris",
        "\ud800",
    ],
    ids=lambda name: ascii(name)[:30],
)
def test_a_path_or_a_trick_is_an_unknown_name(name: str) -> None:
    assert len(str(refusal(name))) < 500


@pytest.mark.parametrize("name", ["A" * 100_000, "Europe/" * 10_000], ids=["one word", "a path"])
def test_a_name_that_is_far_too_long_is_refused_by_its_length(name: str) -> None:
    with pytest.raises(InvalidDefinitionError, match="at most 64 characters") as refused:
        load_zone(name)

    assert len(str(refused.value)) < 500


@pytest.mark.parametrize("name", [None, 5, b"UTC", 1.5, True, ["Europe/Paris"], {"zone": "UTC"}], ids=repr)
def test_a_name_that_is_not_a_string_is_unknown(name: object) -> None:
    refusal(name)


def test_a_file_of_the_database_that_is_no_zone_is_an_unknown_name() -> None:
    refusal("leapseconds")


def test_the_version_of_the_database_is_that_of_its_package() -> None:
    assert tzdata_release() == tzdata.IANA_VERSION

"""Tests of system_timezone: the IANA name of the host's zone."""

from pathlib import Path

import pytest

from kron.adapters.system_time import system_timezone
from kron.errors import InvalidDefinitionError


@pytest.fixture(autouse=True)
def without_tz(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host of a test run may set TZ."""
    monkeypatch.delenv("TZ", raising=False)


@pytest.mark.parametrize("text", ["Europe/Paris", ":Europe/Paris", "/usr/share/zoneinfo/Europe/Paris"])
def test_the_variable_wins(text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TZ", text)
    (tmp_path / "timezone").write_text("Asia/Tokyo\n")

    assert system_timezone(tmp_path) == "Europe/Paris"


def test_the_link_to_a_zones_file_names_it(tmp_path: Path) -> None:
    (tmp_path / "localtime").symlink_to("/usr/share/zoneinfo/America/New_York")

    assert system_timezone(tmp_path) == "America/New_York"


def test_a_file_names_it(tmp_path: Path) -> None:
    (tmp_path / "timezone").write_text("Asia/Tokyo\n")

    assert system_timezone(tmp_path) == "Asia/Tokyo"


def test_a_host_without_any_setting_is_in_utc(tmp_path: Path) -> None:
    assert system_timezone(tmp_path) == "UTC"


def test_a_fixed_offset_is_never_taken_for_a_zone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TZ", "<+03>-3")

    with pytest.raises(InvalidDefinitionError, match="TZ=<\\+03>-3"):
        system_timezone(tmp_path)


def test_the_zone_is_not_guessed_from_a_copy_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "localtime").write_bytes(b"TZif")

    with pytest.raises(InvalidDefinitionError, match="localtime"):
        system_timezone(tmp_path)

"""Zones are shared by all threads of a process, and can grow while they are read."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from kron.cron.tzif import read_tzif
from kron.cron.zone import Zone
from tests.cron.iana import data

YEARS = range(2150, 9950, 200)


@pytest.fixture
def eager_threads() -> Iterator[None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def summer_offsets(zone: Zone) -> list[timedelta]:
    return [zone.offset(datetime(year, 7, 1, tzinfo=UTC)) for year in YEARS]


@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize("name", ["Europe/Paris", "America/New_York", "Australia/Lord_Howe"])
def test_a_zone_that_many_threads_grow_at_once_stays_right(name: str) -> None:
    zone, alone = Zone(name, read_tzif(data(name))), Zone(name, read_tzif(data(name)))
    expected = summer_offsets(alone)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(summer_offsets, [zone] * 8))

    assert answers == [expected] * 8
    assert zone.table.starts == sorted(set(zone.table.starts))

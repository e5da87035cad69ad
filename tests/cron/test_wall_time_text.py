"""Tests of read_moment: instants as people write them."""

import pytest

from kron.cron.wall_time import read_moment
from kron.cron.zone import load_zone
from kron.errors import InvalidInstantError
from kron.instant import format_instant, parse_instant

BERLIN, NOW = load_zone("Europe/Berlin"), parse_instant("2026-03-01T23:30:00Z")  # it is Monday there already


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z"),
        ("2026-07-01 12:00", "2026-07-01T10:00:00Z"),
        ("2026-07-01T12:00:30", "2026-07-01T10:00:30Z"),
        ("12:00", "2026-03-02T11:00:00Z"),
    ],
    ids=["RFC 3339", "wall time", "wall time with seconds", "today"],
)
def test_a_moment_is_an_instant_or_a_wall_time_of_the_zone(text: str, instant: str) -> None:
    assert format_instant(read_moment(text, BERLIN, NOW)) == instant


@pytest.mark.parametrize("text", ["25:00", "2026-02-30 12:00", "tomorrow", ""])
def test_a_text_of_no_known_form_is_refused_with_all_forms(text: str) -> None:
    with pytest.raises(InvalidInstantError) as caught:
        read_moment(text, BERLIN, NOW)

    assert str(caught.value) == (
        f'Invalid instant "{text}"; write it as 2026-03-01T00:00:00Z or 2026-03-01T01:00:00+01:00, '
        'or by the clock of the zone as "2026-03-01 01:00" or 01:00'
    )

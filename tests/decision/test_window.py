"""Windows: whole seconds from a nominal time, with both ends included."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from kron import Timing, decide
from kron.decision.window import Window, WindowMode
from kron.errors import InvalidDefinitionError
from kron.instant import format_duration, parse_duration
from tests.decision.reference import window_bounds

noon = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("duration", "after", "around"),
    [
        ("0s", (0, 0), (0, 0)),
        ("1us", (0, 0), (-1, 0)),
        ("250ms", (0, 0), (-1, 0)),
        ("999999us", (0, 0), (-1, 0)),
        ("1s", (0, 1), (-1, 0)),
        ("1.5s", (0, 1), (-1, 0)),
        ("2s", (0, 2), (-1, 1)),
        ("2.000001s", (0, 2), (-2, 1)),
        ("3s", (0, 3), (-2, 1)),
        ("90m", (0, 5400), (-2700, 2700)),
        ("91m1s", (0, 5461), (-2731, 2730)),
        ("168h", (0, 604_800), (-302_400, 302_400)),
        ("2562047h", (0, 9_223_369_200), (-4_611_684_600, 4_611_684_600)),
    ],
)
def test_both_bounds_are_floored_to_whole_seconds(
    duration: str, after: tuple[int, int], around: tuple[int, int]
) -> None:
    bounds = [Window(mode, parse_duration(duration)).bounds for mode in (WindowMode.AFTER, WindowMode.AROUND)]

    assert bounds == [after, around]


@given(st.sampled_from(WindowMode), st.timedeltas(timedelta(), timedelta(days=400)))
def test_the_reference_has_the_same_bounds(mode: WindowMode, duration: timedelta) -> None:
    assert Window(mode, duration).bounds == window_bounds(mode.value, format_duration(duration))


@given(st.sampled_from(WindowMode), st.timedeltas(timedelta(), timedelta(days=400)))
def test_a_window_contains_its_nominal_time(mode: WindowMode, duration: timedelta) -> None:
    first, last = Window(mode, duration).bounds

    assert first <= 0 <= last


def test_a_decision_shows_the_bounds_as_instants() -> None:
    decision = decide(Timing.parse("0 12 * * * @win(around,91m)", identity="test/job"), noon)

    assert decision.window_start == noon - timedelta(minutes=45, seconds=30)
    assert decision.window_end == noon + timedelta(minutes=45, seconds=30)


def test_without_a_window_the_nominal_time_is_chosen() -> None:
    decision = decide(Timing.parse("0 12 * * *", identity="test/job"), noon)

    assert decision.window_start == decision.chosen_time == decision.window_end == noon


def test_a_duration_below_zero_is_refused() -> None:
    with pytest.raises(InvalidDefinitionError) as caught:
        Window(WindowMode.AFTER, timedelta(microseconds=-1))

    assert caught.value.field == "window"

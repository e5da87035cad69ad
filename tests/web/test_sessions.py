"""Tests of Sessions: bounded in number and in time."""

from kron.web.auth import Sessions


class Clock:
    """A monotonic clock that is moved by hand."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def test_a_session_ends_after_its_time_however_often_it_is_used() -> None:
    clock = Clock()
    sessions = Sessions(lasting=100, monotonic=clock)
    value = sessions.begin()

    clock.seconds += 99
    assert sessions.has(value)
    clock.seconds += 1
    assert not sessions.has(value)


def test_a_session_lasts_12_hours() -> None:
    clock = Clock()
    sessions = Sessions(monotonic=clock)
    value = sessions.begin()

    clock.seconds += 12 * 3600 - 1
    assert sessions.has(value)
    clock.seconds += 1
    assert not sessions.has(value)


def test_of_too_many_sessions_the_oldest_ends() -> None:
    sessions = Sessions()
    values = [sessions.begin() for _ in range(101)]

    assert [sessions.has(value) for value in values] == [False] + [True] * 100


def test_a_value_that_was_not_given_out_is_no_session() -> None:
    sessions = Sessions()
    value = sessions.begin()

    assert not any(sessions.has(wrong) for wrong in ("", value[:-1], f"{value}x", "\udcff", "x" * 10_000))
    assert not Sessions().has(value)

"""Tests of Agenda: the entry that is due next, against a plain model."""

from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from kron.cron.schedule import Schedule
from kron.engine.agenda import Agenda, TaskEntry
from kron.instant import Instant, parse_instant
from kron.rules.due import Occurrences
from kron.rules.task_record import TaskRecord

NOON = parse_instant("2026-03-02T12:00:00Z")
MINUTE = timedelta(minutes=1)
ALL = 1_000
HOURLY = Occurrences(Schedule("0 * * * *"))


async def work() -> None: ...


def entry(name: str = "report") -> TaskEntry:
    return TaskEntry(work, HOURLY, TaskRecord(name, "0 * * * *", MINUTE, NOON))


def names(entries: list[TaskEntry]) -> list[str]:
    return [each.record.name for each in entries]


def agenda(**at: Instant | None) -> tuple[Agenda[TaskEntry], dict[str, TaskEntry]]:
    """Return an agenda in which each name is to be looked at at an instant, put in this order."""
    made, entries = Agenda[TaskEntry](), {name: entry(name) for name in at}
    for name, instant in at.items():
        made.schedule(entries[name], instant)
    return made, entries


# --- put and take -----------------------------------------------------------------------------------------------------


def test_an_empty_agenda_has_nothing_next() -> None:
    assert Agenda().next_instant() is None
    assert Agenda().pop_due(NOON, ALL) == []


def test_an_entry_is_taken_when_its_instant_has_come_and_not_before() -> None:
    made, _ = agenda(report=NOON)

    assert made.pop_due(NOON - timedelta(microseconds=1), ALL) == []
    assert names(made.pop_due(NOON, ALL)) == ["report"]


def test_an_entry_is_taken_once() -> None:
    made, entries = agenda(report=NOON)

    made.pop_due(NOON, ALL)

    assert entries["report"].at is None
    assert made.pop_due(NOON + MINUTE, ALL) == []
    assert made.next_instant() is None


def test_the_earliest_is_next_and_is_taken_first() -> None:
    made, _ = agenda(late=NOON + 2 * MINUTE, early=NOON, middle=NOON + MINUTE)

    assert made.next_instant() == NOON
    assert names(made.pop_due(NOON + 2 * MINUTE, ALL)) == ["early", "middle", "late"]


def test_entries_of_one_instant_are_taken_in_the_order_in_which_they_were_put() -> None:
    made, _ = agenda(one=NOON, two=NOON, three=NOON)

    assert names(made.pop_due(NOON, ALL)) == ["one", "two", "three"]


def test_entries_that_are_not_taken_at_once_are_taken_next() -> None:
    made, _ = agenda(one=NOON, two=NOON, three=NOON + MINUTE, four=NOON + MINUTE)

    taken = [names(made.pop_due(NOON + MINUTE, 1)) for _ in range(5)]

    assert taken == [["one"], ["two"], ["three"], ["four"], []]


@pytest.mark.parametrize("most", [0, -1])
def test_without_room_nothing_is_taken_and_nothing_is_lost(most: int) -> None:
    made, _ = agenda(report=NOON)

    assert made.pop_due(NOON, most) == []
    assert made.next_instant() == NOON
    assert names(made.pop_due(NOON, ALL)) == ["report"]


# --- moving -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", [NOON + MINUTE, NOON - MINUTE], ids=["later", "earlier"])
def test_an_entry_that_moved_is_taken_at_its_new_place_only(to: Instant) -> None:
    made, entries = agenda(report=NOON)

    made.schedule(entries["report"], to)

    assert names(made.pop_due(min(NOON, to), ALL)) == (["report"] if to < NOON else [])
    assert names(made.pop_due(max(NOON, to), ALL)) == (["report"] if to > NOON else [])


def test_an_entry_that_goes_is_not_taken() -> None:
    made, entries = agenda(report=NOON)

    made.schedule(entries["report"], None)

    assert made.pop_due(NOON, ALL) == []


def test_an_entry_that_moved_away_and_back_is_taken_once() -> None:
    made, entries = agenda(report=NOON)
    made.schedule(entries["report"], NOON + MINUTE)

    made.schedule(entries["report"], NOON)

    assert names(made.pop_due(NOON + 2 * MINUTE, ALL)) == ["report"]


def test_an_entry_put_where_it_is_already_is_taken_once() -> None:
    made, entries = agenda(report=NOON)

    made.schedule(entries["report"], NOON)

    assert names(made.pop_due(NOON, ALL)) == ["report"]


def test_an_entry_that_moves_after_its_instant_has_come_is_taken_at_its_new_place_only() -> None:
    made, entries = agenda(one=NOON, two=NOON)
    made.pop_due(NOON, 1)

    made.schedule(entries["two"], NOON + MINUTE)

    assert made.pop_due(NOON, ALL) == []
    assert names(made.pop_due(NOON + MINUTE, ALL)) == ["two"]


def test_an_entry_that_was_taken_may_be_put_at_the_same_instant_again() -> None:
    made, entries = agenda(one=NOON, two=NOON)
    made.pop_due(NOON, 1)

    made.schedule(entries["one"], NOON)

    assert sorted(names(made.pop_due(NOON, ALL))) == ["one", "two"]
    assert made.pop_due(NOON, ALL) == []


# --- what is not due is not looked at ---------------------------------------------------------------------------------


class UnreadableEntry(TaskEntry):
    """An entry that must not be read after it is in its place."""

    armed = False

    def __getattribute__(self, name: str) -> object:
        assert not type(self).armed, "an entry that is not due was looked at"
        return super().__getattribute__(name)


def test_entries_that_are_not_due_are_never_looked_at() -> None:
    made, _ = agenda(report=NOON)
    for minutes in range(1, 100):
        made.schedule(UnreadableEntry(work, HOURLY, entry().record), NOON + minutes * MINUTE)

    UnreadableEntry.armed = True
    try:
        assert made.next_instant() == NOON
        assert names(made.pop_due(NOON, ALL)) == ["report"]
        assert made.next_instant() == NOON + MINUTE
    finally:
        UnreadableEntry.armed = False


# --- a clock that is set back -----------------------------------------------------------------------------------------


def test_entries_due_before_the_clock_was_set_back_are_not_lost() -> None:
    made, _ = agenda(one=NOON, two=NOON)
    made.pop_due(NOON, 1)

    taken = made.pop_due(NOON - 60 * MINUTE, ALL) + made.pop_due(NOON, ALL)

    assert names(taken) == ["two"]


def test_the_next_instant_is_the_earliest_even_if_a_later_one_has_come_already() -> None:
    made, _ = agenda(one=NOON, two=NOON)
    made.pop_due(NOON, 1)

    made.schedule(entry("earlier"), NOON - 55 * MINUTE)

    assert made.next_instant() == NOON - 55 * MINUTE


def test_the_earliest_is_taken_first_even_if_a_later_one_has_come_already() -> None:
    made, _ = agenda(one=NOON, two=NOON)
    made.pop_due(NOON, 1)

    made.schedule(entry("earlier"), NOON - 55 * MINUTE)

    assert names(made.pop_due(NOON, 1)) == ["earlier"]


# --- against a model --------------------------------------------------------------------------------------------------

minutes = st.integers(0, 8)
puts = st.tuples(st.just("put"), st.sampled_from("abcde"), st.none() | minutes)
takes = st.tuples(st.just("take"), st.integers(0, 3), st.integers(0, 3))  # minutes that pass, and how many at most


@given(st.lists(puts | takes, max_size=40))
def test_the_agenda_gives_the_same_as_a_sorted_list(actions: list[tuple[str, str | int, int | None]]) -> None:
    made, entries, model, now = Agenda[TaskEntry](), {name: entry(name) for name in "abcde"}, dict[str, Instant](), NOON
    for kind, which, number in actions:
        if kind == "put":
            at = None if number is None else now + number * MINUTE  # on a clock that is not set back
            made.schedule(entries[str(which)], at)
            model.pop(str(which), None)
            if at is not None:
                model[str(which)] = at
            continue
        now, most = now + int(which) * MINUTE, number or 0
        come = sorted(at for at in model.values() if at <= now)

        taken = made.pop_due(now, most)

        assert [model.pop(each.record.name) for each in taken] == come[:most]
        assert all(each.at is None for each in taken)

    assert {name: each.at for name, each in entries.items() if each.at is not None} == model


@given(st.lists(puts, max_size=20))
def test_the_next_instant_is_never_later_than_any_entry(actions: list[tuple[str, str, int | None]]) -> None:
    made, entries = Agenda[TaskEntry](), {name: entry(name) for name in "abcde"}
    for _, name, number in actions:
        made.schedule(entries[name], None if number is None else NOON + number * MINUTE)

    waiting = [each.at for each in entries.values() if each.at is not None]
    following = made.next_instant()

    assert not waiting or (following is not None and following <= min(waiting))

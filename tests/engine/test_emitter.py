"""Emitter: hands events to a sink, and lets nothing of the sink through to a run."""

from asyncio import CancelledError
from collections.abc import Callable
from functools import partial
from logging import ERROR

import pytest

from kron.engine.emitter import Emitter, Observers, log_crash
from kron.engine.ports import RunObserver
from kron.rules.events import DEBUG, INFO, WARNING, Event, make_event

STOPPED = make_event("SchedulerStopped")
SKIPPED = make_event("TaskSkipped", taskName="report", reason="unchanged")


class Broken:
    """A sink that takes note of what it is given, and raises."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
        self.told: list[str] = []

    def __call__(self, told: Event) -> None:
        self.told.append(told.name)
        raise self.error


class Picky:
    """A sink that wants some levels only."""

    def __init__(self, *levels: str) -> None:
        self.levels = levels
        self.told: list[str] = []

    def wants(self, level: str) -> bool:
        return level in self.levels

    def __call__(self, told: Event) -> None:
        self.told.append(told.name)


# --- handing over -----------------------------------------------------------------------------------------------------


def test_events_are_handed_over_in_their_order() -> None:
    told: list[Event] = []

    Emitter(told.append).emit(iter([STOPPED, SKIPPED, STOPPED]))

    assert told == [STOPPED, SKIPPED, STOPPED]


def test_an_event_is_made_and_handed_over() -> None:
    told: list[Event] = []

    Emitter(told.append).tell("TaskSkipped", taskName="report", reason="unchanged")

    assert [(each.name, dict(each.fields)) for each in told] == [(SKIPPED.name, dict(SKIPPED.fields))]


# --- what is wanted ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [DEBUG, INFO, WARNING])
def test_a_sink_that_does_not_say_wants_everything(level: str) -> None:
    assert Emitter(lambda _: None).wants(level)


def test_a_sink_is_asked_what_it_wants() -> None:
    emitter = Emitter(Picky(WARNING))

    assert [emitter.wants(level) for level in (DEBUG, INFO, WARNING)] == [False, False, True]


def test_an_event_that_nobody_wants_is_not_made() -> None:
    sink = Picky(INFO)

    Emitter(sink).tell("TaskSkipped", nonsense="would be a bug if it were made")

    assert sink.told == []


def test_an_event_of_a_level_that_is_wanted_is_told() -> None:
    sink = Picky(INFO)

    Emitter(sink).tell("SchedulerStopped")

    assert sink.told == ["SchedulerStopped"]


def test_a_sink_may_change_its_mind() -> None:
    sink = Picky()
    emitter = Emitter(sink)

    sink.levels = (INFO,)

    assert emitter.wants(INFO)


# --- a sink that raises -----------------------------------------------------------------------------------------------


def test_a_sink_that_raises_is_reported_once_to_logging(caplog: pytest.LogCaptureFixture) -> None:
    emitter = Emitter(Broken(ValueError("full")))

    emitter.emit([STOPPED, STOPPED])
    emitter.tell("SchedulerStopped")

    assert [(each.name, each.levelno) for each in caplog.records] == [("kron", ERROR)]
    assert caplog.records[0].exc_info is not None
    assert isinstance(caplog.records[0].exc_info[1], ValueError)


def test_a_sink_that_raises_is_given_the_other_events_all_the_same() -> None:
    sink = Broken(ValueError("full"))

    Emitter(sink).emit([STOPPED, SKIPPED])

    assert sink.told == ["SchedulerStopped", "TaskSkipped"]


def test_each_sink_has_its_own_report(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        Emitter(Broken(ValueError("full"))).emit([STOPPED])

    assert len(caplog.records) == 2


class Undecided(Picky):
    """A sink that fails when it is asked."""

    def wants(self, level: str) -> bool:
        raise RuntimeError(level)


def test_a_sink_that_fails_when_asked_wants_nothing_and_is_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    emitter = Emitter(Undecided())

    assert [emitter.wants(level) for level in (DEBUG, INFO, WARNING)] == [False, False, False]
    assert len(caplog.records) == 1


@pytest.mark.parametrize("error", [CancelledError(), GeneratorExit()], ids=repr)
def test_a_sink_that_raises_what_is_no_exception_disturbs_nobody_either(error: BaseException) -> None:
    Emitter(Broken(error)).emit([STOPPED])


def test_an_event_that_cannot_be_made_is_a_bug_and_not_the_fault_of_the_sink(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(AssertionError):
        Emitter(lambda _: None).tell("TaskSkipped", colour="red")

    assert caplog.records == []


# --- observers --------------------------------------------------------------------------------------------------------


class NotingObserver(RunObserver[str]):
    """An observer of some things, which may have a bug."""

    def __init__(self, said: list[object], error: BaseException | None = None) -> None:
        self.said, self.error = said, error

    def on_suspended(self, identity: str, *, suspended: bool) -> None:
        self.said.append((identity, suspended))
        if self.error is not None:
            raise self.error

    def on_append(self, seconds: float) -> None:
        self.said.append(seconds)


def test_each_observer_sees_what_was_committed_in_order() -> None:
    said: list[object] = []
    observers = Observers[str]([NotingObserver(said)])
    observers.add(NotingObserver(said))

    observers.report(RunObserver.on_suspended, "a", suspended=True)
    observers.report(RunObserver.on_append, 0.5)

    assert said == [("a", True), ("a", True), 0.5, 0.5]


def test_an_observer_inherits_what_does_not_concern_it() -> None:
    observers = Observers[str]([NotingObserver([])])

    observers.report(RunObserver.on_retry_dropped, "run")

    assert observers
    assert not Observers[str]([])


@pytest.mark.parametrize("error", [ValueError("a bug"), CancelledError()], ids=repr)
def test_an_observer_that_raises_keeps_nothing_from_the_others_and_is_reported_once(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    said: list[object] = []
    observers = Observers[str]([NotingObserver(said, error), NotingObserver(said)])

    for identity in "ab":
        observers.report(RunObserver.on_suspended, identity, suspended=False)

    assert said == [("a", False), ("a", False), ("b", False), ("b", False)]
    assert [each.name for each in caplog.records] == ["kron"]


def test_what_an_observer_raises_goes_to_whom_it_concerns() -> None:
    failed: list[BaseException] = []
    error = ValueError("a bug")

    Observers[str]([NotingObserver([], error)], failed=failed.append).report(
        RunObserver.on_suspended, "a", suspended=True
    )

    assert failed == [error]


def test_a_report_may_be_deferred() -> None:
    said: list[object] = []
    calls: list[Callable[[], object]] = []
    observers = Observers[str](
        [NotingObserver(said)], defer=lambda call, *arguments: calls.append(partial(call, *arguments))
    )

    observers.report(RunObserver.on_append, 0.5)
    before = [*said]
    for call in calls:
        call()

    assert (before, said) == ([], [0.5])


def test_a_loop_that_ended_by_a_bug_is_reported_with_its_trace(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("CRITICAL"):
        log_crash(ZeroDivisionError())

    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [ZeroDivisionError]

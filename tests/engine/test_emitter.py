"""Tests of Emitter: it hands events to a sink, and no exception of the sink reaches a run."""

from asyncio import CancelledError
from collections.abc import Callable
from functools import partial
from logging import ERROR

import pytest

from kron.engine.emitter import Emitter, Observers, log_crash
from kron.engine.ports import RunObserver
from kron.engine.runs import Run
from kron.rules.events import DEBUG, INFO, WARNING, Event, make_event

STOPPED = make_event("SchedulerStopped")
SKIPPED = make_event("TaskSkipped", taskName="report", reason="unchanged")


class BrokenSink:
    """A sink that takes note of what it is given, and raises."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
        self.names: list[str] = []

    def __call__(self, event: Event) -> None:
        self.names.append(event.name)
        raise self.error


class FilteringSink:
    """A sink that wants some levels only."""

    def __init__(self, *levels: str) -> None:
        self.levels = levels
        self.names: list[str] = []

    def wants(self, level: str) -> bool:
        return level in self.levels

    def __call__(self, event: Event) -> None:
        self.names.append(event.name)


# --- handing over -----------------------------------------------------------------------------------------------------


def test_events_are_handed_over_in_their_order() -> None:
    events: list[Event] = []

    Emitter(events.append).emit(iter([STOPPED, SKIPPED, STOPPED]))

    assert events == [STOPPED, SKIPPED, STOPPED]


def test_an_event_is_made_and_handed_over() -> None:
    events: list[Event] = []

    Emitter(events.append).tell("TaskSkipped", taskName="report", reason="unchanged")

    assert [(each.name, dict(each.fields)) for each in events] == [(SKIPPED.name, dict(SKIPPED.fields))]


# --- what is wanted ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [DEBUG, INFO, WARNING])
def test_a_sink_that_does_not_say_wants_everything(level: str) -> None:
    assert Emitter(lambda _: None).wants(level)


def test_a_sink_is_asked_what_it_wants() -> None:
    emitter = Emitter(FilteringSink(WARNING))

    assert [emitter.wants(level) for level in (DEBUG, INFO, WARNING)] == [False, False, True]


def test_an_unwanted_event_is_not_created() -> None:
    sink = FilteringSink(INFO)

    Emitter(sink).tell("TaskSkipped", nonsense="would be a bug if it were made")

    assert sink.names == []


def test_an_event_of_a_wanted_level_is_handed_over() -> None:
    sink = FilteringSink(INFO)

    Emitter(sink).tell("SchedulerStopped")

    assert sink.names == ["SchedulerStopped"]


def test_a_sink_may_change_its_mind() -> None:
    sink = FilteringSink()
    emitter = Emitter(sink)

    sink.levels = (INFO,)

    assert emitter.wants(INFO)


# --- a sink that raises -----------------------------------------------------------------------------------------------


def test_a_sink_that_raises_is_reported_once_to_logging(caplog: pytest.LogCaptureFixture) -> None:
    emitter = Emitter(BrokenSink(ValueError("full")))

    emitter.emit([STOPPED, STOPPED])
    emitter.tell("SchedulerStopped")

    assert [(each.name, each.levelno) for each in caplog.records] == [("kron", ERROR)]
    assert caplog.records[0].exc_info is not None
    assert isinstance(caplog.records[0].exc_info[1], ValueError)


def test_a_sink_that_raises_gets_the_other_events() -> None:
    sink = BrokenSink(ValueError("full"))

    Emitter(sink).emit([STOPPED, SKIPPED])

    assert sink.names == ["SchedulerStopped", "TaskSkipped"]


def test_each_sink_has_its_own_report(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        Emitter(BrokenSink(ValueError("full"))).emit([STOPPED])

    assert len(caplog.records) == 2


class FailingFilterSink(FilteringSink):
    """A sink that fails when it is asked."""

    def wants(self, level: str) -> bool:
        raise RuntimeError(level)


def test_a_sink_that_fails_when_asked_wants_nothing_and_is_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    emitter = Emitter(FailingFilterSink())

    assert [emitter.wants(level) for level in (DEBUG, INFO, WARNING)] == [False, False, False]
    assert len(caplog.records) == 1


@pytest.mark.parametrize("error", [CancelledError(), GeneratorExit()], ids=repr)
def test_a_sink_that_raises_a_base_exception_affects_no_run_either(error: BaseException) -> None:
    Emitter(BrokenSink(error)).emit([STOPPED])


def test_an_event_that_cannot_be_made_is_a_bug_and_not_the_fault_of_the_sink(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(AssertionError):
        Emitter(lambda _: None).tell("TaskSkipped", colour="red")

    assert caplog.records == []


# --- observers --------------------------------------------------------------------------------------------------------


class NotingObserver(RunObserver[Run]):
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
    observers = Observers[Run]([NotingObserver(said)])
    observers.add(NotingObserver(said))

    observers.report(RunObserver.on_suspended, "a", suspended=True)
    observers.report(RunObserver.on_append, 0.5)

    assert said == [("a", True), ("a", True), 0.5, 0.5]


def test_an_observer_inherits_what_does_not_concern_it() -> None:
    observers = Observers[Run]([NotingObserver([])])

    observers.report(RunObserver.on_retry_dropped, "run")

    assert observers
    assert not Observers[Run]([])


@pytest.mark.parametrize("error", [ValueError("a bug"), CancelledError()], ids=repr)
def test_an_observer_that_raises_keeps_nothing_from_the_others_and_is_reported_once(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    said: list[object] = []
    observers = Observers[Run]([NotingObserver(said, error), NotingObserver(said)])

    for identity in "ab":
        observers.report(RunObserver.on_suspended, identity, suspended=False)

    assert said == [("a", False), ("a", False), ("b", False), ("b", False)]
    assert [each.name for each in caplog.records] == ["kron"]


def test_an_exception_of_an_observer_goes_to_its_handler() -> None:
    failed: list[BaseException] = []
    error = ValueError("a bug")

    Observers[Run]([NotingObserver([], error)], failed=failed.append).report(
        RunObserver.on_suspended, "a", suspended=True
    )

    assert failed == [error]


def test_a_report_may_be_deferred() -> None:
    said: list[object] = []
    calls: list[Callable[[], object]] = []
    observers = Observers[Run](
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

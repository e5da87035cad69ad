"""Tests of Checker: on any trace it agrees with the formulas, position by position."""

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings, strategies as st

from kron.errors import InvalidTraceError
from kron.theory.alphabet import EVENTS
from kron.theory.checker import Checker
from kron.theory.formula import Letter, TruthValue
from kron.theory.properties import SUITES, Property, Scope
from kron.theory.property_monitor import response
from kron.theory.results import TraceReport
from kron.theory.trace_format import TraceEvent, TraceHeader, TracePosition
from tests.theory.semantics import Word, meaning, violated_at
from tests.theory.traces import finding, has_another_list, judge, trace, undecided, violated

BOUND = 60_000
NEVER_NOW = "0 0 1 6 *"  # no minute of these traces
TASKS = ("a", "b")

# --- against the definition -------------------------------------------------------------------------------------------


@st.composite
def traces(draw: st.DrawFn) -> list[TraceEvent]:
    """Draw any sequence of events that can be written down: calls return once, the rest comes as it likes."""
    positions: list[TraceEvent] = []
    inits: list[int] = []
    stops: list[int] = []
    t = calls = 0
    for kind in draw(
        st.lists(
            st.sampled_from(["RS", "REs", "REf", "Due", "RetryDue", "I", "IS", "IE", "S", "SS", "SE", "Crash"]),
            max_size=14,
        )
    ):
        t += draw(st.sampled_from([0, 1, 1_000, 40_000, 61_000]))
        if kind in ("RS", "REs", "REf", "Due", "RetryDue"):
            name = next(name for name, each in EVENTS.items() if each.atom == kind)
            positions.append(TraceEvent(t, name, {"task": draw(st.sampled_from(TASKS))}))
        elif kind in ("I", "IS"):
            calls += 1
            names = draw(st.sampled_from([("a",), ("a", "b"), ("b",), ()]))
            listed = [{"name": name, "cron": NEVER_NOW, "retryDelayMs": 1_000} for name in names]
            positions.append(TraceEvent(t, "InitStart", {"call": calls, "registrations": listed}))
            inits.append(calls)
            if kind == "I":
                positions.append(TraceEvent(t, "InitSuccess", {"call": inits.pop()}))
        elif kind == "IE" and inits:
            call = inits.pop(draw(st.integers(0, len(inits) - 1)))
            positions.append(TraceEvent(t, draw(st.sampled_from(["InitSuccess", "InitFailure"])), {"call": call}))
        elif kind in ("S", "SS"):
            calls += 1
            stops.append(calls)
            positions.append(TraceEvent(t, "StopStart", {"call": calls}))
            if kind == "S":
                positions.append(TraceEvent(t, "StopEnd", {"call": stops.pop()}))
        elif kind == "SE" and stops:
            positions.append(TraceEvent(t, "StopEnd", {"call": stops.pop(draw(st.integers(0, len(stops) - 1)))}))
        elif kind == "Crash":
            inits, stops = [], []
            positions.append(TraceEvent(t, "UnexpectedShutdown"))
    return positions


def letters_of(task: str, positions: list[TraceEvent]) -> Iterator[Letter]:
    """Yield what a task sees at each position, by definition."""
    was_listed = False
    for place, position in enumerate(positions):
        atom = EVENTS[position.kind].atom
        if position.kind == "InitSuccess":
            begun = next(k for k in range(place, -1, -1) if begins(positions[k], position.fields["call"]))
            names = [item["name"] for item in positions[begun].fields["registrations"]]  # type: ignore[attr-defined]
            overtaken = any(positions[k].kind == "StopStart" for k in range(begun, place))
            seen = {"IEs", *(["Listed"] if task in names else []), *(["Overtaken"] if overtaken else [])}
            if (
                task in names
                and not was_listed
                and any(is_due_in_minute(each, task, position.time_ms) for each in positions[:place])
            ):
                seen.add("Boot")
            was_listed = task in names
            yield frozenset(seen)
        elif "task" in position.fields:
            yield frozenset({atom} if position.fields["task"] == task else ())
        else:
            yield frozenset({atom})


def is_due_in_minute(position: TraceEvent, task: str, t: int) -> bool:
    return position.kind == "Due" and position.subject == task and position.time_ms >= t - t % 60_000


def begins(position: TraceEvent, call: object) -> bool:
    return position.kind == "InitStart" and position.fields["call"] == call


def check(positions: Sequence[TracePosition], contract: str) -> TraceReport:
    checker = Checker(TraceHeader(contract), adds_due=False, adds_retry_due=False)
    for position in positions:
        checker.read(position)
    return checker.report()


def judged(contract: str) -> list[Property]:
    return [each for each in SUITES[contract].properties if each.scope is Scope.TASK and not each.is_always_open]


@pytest.mark.slow
@settings(max_examples=120)
@given(traces())
def test_every_property_of_a_task_is_judged_as_its_formula_means(positions: list[TraceEvent]) -> None:
    report = check(positions, "declarative")

    for each in judged("declarative"):
        if response(each.formula) is not None and has_another_list(positions):
            continue  # with another list the time that it may take starts over, which a formula cannot say
        assert finding(report, each.name).verdict is by_definition(each, positions), each.name
        assert finding(report, each.name).line == first_violation(each, positions), each.name


def by_definition(each: Property, positions: list[TraceEvent]) -> TruthValue:
    verdicts = {meaning(each.formula, word_of(task, positions)) for task in (*TASKS, "unlisted")}
    order = (TruthValue.VIOLATED, TruthValue.UNDECIDED, TruthValue.HOLDS)
    return next(verdict for verdict in order if verdict in verdicts)


def first_violation(each: Property, positions: list[TraceEvent]) -> int | None:
    places = [violated_at(each.formula, word_of(task, positions)) for task in TASKS]
    return min((place for place in places if place is not None), default=None)


def word_of(task: str, positions: list[TraceEvent]) -> Word:
    return Word(list(letters_of(task, positions)), [position.time_ms for position in positions], BOUND)


# --- what the environment adds ----------------------------------------------------------------------------------------


def test_dues_are_added_from_cron_in_the_zone_of_the_trace() -> None:
    report = judge("I@0 RS@300 REs End@400", adds=True)

    assert report.verdict is TruthValue.HOLDS
    assert report.positions == 6  # one more than there are lines


def test_a_start_before_its_due_instant_is_a_violation() -> None:
    assert violated(judge("I@0 RS@299.999 REs End@400", adds=True)) == {"S1", "L1"}


def test_an_added_due_that_is_not_served_is_a_violation_at_the_next_line() -> None:
    report = judge("I@0 Freeze@100 Thaw@100 End@361", adds=True)

    assert violated(report) == {"L1"}
    assert finding(report, "L1").line == 4


def test_retries_are_added_from_failures_and_their_delay() -> None:
    assert judge("I@0 RS@300 REf@310 RS@610 REs End@700", adds=True).verdict is TruthValue.HOLDS
    assert violated(judge("I@0 RS@300 REf@310 RS@609.999 REs End@700", adds=True)) == {"S1"}


def test_a_start_in_between_cancels_the_retry() -> None:
    hours = "I@0 RS@300 REf@3899 RS@3900 REs@3901 End@4300"

    assert judge(hours, adds=True).verdict is TruthValue.HOLDS


def test_a_list_that_comes_inside_a_due_minute_is_owed_a_run() -> None:
    assert judge("I@330 RS@331 REs End@332", adds=True).verdict is TruthValue.HOLDS
    assert violated(judge("I@360 RS@361 REs", adds=True)) == {"S1"}


def test_a_delay_of_nothing_retries_at_once() -> None:
    checker = Checker(TraceHeader("declarative"))
    listed = [{"name": "a", "cron": "5 * * * *", "retryDelayMs": 0}]
    text = trace("RS@300 REf@301 RS@301 REs@302")
    for position in [
        TraceEvent(0, "InitStart", {"call": 1, "registrations": listed}),
        TraceEvent(0, "InitSuccess", {"call": 1}),
        *text,
    ]:
        checker.read(position)

    assert checker.report().verdict is TruthValue.HOLDS


def test_dues_come_also_while_nothing_is_active_and_count_once() -> None:
    assert judge("I@0 Crash@10 I@90000 RS@90001 REs End@90002", adds=True).verdict is TruthValue.HOLDS


def test_years_without_an_event_cost_nothing() -> None:
    report = judge("I@0 SS@1 SE@2 I@9000000000 RS@9000000001 REs", adds=True)

    assert report.verdict is TruthValue.HOLDS
    assert report.positions < 20


def test_a_task_removed_and_added_again_comes_for_the_first_time() -> None:
    text = "IS(R)@0 IEs SS SE IS()@10 IEs SS SE IS(R)@7000 IEs RS@7001"

    assert "S1" in violated(judge(text, adds=True))


# --- what cannot stand where it stands --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line"),
    [("IEs", 2), ("I IEs", 4), ("SE", 2), ("IS IS", 3), ("I Due Crash SE", 6), ("I End RS", 5), ("IS Crash IEs", 4)],
)
def test_an_event_out_of_place_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(InvalidTraceError) as caught:
        judge(text)

    assert caught.value.line == line


def test_an_end_without_a_start_is_the_fault_of_the_environment_not_an_error() -> None:
    assert violated(judge("I REf")) == {"S4"}


def test_an_empty_trace_is_sound() -> None:
    report = judge("")

    assert (report.verdict, undecided(report)) == (TruthValue.HOLDS, set())


def test_a_failure_that_was_reported_late_counts_from_when_it_happened() -> None:
    checker = Checker(TraceHeader("declarative"))
    listed = [{"name": "a", "cron": "5 * * * *", "retryDelayMs": 1_000}]
    for position in [
        TraceEvent(0, "InitStart", {"call": 1, "registrations": listed}),
        TraceEvent(0, "InitSuccess", {"call": 1}),
        TraceEvent(300_000, "RunStart", {"task": "a"}),
        TraceEvent(500_000, "RunFailure", {"task": "a", "ended": 302_000}),
        TraceEvent(500_001, "RunStart", {"task": "a"}),
        TraceEvent(500_002, "RunSuccess", {"task": "a"}),
    ]:
        checker.read(position)

    assert checker.report().verdict is TruthValue.HOLDS


def test_a_delay_longer_than_any_duration_makes_a_list_invalid() -> None:
    checker = Checker(TraceHeader("declarative"))
    listed = [{"name": "a", "cron": "5 * * * *", "retryDelayMs": 10**400}]

    checker.read(TraceEvent(0, "InitStart", {"call": 1, "registrations": listed}))
    checker.read(TraceEvent(1, "InitFailure", {"call": 1}))

    assert checker.report().verdict is TruthValue.HOLDS


# --- a trace that begins in the middle --------------------------------------------------------------------------------

HOURS_AGO = -10 * 3_600_000


@pytest.mark.parametrize(
    ("memory", "owed"),
    [
        ({}, True),
        ({"lastStart": -3_300_000}, False),
        ({"lastStart": -3_300_000, "interrupted": True}, True),
        ({"lastStart": -3_300_000, "retryAt": -1}, True),
        ({"first": -1}, False),
    ],
    ids=["missed", "served", "cut off", "retry", "new since"],
)
def test_the_record_of_the_ledger_decides_whether_a_run_is_owed_at_once(memory: dict[str, object], owed: bool) -> None:  # noqa: FBT001
    item = {"task": "a", "cron": "5 * * * *", "retryDelayMs": 0, "first": HOURS_AGO, **memory}
    checker = Checker(TraceHeader("declarative"))
    listed = [{"name": "a", "cron": "5 * * * *", "retryDelayMs": 0}]
    for position in [
        TraceEvent(0, "InitStart", {"call": 1, "registrations": listed}),
        TraceEvent(0, "InitSuccess", {"call": 1, "remembered": [item]}),
        TraceEvent(1, "RunStart", {"task": "a"}),
        TraceEvent(2, "RunSuccess", {"task": "a"}),
    ]:
        checker.read(position)

    assert ("S1" not in violated(checker.report())) is owed


def test_a_remembered_retry_comes_at_its_instant() -> None:
    item = {"task": "a", "cron": "5 * * * *", "retryDelayMs": 0, "first": HOURS_AGO, "lastStart": -1, "retryAt": 9_000}
    listed = [{"name": "a", "cron": "5 * * * *", "retryDelayMs": 0}]
    verdicts = []
    for start in (8_999, 9_000):
        checker = Checker(TraceHeader("declarative"))
        checker.read(TraceEvent(0, "InitStart", {"call": 1, "registrations": listed}))
        checker.read(TraceEvent(0, "InitSuccess", {"call": 1, "remembered": [item]}))
        checker.read(TraceEvent(start, "RunStart", {"task": "a"}))
        verdicts.append("S1" in violated(checker.report()))

    assert verdicts == [True, False]

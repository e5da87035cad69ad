"""Sets of events at one position: each subject sees one letter, and their order does not matter."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import assume, given, settings, strategies as st

from kron.cli.verify import verify_file
from kron.errors import InvalidTraceError
from kron.theory.alphabet import EVENTS
from kron.theory.formula import Letter, TruthValue
from kron.theory.properties import E1, E2, E3, SUITES, T4, Property
from kron.theory.property_monitor import response
from kron.theory.results import TraceReport
from kron.theory.trace_format import SimultaneousEvents, TraceEvent, TracePosition, events_of, simultaneous
from tests.theory.period_traces import judge_periods, judge_positions, period_trace
from tests.theory.semantics import Word, violated_at
from tests.theory.test_checker import BOUND, TASKS, begins, check, is_due_in_minute, judged, traces
from tests.theory.traces import finding, has_another_list, judge, trace, violated

OLD = Path(__file__).parent / "format_1"
_LISTS = ("InitSuccess", "InitFailure")


@st.composite
def sets(draw: st.DrawFn) -> list[TracePosition]:
    """Draw a trace some of whose events share positions; of lists that are accepted or refused one at most."""
    lines: list[TracePosition] = []
    together: list[TraceEvent] = []
    for event in draw(traces()):
        is_second_list = event.kind in _LISTS and any(each.kind in _LISTS for each in together)
        if together and (is_second_list or draw(st.booleans())):
            lines.append(simultaneous(each._replace(time_ms=together[-1].time_ms) for each in together))
            together = []
        together.append(event)
    return (
        [*lines, simultaneous(each._replace(time_ms=together[-1].time_ms) for each in together)] if together else lines
    )


def reported(lines: Sequence[TracePosition], contract: str = "declarative") -> TraceReport:
    """Return the report, unless merging has put the end of a call where it cannot stand."""
    try:
        return check(lines, contract)
    except InvalidTraceError:
        assume(False)  # noqa: FBT003  # it is hypothesis' way
        raise


def letters_of(task: str, lines: Sequence[TracePosition]) -> Iterator[Letter]:
    """Yield what a task sees at each position, by definition: the union of what each event shows it."""
    sets = [events_of(line) for line in lines]
    was_listed = False
    for place, events in enumerate(sets):
        seen: set[str] = set()
        for event in events:
            if event.fields.get("task", task) == task:
                seen.add(EVENTS[event.kind].atom)
            if event.kind == "InitSuccess":
                call = event.fields["call"]
                begun = next(k for k in range(place, -1, -1) if any(begins(each, call) for each in sets[k]))
                start = next(each for each in sets[begun] if begins(each, call))
                names = [item["name"] for item in start.fields["registrations"]]  # type: ignore[attr-defined]
                stopped = any(each.kind == "StopStart" for k in range(begun, place) for each in sets[k])
                earlier = [each for k in range(place + 1) for each in sets[k]]
                is_boot = any(is_due_in_minute(each, task, event.time_ms) for each in earlier)
                is_listed = task in names
                seen |= {"Listed"} if is_listed else set()
                seen |= {"Overtaken"} if stopped else set()
                seen |= {"Boot"} if is_listed and not was_listed and is_boot else set()
                was_listed = is_listed
        yield frozenset(seen)


def first_violation(each: Property, words: list[Word]) -> int | None:
    places = [violated_at(each.formula, word) for word in words]
    return min((place for place in places if place is not None), default=None)


@pytest.mark.slow
@settings(max_examples=120)
@given(sets())
def test_every_property_of_a_task_is_judged_by_the_union_of_what_happens_at_once(lines: list[TracePosition]) -> None:
    report = reported(lines)

    times = [line.time_ms for line in lines]
    words = [Word(list(letters_of(task, lines)), times, BOUND) for task in TASKS]
    for each in judged("declarative"):
        if response(each.formula) is not None and has_another_list(
            [event for line in lines for event in events_of(line)]
        ):
            continue  # with another list the time that it may take starts over, which a formula cannot say
        assert finding(report, each.name).line == first_violation(each, words), each.name


@pytest.mark.slow
@settings(max_examples=60)
@given(sets(), st.randoms())
def test_the_order_in_which_a_set_is_written_means_nothing(lines: list[TracePosition], chance: Random) -> None:
    shuffled = [simultaneous(chance.sample(events, len(events))) for events in map(events_of, lines)]

    for contract in SUITES:
        assert reported(lines, contract) == reported(shuffled, contract)


@pytest.mark.slow
@settings(max_examples=80)
@given(
    st.lists(st.sets(st.sampled_from(["RS", "REs", "SS", "Crash", "Freeze", "Thaw", "Due"]), min_size=1), max_size=8)
)
def test_every_property_of_the_world_is_judged_by_the_union_of_what_happens_at_once(atoms: list[set[str]]) -> None:
    text = " ".join(
        "&".join(f"SS#{place}" if atom == "SS" else atom for atom in each) for place, each in enumerate(atoms)
    )

    report = judge(text)

    letters: list[Letter] = []
    for each in atoms:
        actions = len(each & {"RS", "REs", "SS"})
        more = ["Action"] * (actions > 0) + ["TwoActions"] * (actions > 1)
        letters.append(frozenset([*each, *more]))
    for each_property in (E1, E2, E3, T4):
        name, formula = each_property.name, each_property.formula
        assert finding(report, name).line == violated_at(formula, Word(letters)), name


# --- a set is one position --------------------------------------------------------------------------------------------


def test_a_start_is_not_owed_by_what_falls_due_with_it() -> None:
    assert "S1" in violated(judge("I RS&Due"))
    assert "S1" not in violated(judge("I Due RS"))


def test_a_start_and_its_end_at_once_leave_nothing_running() -> None:
    assert violated(judge("I Due RS&REs SS SE")) == {"E3", "S4"}  # an end needs a run that was in flight before
    assert violated(judge("I Due RS&REs Due RS REs")) == {"E3", "S4"}


def test_a_call_that_begins_with_a_crash_owes_nothing() -> None:
    assert violated(judge("IS&Crash@0 Due@600")) == {"E1", "T4"}
    assert violated(judge("I SS&Crash@0 Due@600")) == {"E1", "T4"}


def test_a_stop_that_returns_with_the_last_end_waited_for_it() -> None:
    assert violated(judge("I Due RS SS SE&REs")) == {"E3"}


def test_a_task_that_first_comes_in_a_set_sees_all_of_it() -> None:
    assert "T1" in violated(judge("I Crash&RS(z)"))
    assert {"E3", "S1", "T1"} <= violated(judge("I Crash IS#2&RS(z)"))


def test_a_period_that_first_comes_in_a_set_sees_all_of_it() -> None:
    assert violated(judge_periods("I RS1&Crash")) == {"T1"}
    assert violated(judge_periods("I Suspended&RS1")) == {"I6"}
    assert violated(judge_periods("I Suspended Resumed&RS1 REs1")) == set()
    assert violated(judge_periods("I SS b:RS1&SE")) == {"S3", "T3"}


def test_a_decision_counts_for_an_action_at_the_same_position() -> None:
    assert violated(judge_periods("RS1&D1(-)&O1(executed)@90")) == {"I7"}
    assert violated(judge_periods("RS1&D1&O1(missed)@90")) == {"I5"}


def test_a_set_counts_as_one_position() -> None:
    report = judge("I Due&Due(b) RS REs")

    assert report.positions == 5


def test_an_event_out_of_place_in_a_set_is_refused_with_its_line() -> None:
    with pytest.raises(InvalidTraceError) as caught:
        judge("I Due&SE")
    with pytest.raises(InvalidTraceError) as after_the_end:
        judge("I Thaw&End RS")

    assert (caught.value.line, after_the_end.value.line) == (4, 5)


def test_of_a_closed_end_in_a_set_all_that_happens_with_it_is_known() -> None:
    assert judge("I Due RS REs&End(closed)").verdict is TruthValue.HOLDS
    assert violated(judge("I Due RS&End(closed)")) == {"A2"}


def test_a_position_says_its_instant_whatever_it_holds() -> None:
    assert [line.time_ms for line in trace("Due&Thaw@7 Due@8")] == [7_000, 8_000]
    assert isinstance(trace("Due&Thaw")[0], SimultaneousEvents)


# --- the version before -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("contract", ["declarative", "kron"])
def test_a_trace_of_version_1_is_judged_as_before(contract: str) -> None:
    header, report, recomputed = verify_file(OLD / f"{contract}.jsonl", recompute=True)

    assert (header.version, header.contract) == (1, contract)
    assert report.verdict is TruthValue.HOLDS
    assert recomputed is not None
    assert recomputed.found == 0
    assert sum(recomputed.compared.values()) > 0


@pytest.mark.parametrize("contract", ["declarative", "kron"])
def test_a_violation_in_a_trace_of_version_1_is_seen(contract: str, tmp_path: Path) -> None:
    lines = (OLD / f"{contract}.jsonl").read_text().splitlines()
    place = next(number for number, line in enumerate(lines) if '"RunStart"' in line)
    path = tmp_path / "trace.jsonl"
    path.write_text("\n".join([*lines[: place + 1], *lines[place:]]) + "\n")

    _, report, _ = verify_file(path)

    assert violated(report) == ({"S1", "T2"} if contract == "declarative" else {"I2"})


def test_one_by_one_the_same_events_are_judged_alike_where_order_says_nothing() -> None:
    together = period_trace("I D1(;forbid,retries=0)&O1(executed;accepted=90)&RS1@90 REs1 SS SE")
    apart = [event for line in together for event in events_of(line)]

    assert judge_positions(together).verdict is judge_positions(apart).verdict is TruthValue.HOLDS

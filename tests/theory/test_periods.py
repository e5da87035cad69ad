"""Periods: the invariants, each with the shortest trace that violates it and with sound neighbours."""

from collections.abc import Sequence

import pytest

from kron.errors import InvalidTraceError
from kron.theory.alphabet import Owner
from kron.theory.checker import Checker
from kron.theory.formula import TruthValue
from kron.theory.properties import KRON, SUITES, Scope
from kron.theory.trace_format import TraceEvent, TraceHeader, TracePosition, read_trace, write_event, write_header
from tests.theory.period_traces import decision, judge_periods, judge_positions, minute, period_trace
from tests.theory.traces import finding, violated

VIOLATIONS = [  # property, trace, the line at which it is violated
    ("I1", "D1(59)", 0),
    ("I1", "D1(3661)", 0),
    ("I1", "D1 D2(119/v2)", 1),
    ("I2", "RS1 RS1", 1),
    ("I2", "RS1 REf1 RS1", 2),
    ("I2", "RS1(1) REf1 RS1(2) REs1 RS1(1)", 4),
    ("I2", "RS1 Crash I RS1", 4),
    ("I2", "RS1(0) RS1(1)", 1),
    ("I2", "D1 I@300 RS1 RS1", 4),
    ("I2", "RS1 RS2 b:RS1 RS1", 3),
    ("I3", "D1 D1(91)", 1),
    ("I3", "D1 D1(-)", 1),
    ("I3", "D1 D1(91/v2) D1(91/v1)", 2),
    ("I4", "D1 D2 I@300 RS1 RS2", 5),
    ("I4", "I@300 D1 D2 RS1 RS2", 5),
    ("I4", "D1 D2 Suspended Resumed@300 RS2 RS1", 5),
    ("I4", "I D1 D2 SS SE I@300 RS1 RS2", 9),
    ("I5", "RS1 O1(missed)", 1),
    ("I5", "RS1 REs1 O1(skipped)", 2),
    ("I7", "D1(-) O1(missed)", 1),
    ("I4", "D1 D2 D3 I@300 RS3 I RS2", 8),  # one for each arming would be a replay by crash loop
    ("I4", "D1 D2 D9 I@300 RS1 RS9@600 RS2", 7),
    ("I5", "O1(missed) O1(missed)", 1),
    ("I5", "O1(executed) O1(skipped)", 1),
    ("I5", "O1(skipped) RS1", 1),
    ("I5", "O1(missed) RS1", 1),
    ("I5", "O1(unschedulable) RS1", 1),
    ("I5", "O1(missed) Crash I RS1(2)", 4),
    ("I6", "Suspended RS1", 1),
    ("I6", "Suspended O1(missed)", 1),
    ("I6", "D1 D2 Suspended O1(skipped)", 3),
    ("I6", "RS1 REs1 Suspended Crash I RS2", 6),
    ("I6", "Resumed Suspended b:Resumed RS1", 3),
    ("I7", "D1(-) RS1", 1),
    ("I7", "D1(-) O1(executed)", 1),
    ("I7", "D1 D1(-/v2) RS1", 2),
    ("I7", "D1 O1(unschedulable)", 1),
    ("I7", "D1(-) D1(90/v2) O1(unschedulable)", 2),
    ("I8", "D1 RS1@89.999", 1),
    ("I8", "D1 O1(executed)&RS1@89", 1),
    ("I8", "D1&O1(executed)&RS1@30", 0),
    ("I8", "D1 RS1@90 REf1 D1(300/v2) RS1(2)", 4),  # the decision in force is the latest
    ("I9", "D1(;deadline=10) O1(executed;accepted=101)@101", 1),
    ("I9", "D1(;deadline=10)&O1(executed;accepted=101)&RS1@101", 0),
    ("I9", "D1(;deadline=0) O1(executed;accepted=91)@91", 1),
    ("I9", "D1(;deadline=10) O1(executed;accepted=101,slack=0) RS1@101", 1),
    ("I9", "D1(;deadline=60) D1(/v2;deadline=10) O1(executed;accepted=101)", 2),
    ("I10", "D1(;forbid) D2(;forbid) RS1@90 RS2@150", 3),
    ("I10", "D1(;allow) D2(;forbid) RS1@90 RS2@150", 3),  # the later one was judged while the earlier one ran
    ("I10", "D1(;forbid) D2(;forbid) RS1@90 REf1 RS2@150 RS1(2)", 5),
    ("I10", "D1(;forbid) D2(;forbid) RS1&RS2@150", 2),
    ("I11", "RS1 REs1 RS1(2) REs1", 3),
    ("I11", "RS1 REf1 RS1(2) REs1 RS2 REs2 RS1(3) REs1", 7),
    ("I12", "D1(;retries=0) RS1@90 REf1 RS1(2)", 3),
    ("I12", "D1(;retries=1) RS1@90 REf1 RS1(2) REf1 RS1(3)", 5),
    ("I12", "D1(;retries=1) RS1@90 REf1 RS1(2) REf1 RS1(2)", 5),  # whatever its number is
    ("I12", "D1(;retries=3) RS1@90 REf1 RS1(2;retries=0)", 3),  # edited between the attempts
    ("S3", "I RS1 SS SE", 4),
    ("S3", "I RS1 RS2 REs1 SS SE", 6),
    ("S4", "I RS1 REs2", 3),
    ("S4", "I RS1 Crash I REs1", 6),
    ("S4", "I RS1 REs", 3),
    ("T1", "I Crash RS1", 3),
    ("T1", "I RS1 Crash RS1(2)", 4),
    ("T3", "I SS SE RS1", 4),
    ("T3", "I D1 SS SE b:RS1", 5),
]
SOUND = [
    "I D1 RS1@90 REs1 O1(executed)",
    "I D1 O1(executed)@90 RS1 REs1 D2 O2(executed)@150 RS2 REf2 SS SE",
    "I D1(60) D2(3720)",  # both ends of a window belong to it
    "I D1 D2 RS1@90 RS2@150 REs1 REf2",  # runs of one job overlap
    "I RS1 RS2 RS3 REs2 REs3 REs1 SS SE",
    "I RS1 REf1 RS1(2) REf1 RS1(3) REs1",  # attempts of one execution
    "I RS1(1) REf1 O1(executed) RS1(2) REs1(2)",
    "I D1(300) D2(200) D3(250) RS2@200 RS3@250 RS1@300",  # windows overlap, so that chosen times are out of order
    "I D1 D1 Crash I D1",
    "I D1 D1(91/v2) D1(91/v2)",  # another definition decides again
    "I D1(-) D1(90/v2) RS1@90",
    "I D1 D2 I@300 RS1 RS2",  # a reload is no downtime
    "D1 D2 Resumed@300 RS2 RS1",  # nor is a resumption of what was not suspended
    "I D1(-) O1(skipped)",  # its definition changed
    "I D1 D1(-/v2) O1(unschedulable)",
    "O1(unschedulable)",  # its decision may be older than the trace
    "I D1 D2 D3 Suspended@10 Resumed@300 RS3 O2(skipped) O1(missed)",  # one stale period
    "D1 D2 D9 I@300 RS2 O1(missed) RS9@570",
    "I D1 D2 RS1@90 RS2@150 Crash I@200",  # what ran in time is not stale
    "D1 b:D1 I@300 RS1 b:RS1",  # one for each job
    "D1 I@300 RS1 D6 I@600 RS6",  # one for each arming, chosen after the one before
    "D1 D1(400/v2) D2 I@300 RS2 RS1@400",  # the latest decision counts
    "D1(300) D2 I@300 RS1 RS2",  # chosen as it was armed is not before it
    "D1 D2(300) I@300 RS1 I@400 RS2",
    "I D1 RS1@90 Suspended REf1 RS1(2) REs1 Resumed O1(executed)",  # an execution goes on
    "I Suspended b:RS1 b:REs1 b:O1(executed) Resumed",
    "I RS1 REs1 O1(executed) SS SE I RS2 REs2 End",
    "I RS REs RS REs RS REf",  # runs without a period execute no period
    "I O1(missed) RS REs",
    "I D1&O1(executed)&RS1@90 REs1",  # what a step says and does is one position
    "I D1&O1(missed)@90 D2(-)&O2(unschedulable)",
    "D1 RS1@90",
    "D1(;deadline=10) O1(executed;accepted=100.999) RS1@101",  # whole seconds: a busy millisecond is not late
    "D1(;deadline=10)&O1(executed;accepted=99)&RS1@5000",  # it waited for a slot, a replaced run or the disk
    "D1(;deadline=10) O1(executed;accepted=400,slack=300) RS1@400",  # the slack in force when it was judged
    "D1(;deadline=10) O1(missed;accepted=400)",
    "D1(/v1;deadline=10) D1(/v2;deadline=600) O1(executed;accepted=400) RS1@400",
    "O1(executed;accepted=400)",  # its decision may be older than the trace
    "D1(;forbid) D2(;forbid) RS1@90 REs1 RS2@150",
    "D1(;allow) D2(;allow) RS1@90 RS2@150",
    "D1(;forbid) D2(;allow) RS1@90 RS2@150",  # edited while the first one ran
    "D1(;replace) D2(;replace) RS1@90 RS2@150",
    "D1(;forbid) D2(;allow) RS1@90 REf1 RS2@150 RS1(2)",
    "I D1(;forbid) D2(;forbid) RS1@90 Crash I RS2@150",  # how the first one ended is unknown
    "D1(;forbid) b:D1(;forbid) RS1@90 b:RS1",
    "D1(;forbid) RS RS1@90 RS REs",  # a triggered run belongs to no period
    "D1(;forbid,retries=1) RS1@90 REf1 RS1(2) REs1",
    "I RS1 REf1 RS1(2) Crash I RS1(3) REs1",
    "D1(;retries=2) RS1@90 REf1 RS1(2) REf1 RS1(3) REf1",
    "D1(;retries=0) RS1@90 REf1 RS1(2;retries=1) REs1",  # edited between the attempts
    "RS1(7) REs1",
]


@pytest.mark.parametrize(("name", "text", "line"), VIOLATIONS, ids=[f"{name}: {text}" for name, text, _ in VIOLATIONS])
def test_the_shortest_trace_that_violates_it_is_caught_where_it_does(name: str, text: str, line: int) -> None:
    report = judge_periods(text)

    assert violated(report) == {name}
    assert finding(report, name).line == line
    assert report.verdict is TruthValue.VIOLATED


@pytest.mark.parametrize("text", SOUND)
def test_a_sound_trace_holds(text: str) -> None:
    report = judge_periods(text)

    assert violated(report) == set()
    assert report.verdict is TruthValue.HOLDS


# --- what is a period, what is a decision -----------------------------------------------------------------------------


def test_one_nominal_instant_is_one_period_in_any_zone() -> None:
    starts = [{"task": "a", "period": text} for text in ("1970-01-01T00:01:00Z", "1970-01-01T01:01:00+01:00")]

    assert violated(judge_positions([TraceEvent(0, "RunStart", fields) for fields in starts])) == {"I2"}


@pytest.mark.parametrize("chosen", ["1970-01-01T00:01:30Z", "1970-01-01T02:01:30.000+02:00", 90_000])
def test_a_time_is_a_text_or_milliseconds(chosen: object) -> None:
    positions = [TraceEvent(0, "Decision", decision(1, said)) for said in (minute(1, 30), chosen)]

    assert judge_positions(positions).verdict is TruthValue.HOLDS


def test_a_time_may_lie_between_two_milliseconds() -> None:
    late = {**decision(1, "1970-01-01T00:01:00.0001Z"), "windowEnd": minute(1)}

    assert violated(judge_positions([TraceEvent(0, "Decision", late)])) == {"I1"}


@pytest.mark.parametrize(
    "other", [{"seedHash": "0"}, {"windowStart": minute(0)}, {"windowEnd": minute(90)}, {"chosen": minute(2)}]
)
def test_decisions_of_one_definition_agree_in_all_they_say(other: dict[str, object]) -> None:
    first = decision(1, minute(1, 30))

    report = judge_positions([TraceEvent(0, "Decision", first), TraceEvent(0, "Decision", {**first, **other})])

    assert violated(report) == {"I3"}


def test_only_the_latest_definitions_of_a_period_are_held_against_it() -> None:
    others = " ".join(f"D1(90/w{number})" for number in range(8))

    assert violated(judge_periods(f"D1(90/v1) {others} D1(91/w0)")) == {"I3"}
    assert violated(judge_periods(f"D1(90/v1) {others} D1(91/v1)")) == set()


def test_a_period_yet_to_come_has_seen_what_its_job_has_seen() -> None:
    assert violated(judge_periods("RS1 Suspended I RS7")) == {"I6"}
    assert violated(judge_periods("I RS1 REs1 Crash RS7")) == {"T1"}
    assert violated(judge_periods("I SS SE b:RS7")) == {"T3"}


# --- what cannot be read ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "field", "value"),
    [
        ("Decision", "windowStart", "noon"),
        ("Decision", "windowEnd", None),
        ("Decision", "chosen", 1.5),
        ("Decision", "chosen", True),
        ("Decision", "chosen", ["1970-01-01T00:00:00Z"]),
        ("Decision", "seedHash", 7),
        ("Decision", "definition", {}),
        ("Decision", "period", "monday"),
        ("Outcome", "period", "1970-01-01T00:00:00"),
        ("Outcome", "outcome", "lost"),
        ("Outcome", "outcome", []),
        ("RunStart", "period", "1"),
    ],
)
def test_a_field_that_says_nothing_is_refused_with_its_line(event: str, field: str, value: object) -> None:
    fields: dict[str, dict[str, object]] = {
        "Decision": decision(1, None),
        "Outcome": {"identity": "a", "period": minute(1), "outcome": "missed"},
        "RunStart": {"task": "a", "period": minute(1)},
    }
    positions = [*period_trace("I D2"), TraceEvent(9, event, {**fields[event], field: value})]

    with pytest.raises(InvalidTraceError) as caught:
        judge_lines(positions)

    assert (caught.value.line, caught.value.field) == (5, field)


def judge_lines(positions: Sequence[TracePosition]) -> None:
    header, read = read_trace(
        [write_header(TraceHeader("kron")), *(write_event(position) for position in positions)], SUITES
    )
    checker = Checker(header)
    for position in read:
        checker.read(position)


# --- the report -------------------------------------------------------------------------------------------------------


def test_the_report_lists_the_invariants_and_what_is_asked_of_runs() -> None:
    properties = judge_periods("I D1 RS1 REs1").to_fields()["properties"]

    assert isinstance(properties, list)
    names = "I1 I2 I3 I4 I5 I6 I7 I8 I9 I10 I11 I12 S3 S4 T1 T3"
    assert " ".join(each["name"] for each in properties) == names
    assert {each.scope for each in KRON} == {Scope.PERIOD}


def test_a_violation_names_its_period_whose_fault_it_is_and_what_led_to_it() -> None:
    found = finding(judge_periods("I D1 RS1@90 REs1 b:RS1 RS1"), "I2")

    assert (found.instance, found.blame) == (f"a {minute(1)}", Owner.SCHEDULER)
    assert found.lines == (1, 2, 3, 4, 6)


def test_a_replay_names_the_start_before_it() -> None:
    found = finding(judge_periods("D1 D2 I@300 RS1 RS2"), "I4")

    assert found.lines == (1, 3, 4, 5)
    assert "RunStart of another at 4" in found.explanation


def test_nothing_falls_due_by_a_list_of_this_contract() -> None:
    listed = [{"name": "a", "cron": "* * * * *", "retryDelayMs": 0}]
    positions = [
        TraceEvent(0, "InitStart", {"call": 1, "registrations": listed}),
        TraceEvent(0, "InitSuccess", {"call": 1}),
        TraceEvent(0, "RunStart", {"task": "a", "period": minute(0)}),
        TraceEvent(9, "RunFailure", {"task": "a", "period": minute(0)}),
        TraceEvent(10**9, "End", {"closed": True}),
    ]

    report = judge_positions(positions)

    assert (report.verdict, report.positions) == (TruthValue.HOLDS, len(positions))

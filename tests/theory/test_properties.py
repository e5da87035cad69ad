"""Properties: each with the shortest trace that violates it and the shortest that does not."""

import pytest

from kron.theory.alphabet import Owner
from kron.theory.formula import Always, Formula, Previous, Since, TruthValue
from kron.theory.properties import ACTION, CRASH, DECLARATIVE, FREEZE, FROZEN, POLLING, THAW, hold
from kron.theory.trace_format import ResponseBounds
from tests.theory.repairs import word
from tests.theory.semantics import meaning
from tests.theory.traces import finding, judge, undecided, violated

SCHEDULER, ENVIRONMENT = Owner.SCHEDULER, Owner.ENVIRONMENT

VIOLATIONS = [  # property, trace, the line at which it is violated
    ("E1", "I Due RS&Crash", 3),
    ("E1", "IS&Crash", 0),
    ("E2", "I Freeze Due RS Thaw", 4),
    ("E3", "I Due RS&SS", 3),
    ("E3", "I Due Due(b) RS(a)&RS(b)", 4),
    ("E3", "I RS&Due", 2),
    ("E3", "I RS&RetryDue(b)", 2),
    ("E6", "I Due RS Crash REs", 5),
    ("S1", "I RS", 2),
    ("S1", "I Due SS RS", 4),
    ("S1", "RS", 0),
    ("S1", "I Due RS REs RS", 5),
    ("S1", "I Due(b) RS(b)", 3),
    ("S2", "I Due RS REs RS REs", 6),
    ("S3", "I Due RS SS SE", 5),
    ("S4", "I REs", 2),
    ("S4", "I Due RS REs REf", 5),
    ("S6", "IS(D) IEs", 1),
    ("S6", "IS(R) IEf", 1),
    ("S6", "I I#2", 3),
    ("L1", "I Due@60 Due(b)@180", 3),
    ("L1", "I Due@60 RS@121", 3),
    ("L2", "IS@0 End@600", 1),
    ("L2", "IS@0 IEs@61", 1),
    ("L3", "I Due RS SS REs@10 End@200", 6),
    ("T1", "I Due Crash RS", 4),
    ("T2", "I Due RS Due RS", 5),
    ("T3", "I SS SE Due RS", 5),
    ("T3", "IS SS IEs SE Due RS", 5),
    ("T4", "I Due RS&Crash", 3),
    ("T4", "I Due RS REs&Crash", 4),
    ("T4", "I SS SE&Crash", 3),
]
SOUND = [
    "I Due RS REs",
    "I Due RS REf RetryDue RS REs",
    "I Due RS SS REs SE",
    "IS(D) IEf I(R)#2",
    "I Due@60 RS@61 REs",
    "I Due@60 SS@70 SE",
    "IS Crash",
    "I Due Crash I RS REs",
    "I Due RS Crash I RS REs",
    "I Due RS Due REs RS REs",
    "I SS SE Due I RS REs",
    "I Freeze Thaw Due RS REs",
    "I Due RS REs SS SE I Due RS REs End(closed)",
    "I Due&Due(b) RS REs",
    "I Due&Thaw RS REs&End(closed)",
    "I Crash&Due I RS REs",
    "I Freeze&Thaw Due RS REs",
    "I Freeze&Crash I Due RS REs",
    "IS IEf(world) I#2",
    "I IS#2 IEf#2 Due RS REs",
]


@pytest.mark.parametrize(("name", "text", "line"), VIOLATIONS, ids=[f"{name}: {text}" for name, text, _ in VIOLATIONS])
def test_the_shortest_trace_that_violates_it_is_caught_where_it_does(name: str, text: str, line: int) -> None:
    report = judge(text)

    assert name in violated(report)
    assert finding(report, name).line == line
    assert report.verdict is TruthValue.VIOLATED


@pytest.mark.parametrize("text", SOUND)
def test_a_sound_trace_holds(text: str) -> None:
    report = judge(text)

    assert violated(report) == set()
    assert undecided(report) == set()
    assert report.verdict is TruthValue.HOLDS


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I Due@60 End@90", {"L1"}),
        ("IS@0 End@10", {"L2"}),
        ("I Due RS SS End", {"A2", "L3"}),
        ("IS SS End", {"L2", "L3"}),
        ("I Due RS REs SS End", {"L3"}),
        ("I Due RS", {"A2"}),
        ("I Due@60 IS#2@100", {"L1", "L2"}),
    ],
)
def test_a_verdict_that_needs_a_longer_trace_is_open(text: str, names: set[str]) -> None:
    report = judge(text)

    assert (violated(report), undecided(report)) == (set(), names)
    assert report.verdict is TruthValue.UNDECIDED


@pytest.mark.parametrize("text", ["I Due@60 End(closed)@90", "IS@0 End(closed)@10", "I SS End(closed)"])
def test_at_a_closed_end_nothing_is_owed(text: str) -> None:
    assert judge(text).verdict is TruthValue.HOLDS


def test_a_run_in_flight_at_the_end_of_all_things_never_ends() -> None:
    report = judge("I Due RS End(closed)")

    assert violated(report) == {"A2"}
    assert finding(report, "A2").line == 4


@pytest.mark.parametrize("name", ["E4", "E5", "A1"])
def test_a_property_about_recurrence_is_never_decided_and_does_not_count(name: str) -> None:
    report = judge("I Due RS REs")

    assert finding(report, name).verdict is TruthValue.UNDECIDED
    assert report.verdict is TruthValue.HOLDS


def test_frozen_time_does_not_count() -> None:
    assert judge("I Due@60 Freeze@70 Thaw@500 RS@540 REs").verdict is TruthValue.HOLDS
    assert violated(judge("I Due@60 Freeze@70 Thaw@500 RS@551 REs")) == {"L1"}


def test_bounds_are_those_of_the_header() -> None:
    bounds = ResponseBounds(a=1_000, b=2_000, lag=3_000)

    assert judge("I Due@60 RS@66 REs", bounds=bounds).verdict is TruthValue.HOLDS
    assert violated(judge("I Due@60 RS@66.001 REs", bounds=bounds)) == {"L1"}


def test_a_lag_of_a_minute_is_not_low() -> None:
    assert violated(judge("I", bounds=ResponseBounds(0, 0, 60_000))) == {"A3"}
    assert violated(judge("I", bounds=ResponseBounds(0, 0, 59_999))) == set()


@pytest.mark.parametrize(
    ("text", "blames"),
    [
        ("I RS", {SCHEDULER}),
        ("I REs", {ENVIRONMENT}),
        ("I Due RS Crash REs", {ENVIRONMENT}),
        ("I RS REs REs", {SCHEDULER, ENVIRONMENT}),
    ],
)
def test_the_report_says_whose_fault_it_is(text: str, blames: set[Owner]) -> None:
    assert judge(text).blames == blames


# --- the older model --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("P1", "I REs"),
        ("P2", "I Due RS Due RS"),
        ("P3", "RS"),
        ("P3", "I SS RS"),
        ("P4", "I Due RS REs RS REs"),
        ("P5", "I SS SE Due RS"),
        ("P6", "I Due RS Crash REs"),
        ("P6", "I Due Crash RS"),
        ("P9", "I Due RS SS SE REs"),
        ("P10", "I Due RS Crash I@100 End@200"),
        ("P11", "I Due RetryDue RS REs RS"),
        ("P12", "I Due RS REs RS"),
        ("P13", "I@0 Due@60 End@121"),
        ("P14", "I Due RS Crash REs"),
        ("P16", "I SS SE Due RS"),
    ],
)
def test_the_older_model_catches_its_shortest_violations(name: str, text: str) -> None:
    assert name in violated(judge(text, "polling"))


@pytest.mark.parametrize(
    "text",
    [
        "I Due RS REs",
        "I Due RS REs Due RS REs",
        "I Due RS Crash I RS REs",
        "I Due RS REf RetryDue RS REs",
        "I Due RS SS REs SE",
        "I SS SE I Due RS REs",
        "I I#2 Due RS REs",
        "I Due RetryDue RS REs Due RS REs",
    ],
)
def test_the_older_model_accepts_what_is_sound(text: str) -> None:
    report = judge(text, "polling")

    assert report.verdict is TruthValue.HOLDS


@pytest.mark.parametrize(("text", "blame"), [("I Due RS Crash REs", ENVIRONMENT), ("I Due Crash RS", SCHEDULER)])
def test_for_a_property_about_both_the_event_decides_the_blame(text: str, blame: Owner) -> None:
    assert finding(judge(text, "polling"), "P6").blame is blame


def test_the_draft_asks_for_nothing() -> None:
    report = judge("I RS RS", "polling-draft")

    assert report.findings == []
    assert report.verdict is TruthValue.HOLDS


# --- the table --------------------------------------------------------------------------------------------------------


def test_every_property_of_both_models_is_there() -> None:
    declarative = "E1 E2 E3 E4 E5 E6 A1 A2 A3 S1 S2 S3 S4 S6 L1 L2 L3 T1 T2 T3 T4"
    polling = "P1 P2 P3 P4 P5 P6 P9 P10 P11 P12 P13 P14 P15 P16 P17"

    assert " ".join(each.name for each in DECLARATIVE) == declarative
    assert " ".join(each.name for each in POLLING) == polling


def test_formulas_are_printed_as_the_theory_writes_them() -> None:
    printed = {each.name: str(each.formula) for each in (*DECLARATIVE, *POLLING)}

    assert printed["S1"] == "G (RS → Y Obligation)"
    assert printed["S2"] == "G (RSucc → X (¬RSucc W Window))"
    assert printed["T1"] == "G (Crash → ¬RS W IEs)"
    assert printed["L1"] == "G (Obligation → F≤ (RS ∨ ¬Obligation))"


# --- a crash ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I Crash", set()),  # no action is at its position
        ("I SS&Crash", {"E1", "T4"}),
        ("I Freeze Crash", set()),
        ("I Freeze SS&Crash", {"E2", "T4"}),  # it is frozen, so what is wrong is the action
        ("I Freeze Thaw SS&Crash", {"E1", "T4"}),
        ("I Freeze Due RS&Thaw", set()),
        ("I Freeze SS&Thaw&Crash", {"E1", "T4"}),
        ("I Due RS&Crash", {"E1", "T1", "T4"}),  # a start, too, needs an initialisation after the crash
        ("I Freeze Crash I Due RS REs", set()),  # the next process is not frozen
        ("I Freeze Crash Freeze I#2 Thaw", {"E2"}),
        ("I Crash Freeze Thaw I Due RS REs", set()),
    ],
)
def test_at_a_crash_everything_is_frozen_unless_something_acts(text: str, names: set[str]) -> None:
    assert violated(judge(text)) == names


_BETWEEN = Since(~(THAW | Previous(CRASH)), FREEZE & ~THAW)


@pytest.mark.parametrize(
    ("mutant", "text"),
    [
        (_BETWEEN, "Crash"),
        (_BETWEEN | CRASH, "Action&Crash"),
        (CRASH & ~ACTION, "Freeze Action&Crash"),
        (hold(FREEZE, THAW | CRASH) | (CRASH & ~ACTION), "Freeze Action&Crash"),  # a crash ends a freeze too soon
    ],
    ids=["never at a crash", "always at a crash", "never by a freeze", "no more at a crash"],
)
def test_another_meaning_of_frozen_is_seen_at_a_crash(mutant: Formula, text: str) -> None:
    verdicts = [meaning(Always(CRASH >> frozen), word(text)) for frozen in (FROZEN, mutant)]

    assert verdicts[0] is not verdicts[1]


def test_an_action_at_a_crash_is_explained() -> None:
    found = finding(judge("I Due RS&Crash"), "T4")

    assert (found.blame, found.lines[-1]) == (SCHEDULER, 3)
    assert found.explanation.startswith("not so at 3: A crash coincides with no action.")

"""Periods: on any trace of decisions, runs and outcomes the verdicts are what the formulas mean, letter by letter."""

from collections.abc import Iterator, Sequence
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from kron.theory.alphabet import EVENTS
from kron.theory.meaning import Letter, Verdict, Word, meaning, violated_at
from kron.theory.properties import I4, KRON, Property
from kron.theory.trace import Position
from tests.theory.period_traces import decision, judge_positions, minute
from tests.theory.traces import finding

Whom = tuple[str, str | None]  # a job and a period of it, or what it runs without one
JOBS = ("a", "b")
PERIODS = (minute(0), minute(1), minute(2))
EVERYBODY: list[Whom] = list(product(JOBS, (*PERIODS, None)))
OUTCOMES = ("executed", "skipped", "missed", "unschedulable")
RUNS = ("RunStart", "RunStart", "RunSuccess", "RunFailure")
ENDS = ("StopStart", "StopEnd", "UnexpectedShutdown")
KINDS = ("Decision", "Decision", *RUNS, "Outcome", "Suspended", "Resumed", "Init", "Stop", "Crash")


@st.composite
def traces(draw: st.DrawFn, kinds: Sequence[str] = KINDS) -> list[Position]:
    """Draw any sequence of events that can be written down."""
    positions: list[Position] = []
    t = 0
    for call, kind in enumerate(draw(st.lists(st.sampled_from(kinds), max_size=14))):
        t += draw(st.sampled_from([0, 1, 60_000, 200_000]))
        job, number = draw(st.sampled_from(JOBS)), draw(st.integers(0, 2))
        period: dict[str, object] = {"period": PERIODS[number]}
        match kind:
            case "Decision":
                chosen = draw(st.sampled_from([-1, 0, 120_000, 150_000, 300_000, None]))
                fields = decision(number, chosen, draw(st.sampled_from(["v1", "v2"])), job=job)
                positions.append(Position(t, kind, fields))
            case "RunStart" | "RunSuccess" | "RunFailure":
                attempts = [period, period, {**period, "attempt": 1}, {**period, "attempt": 2}, {}]
                positions.append(Position(t, kind, {"task": job, **draw(st.sampled_from(attempts))}))
            case "Outcome":
                word = draw(st.sampled_from(OUTCOMES))
                positions.append(Position(t, kind, {"identity": job, **period, "outcome": word}))
            case "Suspended" | "Resumed":
                positions.append(Position(t, kind, {"identity": job}))
            case "Init":
                positions.append(Position(t, "InitStart", {"call": call, "registrations": []}))
                positions.append(Position(t, "InitSuccess", {"call": call}))
            case "Stop":
                positions.append(Position(t, "StopStart", {"call": call}))
                positions.append(Position(t, "StopEnd", {"call": call}))
            case _:
                positions.append(Position(t, "UnexpectedShutdown"))
    return positions


def letters_of(whom: Whom, positions: list[Position]) -> Iterator[Letter]:
    """Yield what a period sees at each position, by definition."""
    for place, position in enumerate(positions):
        atom = EVENTS[position.event].atom
        if position.event in ("Suspended", "Resumed"):
            yield frozenset({atom} if position.task == whom[0] else ())
        elif "task" not in position.fields and "identity" not in position.fields:
            yield frozenset({atom})
        elif not is_about(whom, position):
            yield frozenset()
        elif position.event == "Decision":
            yield frozenset({atom, *decided(position, positions[:place])})
        elif position.event == "Outcome":
            yield frozenset({atom, str(position.fields["outcome"]).capitalize()})
        elif is_execution(position):
            yield frozenset({atom, "Execution", *(["Replayed"] if is_replay(whom, place, positions) else [])})
        else:
            yield frozenset({atom})


def is_about(whom: Whom, position: Position) -> bool:
    return (position.task, position.fields.get("period")) == whom


def is_execution(position: Position) -> bool:
    return position.event == "RunStart" and "period" in position.fields and position.fields.get("attempt") != 2


def decided(position: Position, before: list[Position]) -> set[str]:
    """Return what a decision says of itself."""
    fields, seen = position.fields, set[str]()
    rivals = [each.fields for each in before if each.event == "Decision"]
    if any(
        (rival["identity"], rival["period"], rival["definition"])
        == (fields["identity"], fields["period"], fields["definition"])
        and rival != fields
        for rival in rivals
    ):
        seen.add("Differs")
    chosen = fields["chosen"]
    if isinstance(chosen, int):
        begin = PERIODS.index(str(fields["period"])) * 60_000
        seen |= {"Chosen", "InWindow"} if begin <= chosen <= begin + 3_600_000 else {"Chosen"}
    return seen


def is_replay(whom: Whom, place: int, positions: list[Position]) -> bool:
    """Whether, after some arming, another period ran that was, like this one, chosen before it."""
    chosen = chosen_at(whom, place, positions)
    if chosen is None or not is_first_execution(whom, place, positions):
        return False
    return any(
        chosen < positions[arming].t
        and (other := chosen_at((whom[0], period), run, positions)) is not None
        and other < positions[arming].t
        for arming in range(place)
        if is_arming(whom[0], arming, positions)
        for period in PERIODS
        for run in range(arming + 1, place)
        if period != whom[1] and is_first_execution((whom[0], period), run, positions)
    )


def is_arming(job: str, place: int, positions: list[Position]) -> bool:
    """Whether a host that had no list got one, or a job that was suspended goes on."""
    position, before = positions[place], positions[:place]
    if position.event == "InitSuccess":
        changes = [each.event for each in before if each.event in ENDS or each.event == "InitSuccess"]
        return changes[-1:] != ["InitSuccess"]
    if position.event != "Resumed" or position.task != job:
        return False
    changes = [each.event for each in before if each.event in ("Suspended", "Resumed") and each.task == job]
    return changes[-1:] == ["Suspended"]


def is_first_execution(whom: Whom, place: int, positions: list[Position]) -> bool:
    runs = [k for k in range(place + 1) if is_about(whom, positions[k]) and is_execution(positions[k])]
    return runs == [place]


def chosen_at(whom: Whom, place: int, positions: list[Position]) -> int | None:
    """Return the time that the latest decision for a period has chosen."""
    latest = [each for each in positions[:place] if each.event == "Decision" and is_about(whom, each)][-1:]
    chosen = latest[0].fields["chosen"] if latest else None
    return chosen if isinstance(chosen, int) else None


@settings(max_examples=80)
@given(traces())
def test_every_property_of_a_period_is_judged_as_its_formula_means(positions: list[Position]) -> None:
    report = judge_positions(positions)

    words = [Word(list(letters_of(whom, positions))) for whom in EVERYBODY]
    for each in KRON:
        assert finding(report, each.name).at == first_violation(each, words), each.name


def first_violation(each: Property, words: list[Word]) -> int | None:
    broken = [word for word in words if meaning(each.formula, word) is Verdict.VIOLATED]
    places = [violated_at(each.formula, word) for word in broken]
    return min((place for place in places if place is not None), default=None)


@settings(max_examples=80)
@given(traces(["Decision", "RunStart", "Suspended", "Resumed", "Init", "Crash"]))
def test_a_replay_is_seen_however_many_armings_there_were(positions: list[Position]) -> None:
    report = judge_positions(positions)

    words = [Word(list(letters_of(whom, positions))) for whom in EVERYBODY]
    assert finding(report, I4.name).at == first_violation(I4, words)

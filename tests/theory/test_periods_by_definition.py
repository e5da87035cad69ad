"""Periods: on any trace the verdicts agree with the formulas, letter by letter."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from hypothesis import given, settings, strategies as st

from kron.theory.alphabet import EVENTS
from kron.theory.formula import Letter, TruthValue
from kron.theory.properties import I4, KRON, Property
from kron.theory.trace_format import TraceEvent
from tests.theory.period_traces import decision, judge_positions, minute
from tests.theory.semantics import Word, meaning, violated_at
from tests.theory.traces import finding

Whom = tuple[str, str | None]  # a job and a period of it, or what it runs without one
JOBS = ("a", "b")
PERIODS = (minute(0), minute(1), minute(2))
EVERYBODY: list[Whom] = list(product(JOBS, (*PERIODS, None)))
OUTCOMES = ("executed", "skipped", "missed", "unschedulable")
RUNS = ("RunStart", "RunStart", "RunSuccess", "RunFailure")
ENDS = ("StopStart", "StopEnd", "UnexpectedShutdown")
KINDS = ("Decision", "Decision", *RUNS, "Outcome", "Suspended", "Resumed", "Init", "Stop", "Crash")


SLACK = 2_000
policies = st.fixed_dictionaries(
    {},
    optional={
        "deadlineMs": st.sampled_from([0, 61_000]),
        "concurrency": st.sampled_from(["forbid", "forbid", "allow", "replace"]),
        "retries": st.sampled_from([0, 1]),
    },
)


@st.composite
def traces(draw: st.DrawFn, kinds: Sequence[str] = KINDS) -> list[TraceEvent]:
    """Draw any sequence of events that can be written down."""
    positions: list[TraceEvent] = []
    t = 0
    for call, kind in enumerate(draw(st.lists(st.sampled_from(kinds), max_size=14))):
        t += draw(st.sampled_from([0, 1, 60_000, 200_000]))
        job, number = draw(st.sampled_from(JOBS)), draw(st.integers(0, 2))
        period: dict[str, object] = {"period": PERIODS[number]}
        match kind:
            case "Decision":
                chosen = draw(st.sampled_from([-1, 0, 120_000, 150_000, 300_000, None]))
                fields = decision(number, chosen, draw(st.sampled_from(["v1", "v2"])), job=job)
                positions.append(TraceEvent(t, kind, {**fields, **draw(policies)}))
            case "RunStart" | "RunSuccess" | "RunFailure":
                attempts = [period, period, {**period, "attempt": 1}, {**period, "attempt": 2}, {}]
                attempts += [{**period, "attempt": 2, "retries": 0}, {**period, "attempt": 2, "retries": 3}]
                positions.append(TraceEvent(t, kind, {"task": job, **draw(st.sampled_from(attempts))}))
            case "Outcome":
                word = draw(st.sampled_from(OUTCOMES))
                accepted = draw(st.sampled_from([{}, {"acceptedMs": t}, {"acceptedMs": t, "slackMs": 60_000}]))
                positions.append(TraceEvent(t, kind, {"identity": job, **period, "outcome": word, **accepted}))
            case "Suspended" | "Resumed":
                positions.append(TraceEvent(t, kind, {"identity": job}))
            case "Init":
                positions.append(TraceEvent(t, "InitStart", {"call": call, "registrations": []}))
                positions.append(TraceEvent(t, "InitSuccess", {"call": call}))
            case "Stop":
                positions.append(TraceEvent(t, "StopStart", {"call": call}))
                positions.append(TraceEvent(t, "StopEnd", {"call": call}))
            case _:
                positions.append(TraceEvent(t, "UnexpectedShutdown"))
    return positions


def letters_of(whom: Whom, positions: list[TraceEvent]) -> Iterator[Letter]:
    """Yield what a period sees at each position, by definition."""
    for place, position in enumerate(positions):
        atom = EVENTS[position.kind].atom
        if position.kind in ("Suspended", "Resumed"):
            yield frozenset({atom} if position.subject == whom[0] else ())
        elif "task" not in position.fields and "identity" not in position.fields:
            yield frozenset({atom})
        elif not is_about(whom, position):
            yield frozenset()
        elif position.kind == "Decision":
            yield frozenset({atom, *decided(position, positions[:place])})
        elif position.kind == "Outcome":
            late = ["Late"] if is_late(whom, place, positions) else []
            yield frozenset({atom, str(position.fields["outcome"]).capitalize(), *late})
        elif position.kind == "RunStart" and whom[1] is not None:
            yield frozenset({atom, *started(whom, place, positions)})
        elif position.kind == "RunSuccess" and whom[1] is not None:
            yield frozenset({atom, "Success"})
        else:
            yield frozenset({atom})


def started(whom: Whom, place: int, positions: list[TraceEvent]) -> Iterator[str]:
    """Yield what a period sees beside the start of an attempt."""
    position, fields = positions[place], positions[place].fields
    if is_execution(position):
        yield "Execution"
        if is_replay(whom, place, positions):
            yield "Replayed"
    chosen = chosen_at(whom, place, positions)
    if chosen is not None and chosen > position.time_ms:
        yield "Early"
    retries = fields.get("retries", latest(whom, place, positions).get("retries"))
    starts = [each for each in positions[: place + 1] if each.kind == "RunStart" and is_about(whom, each)]
    number = max(len(starts), *(attempt for attempt in [fields.get("attempt", 1)] if isinstance(attempt, int)))
    if isinstance(retries, int) and number > retries + 1:
        yield "Excess"
    if any(overlaps(whom, (whom[0], period), place, positions) for period in PERIODS if period != whom[1]):
        yield "Overlap"


def overlaps(whom: Whom, other: Whom, place: int, positions: list[TraceEvent]) -> bool:
    """Whether another period runs at the start of an attempt, and the one of both that began later forbids that."""
    seen = [each for each in positions[:place] if is_about(other, each) or each.kind == "UnexpectedShutdown"]
    runs = [each for each in seen if "task" in each.fields or each.kind == "UnexpectedShutdown"]
    if not runs or runs[-1].kind != "RunStart":
        return False
    begun = [(first_start(each, positions[: place + 1]), each) for each in (whom, other)]
    at, later = max(begun)
    return latest(later, at, positions).get("concurrency") == "forbid"


def first_start(whom: Whom, positions: list[TraceEvent]) -> int:
    return next(k for k, each in enumerate(positions) if each.kind == "RunStart" and is_about(whom, each))


def is_late(whom: Whom, place: int, positions: list[TraceEvent]) -> bool:
    fields, deadline = positions[place].fields, latest(whom, place, positions).get("deadlineMs")
    chosen, accepted, slack = chosen_at(whom, place, positions), fields.get("acceptedMs"), fields.get("slackMs", SLACK)
    if chosen is None or not isinstance(accepted, int) or not isinstance(deadline, int) or not isinstance(slack, int):
        return False
    return (accepted // 1000 * 1000 - chosen) // 1000 * 1000 > deadline + slack


def is_about(whom: Whom, position: TraceEvent) -> bool:
    return (position.subject, position.fields.get("period")) == whom


def is_execution(position: TraceEvent) -> bool:
    return position.kind == "RunStart" and "period" in position.fields and position.fields.get("attempt") != 2


def decided(position: TraceEvent, before: list[TraceEvent]) -> set[str]:
    """Return what a decision says of itself."""
    fields, seen = position.fields, set[str]()
    rivals = [each.fields for each in before if each.kind == "Decision"]
    if any(
        (rival["identity"], rival["period"], rival["definition"])
        == (fields["identity"], fields["period"], fields["definition"])
        and any(rival[field] != fields[field] for field in ("chosen", "windowStart", "windowEnd", "seedHash"))
        for rival in rivals
    ):
        seen.add("Differs")
    chosen = fields["chosen"]
    if isinstance(chosen, int):
        begin = PERIODS.index(str(fields["period"])) * 60_000
        seen |= {"Chosen", "InWindow"} if begin <= chosen <= begin + 3_600_000 else {"Chosen"}
    return seen


def is_replay(whom: Whom, place: int, positions: list[TraceEvent]) -> bool:
    """Whether, after some arming, another period ran that was, like this one, chosen before it."""
    chosen = chosen_at(whom, place, positions)
    if chosen is None or not is_first_execution(whom, place, positions):
        return False
    return any(
        chosen < positions[arming].time_ms
        and (other := chosen_at((whom[0], period), run, positions)) is not None
        and other < positions[arming].time_ms
        for arming in range(place)
        if is_arming(whom[0], arming, positions)
        for period in PERIODS
        for run in range(arming + 1, place)
        if period != whom[1] and is_first_execution((whom[0], period), run, positions)
    )


def is_arming(job: str, place: int, positions: list[TraceEvent]) -> bool:
    """Whether a host that had no list got one, or a job that was suspended goes on."""
    position, before = positions[place], positions[:place]
    if position.kind == "InitSuccess":
        changes = [each.kind for each in before if each.kind in ENDS or each.kind == "InitSuccess"]
        return changes[-1:] != ["InitSuccess"]
    if position.kind != "Resumed" or position.subject != job:
        return False
    changes = [each.kind for each in before if each.kind in ("Suspended", "Resumed") and each.subject == job]
    return changes[-1:] == ["Suspended"]


def is_first_execution(whom: Whom, place: int, positions: list[TraceEvent]) -> bool:
    runs = [k for k in range(place + 1) if is_about(whom, positions[k]) and is_execution(positions[k])]
    return runs == [place]


def chosen_at(whom: Whom, place: int, positions: list[TraceEvent]) -> int | None:
    """Return the time that the latest decision for a period has chosen."""
    chosen = latest(whom, place, positions).get("chosen")
    return chosen if isinstance(chosen, int) else None


def latest(whom: Whom, place: int, positions: list[TraceEvent]) -> Mapping[str, object]:
    """Return the fields of the latest decision for a period, nothing if there is none."""
    decisions = [each.fields for each in positions[:place] if each.kind == "Decision" and is_about(whom, each)]
    return decisions[-1] if decisions else {}


@settings(max_examples=80)
@given(traces())
def test_every_property_of_a_period_is_judged_as_its_formula_means(positions: list[TraceEvent]) -> None:
    report = judge_positions(positions, slack=SLACK)

    words = [Word(list(letters_of(whom, positions))) for whom in EVERYBODY]
    for each in KRON:
        assert finding(report, each.name).line == first_violation(each, words), each.name


def first_violation(each: Property, words: list[Word]) -> int | None:
    broken = [word for word in words if meaning(each.formula, word) is TruthValue.VIOLATED]
    places = [violated_at(each.formula, word) for word in broken]
    return min((place for place in places if place is not None), default=None)


@settings(max_examples=80)
@given(traces(["Decision", "RunStart", "Suspended", "Resumed", "Init", "Crash"]))
def test_a_replay_is_seen_however_many_armings_there_were(positions: list[TraceEvent]) -> None:
    report = judge_positions(positions, slack=SLACK)

    words = [Word(list(letters_of(whom, positions))) for whom in EVERYBODY]
    assert finding(report, I4.name).line == first_violation(I4, words)

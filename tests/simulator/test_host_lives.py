"""Random scenarios of a host: after a freeze the newest period in time runs, after a stall each is judged."""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from random import Random

import pytest

from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.instant import Instant
from kron.rules.job_record import PeriodRecord
from kron.rules.job_spec import JobSpec
from kron.rules.policy import Policy
from kron.theory.checker import Checker
from kron.theory.formula import TruthValue
from kron.theory.trace_format import TracePosition, write_event
from tests.simulator.host_life import HEADER, HostLife, HostScenario, Place, Standstill, simulate_host

HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)
START = datetime(2026, 3, 2, 11, 59, 30, tzinfo=UTC)
LINES = ("* * * * *", "*/2 * * * * @win(after,90s)", "* * * * * @win(after,10m)", "*/5 * * * * @win(around,4m)")
DEADLINES = ("0s", "90s", "5m", "1h")
END = datetime.max.replace(tzinfo=UTC)
FEW, MANY = range(8), range(8, 30)


def draw(seed: int) -> HostScenario:
    """Return the scenario of a seed."""
    chance = Random(f"host {seed}")
    works = tuple(_draw_work(chance, f"job{number}") for number in range(chance.randint(1, 4)))
    stalls, freezes, slow_appends = (chance.choice((0.0, 48.0, 144.0)) for _ in range(3))
    return HostScenario(works, START, 2 * HOUR, seed, stalls=stalls, freezes=freezes, slow_appends=slow_appends)


def _draw_work(chance: Random, name: str) -> JobSpec:
    timing = Timing.parse(chance.choice(LINES), identity=name)
    policy = {"concurrency": chance.choice(("forbid", "allow")), "deadline": chance.choice(DEADLINES)}
    text = json.dumps({"timing": timing.to_dict(), "policy": policy, "command": ""})
    return JobSpec(name, name, timing, Policy.from_dict(policy), text)


@cache
def lived(seed: int) -> tuple[HostScenario, HostLife, list[str]]:
    """Return a scenario, its life, and what the theory has against it."""
    scenario, checker = draw(seed), Checker(HEADER)
    life = simulate_host(scenario, checker.read)
    found = [each.explanation for each in checker.report().findings if each.verdict is TruthValue.VIOLATED]
    return scenario, life, found


# --- the oracle -------------------------------------------------------------------------------------------------------


class PeriodOutcomes:
    """The outcomes of a job's periods, read independently from the ledger and the schedule."""

    def __init__(self, scenario: HostScenario, life: HostLife, work: JobSpec) -> None:
        assert work.timing is not None
        begin, end = scenario.start - HOUR, scenario.start + scenario.span + HOUR
        decided = (
            (decide(work.timing, nominal).chosen_time, nominal) for nominal in work.timing.schedule.between(begin, end)
        )
        self._chosen = sorted((chosen, nominal) for chosen, nominal in decided if chosen is not None)
        self._closed = life.ledger.outcomes.get(work.identity, [])
        self._lasts = [last for last, _, _ in self._closed]

    def of(self, after: Instant, until: Instant) -> list[tuple[Instant, str]]:
        """Return the chosen times in a time, the earliest first, each with the outcome of its period."""
        first, last = (bisect_right(self._chosen, (at, END)) for at in (after, until))
        return [(chosen, self._outcome(nominal)) for chosen, nominal in self._chosen[first:last]]

    def _outcome(self, nominal: Instant) -> str:
        place = bisect_left(self._lasts, nominal)
        if place == len(self._closed) or self._closed[place].first > nominal:
            return "nothing"
        record = self._closed[place].record
        return f"{record.outcome.value} {record.reason}" if isinstance(record, PeriodRecord) else "executed"


def expected(work: JobSpec, chosen: list[Instant], woke: Instant) -> list[set[str]]:
    """Return what may become of the periods of a freeze, each by its own reading of the rule."""
    late = [(woke.replace(microsecond=0) - each) > work.policy.deadline for each in chosen]
    newest = max((at for at, is_late in zip(chosen, late, strict=True) if not is_late), default=None)
    return [
        {"missed deadline"} if is_late else {"executed", "skipped active"} if at == newest else {"skipped superseded"}
        for at, is_late in zip(chosen, late, strict=True)
    ]


def complaints(scenario: HostScenario, life: HostLife) -> Iterator[str]:
    """Yield what is wrong with a life."""
    outcomes = {work: PeriodOutcomes(scenario, life, work) for work in scenario.works}
    for standstill in life.standstills:
        place, began, ended = standstill
        due = [at for each in outcomes.values() for at, _ in each.of(began, ended)]
        is_frozen = place is not Place.AT_THE_DISK and bool(due) and ended - min(due) > scenario.slack
        for work, each in outcomes.items():
            periods = each.of(began, ended)
            if is_frozen:
                allowed = expected(work, [at for at, _ in periods], ended)
            elif place is Place.AT_THE_DISK:  # how late the disk made them is judged as ever, one by one
                allowed = [{"executed", "skipped active", "missed deadline"}] * len(periods)
            else:
                allowed = [{"executed", "skipped active"}] * len(periods)
            if any(found not in right for (_, found), right in zip(periods, allowed, strict=True)):
                yield f"seed {scenario.seed}, {_text(standstill)}, {work.identity}: {periods} instead of {allowed}"
    end = scenario.start + scenario.span - scenario.slack
    for work, each in outcomes.items():
        if forgotten := [at for at, found in each.of(scenario.start, end) if found == "nothing"]:
            yield f"seed {scenario.seed}, {work.identity}: no outcome for what was chosen for {forgotten}"


def _text(standstill: Standstill) -> str:
    return f"{standstill.place.value} from {standstill.began:%H:%M:%S} to {standstill.ended:%H:%M:%S}"


def judged(seeds: range) -> list[str]:
    found: list[str] = []
    for seed in seeds:
        scenario, life, violated = lived(seed)
        found += [*complaints(scenario, life), *violated]
    return found


# --- what is claimed --------------------------------------------------------------------------------------------------


def test_hosts_that_stall_and_freeze_do_with_each_period_what_the_rules_say() -> None:
    found = judged(FEW)

    assert not found, "\n".join(found)


@pytest.mark.slow
def test_many_hosts_that_stall_and_freeze_do_with_each_period_what_the_rules_say() -> None:
    found = judged(MANY)

    assert not found, "\n".join(found)


def test_standstills_of_every_kind_are_drawn() -> None:
    lives = [(scenario, life) for seed in FEW for scenario, life, _ in [lived(seed)]]

    kinds = {
        (each.place, each.ended - each.began > scenario.slack) for scenario, life in lives for each in life.standstills
    }
    assert kinds >= {(place, is_long) for place in list(Place)[:3] for is_long in (False, True)}
    assert any(place is Place.AT_THE_DISK for place, _ in kinds)


@pytest.mark.slow
def test_a_seed_always_gives_the_same_trace() -> None:
    traces: list[list[TracePosition]] = [[], []]
    for trace in traces:
        simulate_host(draw(4), trace.append)

    assert len({"\n".join(map(write_event, trace)) for trace in traces}) == 1

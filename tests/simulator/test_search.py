"""A search finds the first failure, and shrinks it to the smallest scenario that fails in the same way."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from kron.simulator.scenario import CallbackBehaviour, FaultRates, Scenario, SimulatedJob
from kron.simulator.simulation import simulate
from kron.theory.trace_format import TracePosition, events_of
from tests.simulator.search import NO_FAULTS, Counterexample, Judge, find_counterexample, run_and_check, shrink, simpler

MORNING = datetime(2026, 3, 28, 7, 31, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
JOBS = (SimulatedJob("a", "0 * * * *"), SimulatedJob("b", "5 3 * * *"), SimulatedJob("c", "7,9 * * * *"))
LIFE = Scenario(JOBS, MORNING, 24 * HOUR, seed=7, timezone="Europe/Paris", accidents=FaultRates(4, 2, 2, 2, 0.8, 2))


def is_simple(job: SimulatedJob) -> bool:
    """Whether nothing about a job is left to be made plainer."""
    return (job.behaviour.slow, job.behaviour.failing, job.behaviour.hanging) == (0, 0, 0)


def names(line: TracePosition) -> list[str]:
    return [event.kind for event in events_of(line)]


def second_start(event: str = "RunStart") -> Judge:
    """Return a judge who holds that there must not be two such events."""

    def says(scenario: Scenario) -> list[Counterexample]:
        trace: list[TracePosition] = []
        simulate(scenario, trace.append)
        lines = [line for line, position in enumerate(trace) if event in names(position)]
        return [Counterexample(scenario, "once", event, tuple(trace[: lines[1] + 1]))] if len(lines) > 1 else []

    return says


def counted(fails: Callable[[Scenario], bool]) -> tuple[Callable[[Scenario], bool], list[Scenario]]:
    """Return the same, and what it was asked."""
    asked: list[Scenario] = []

    def says(scenario: Scenario) -> bool:
        asked.append(scenario)
        return fails(scenario)

    return says, asked


def test_jobs_that_do_not_matter_are_left_out() -> None:
    found = shrink(LIFE, lambda scenario: any(job.name == "b" for job in scenario.jobs))

    assert [job.name for job in found.jobs] == ["b"]


def test_jobs_that_matter_together_stay_together() -> None:
    found = shrink(LIFE, lambda scenario: {"a", "c"} <= {job.name for job in scenario.jobs})

    assert [job.name for job in found.jobs] == ["a", "c"]


def test_accidents_that_do_not_matter_do_not_happen() -> None:
    found = shrink(LIFE, lambda scenario: scenario.accidents.crashes > 0)

    assert found.accidents == replace(NO_FAULTS, crashes=1.0)


def test_the_span_becomes_as_short_as_it_can() -> None:
    found = shrink(LIFE, lambda scenario: scenario.span >= 7 * HOUR)

    assert found.span == 7 * HOUR


def test_a_behaviour_keeps_only_what_matters() -> None:
    behaviour = CallbackBehaviour(slow=0.5, failing=0.5, hanging=0.5)
    life = replace(LIFE, jobs=(replace(JOBS[0], behaviour=behaviour),))

    found = shrink(life, lambda scenario: scenario.jobs[0].behaviour.failing > 0)

    assert found.jobs[0].behaviour == CallbackBehaviour(
        slow=0.0, longest=timedelta(minutes=1), failing=0.5, hanging=0.0
    )


def test_a_scenario_that_always_fails_shrinks_to_next_to_nothing() -> None:
    found = shrink(LIFE, lambda _: True)

    assert (len(found.jobs), found.span, found.accidents) == (1, HOUR, NO_FAULTS)
    assert is_simple(found.jobs[0])
    assert not list(simpler(found))


def test_a_scenario_that_fails_only_as_it_is_does_not_shrink() -> None:
    assert shrink(LIFE, lambda _: False) == LIFE


def test_the_result_is_the_last_scenario_that_failed() -> None:
    fails, asked = counted(lambda scenario: len(scenario.jobs) == 2 or scenario.span < 9 * HOUR)

    found = shrink(LIFE, fails)

    assert found == next(
        scenario for scenario in reversed(asked) if len(scenario.jobs) == 2 or scenario.span < 9 * HOUR
    )


def test_shrinking_costs_no_more_lives_than_it_may() -> None:
    fails, asked = counted(lambda _: True)

    shrink(LIFE, fails, most=5)

    assert len(asked) == 5


def test_a_simpler_scenario_may_fail_with_another_seed() -> None:
    found = shrink(LIFE, lambda scenario: len(scenario.jobs) == 3 or scenario.seed == 2)

    assert (len(found.jobs), found.seed) == (1, 2)


def test_the_same_search_finds_the_same() -> None:
    assert find_counterexample([LIFE], second_start(), most=30) == find_counterexample([LIFE], second_start(), most=30)


def test_a_search_shrinks_the_first_life_that_fails() -> None:
    calm = replace(LIFE, accidents=NO_FAULTS)

    failure = find_counterexample([calm, LIFE], second_start("UnexpectedShutdown"), most=80)

    assert failure is not None
    assert len(failure.scenario.jobs) == 1
    kinds = failure.scenario.accidents
    assert [kind for kind in kinds.__slots__ if getattr(kinds, kind)] == ["crashes"]


def test_a_trace_ends_where_the_violation_is_seen() -> None:
    failure = find_counterexample([LIFE], second_start())

    assert failure is not None
    assert [name for line in failure.trace for name in names(line)].count("RunStart") == 2
    assert names(failure.trace[-1]) == ["RunStart"]


def test_the_scenario_found_fails_again() -> None:
    failure = find_counterexample([LIFE], second_start())

    assert failure is not None
    assert second_start()(failure.scenario) == [failure]


def test_a_shrunk_life_violates_the_same_property() -> None:
    def says(scenario: Scenario) -> list[Counterexample]:
        """More than one job violates this, and, less plainly, a long life violates that."""
        this = [Counterexample(scenario, "this", "", ())] if len(scenario.jobs) > 1 else []
        return [*this, Counterexample(scenario, "that", "", ())] if scenario.span > 2 * HOUR else this

    failure = find_counterexample([replace(LIFE, jobs=JOBS[:1])], says)

    assert failure is not None
    assert (failure.violated, failure.scenario.span) == ("that", 3 * HOUR)


def test_lives_without_a_violation_give_nothing() -> None:
    assert find_counterexample([LIFE, replace(LIFE, seed=8)], run_and_check) is None


def test_every_step_of_shrinking_leads_to_an_end() -> None:
    steps = [LIFE]
    while following := next(simpler(steps[-1]), None):
        steps.append(following)

    assert all(before != after for before, after in pairwise(steps))
    assert len(steps) < 50

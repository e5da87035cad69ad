"""Find the first scenario that fails, and shrink it to the smallest that fails in the same way.

Nothing here draws: the same scenarios in the same order give the same failure.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal, TypeAlias, TypeVar

from kron.simulator.scenario import CallbackBehaviour, FaultRates, Scenario, SimulatedJob
from kron.simulator.simulation import simulate
from kron.theory.checker import Checker
from kron.theory.results import PropertyResult
from kron.theory.trace_format import TracePosition

_MOST = 400  # lives that shrinking may cost: about a minute
_SEEDS = 4  # with fewer accidents others are drawn, so a simpler scenario gets some seeds to fail with
_HOUR = timedelta(hours=1)
_MINUTE = timedelta(minutes=1)
_SIMPLE = CallbackBehaviour(slow=0.0, longest=_MINUTE, failing=0.0, hanging=0.0)
_CRONS = ("0 * * * *", "* * * * *")  # the simplest last
_DELAYS = (timedelta(minutes=5), _MINUTE)
_RATES = (4.0, 1.0)  # times a day; a rate comes down to one of them before it comes to nothing
_UTC = "UTC"
NO_FAULTS = FaultRates(0, 0, 0, 0, 0, 0)
_PLAIN: Literal["posix"] = "posix"

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A scenario in which a property is violated, and the shortest beginning of its trace that shows it."""

    scenario: Scenario
    violated: str
    explanation: str
    trace: tuple[TracePosition, ...]


Judge: TypeAlias = Callable[[Scenario], Sequence[Counterexample]]
"""Lives through a scenario, and returns what is violated in it, in the order in which that is seen."""


def run_and_check(scenario: Scenario) -> list[Counterexample]:
    """Live through a scenario, and let the theory of its contract say what is violated. The judge of real searches."""
    trace: list[TracePosition] = []
    failures: list[Counterexample] = []

    def note(finding: PropertyResult) -> None:
        failures.append(Counterexample(scenario, finding.property.name, finding.explanation, tuple(trace)))

    def take(position: TracePosition) -> None:
        trace.append(position)
        checker.read(position)

    checker = Checker(scenario.header)
    checker.listen(note)
    simulate(scenario, take)
    checker.report()  # what fell due after the last event counts, too
    return failures


def find_counterexample(
    scenarios: Iterable[Scenario], judge: Judge = run_and_check, *, most: int = _MOST
) -> Counterexample | None:
    """Return the failure of the first scenario that fails, shrunk at the cost of so many lives; None if none fails.

    What comes out violates the same property as what was found first.
    """
    for scenario in scenarios:
        failures = judge(scenario)
        if failures:
            return smallest(failures[0], judge, most=most)
    return None


def smallest(failure: Counterexample, judge: Judge = run_and_check, *, most: int = _MOST) -> Counterexample:
    """Return the failure of the smallest scenario that shrinking comes to; it is of the same property."""
    best = failure

    def fails(scenario: Scenario) -> bool:
        nonlocal best
        for each in judge(scenario):
            if each.violated == failure.violated:
                best = each
                return True
        return False

    shrink(failure.scenario, fails, most=most)
    return best


def shrink(scenario: Scenario, fails: Callable[[Scenario], bool], *, most: int = _MOST) -> Scenario:
    """Return the simplest scenario that is found to fail, the given one if no simpler one does.

    `fails` says of a scenario whether it does, and is asked at most so often. The last scenario of which it says so is
    what comes out.
    """
    left = most
    is_simpler = True
    while is_simpler:
        is_simpler = False
        for candidate in _with_seeds(simpler(scenario)):
            if left <= 0:
                return scenario
            left -= 1
            if fails(candidate):
                scenario, is_simpler = candidate, True
                break  # from the top: what did not help before may help now
    return scenario


def simpler(scenario: Scenario) -> Iterator[Scenario]:
    """Yield scenarios that are simpler by one step, the greatest step first; following them comes to an end."""
    for jobs in _fewer(scenario.jobs):
        yield replace(scenario, jobs=jobs)
    for accidents in _rarer(scenario.accidents):
        yield replace(scenario, accidents=accidents)
    for span in _shorter(scenario.span):
        yield replace(scenario, span=span)
    for place, job in enumerate(scenario.jobs):
        for plainer in _plainer(job):
            yield replace(scenario, jobs=(*scenario.jobs[:place], plainer, *scenario.jobs[place + 1 :]))
    if scenario.timezone != _UTC:
        yield replace(scenario, timezone=_UTC)
    if scenario.dialect != _PLAIN and all(job.cron in _CRONS for job in scenario.jobs):
        yield replace(scenario, dialect=_PLAIN)
    whole = scenario.start.replace(minute=0, second=0, microsecond=0)
    if scenario.start != whole:
        yield replace(scenario, start=whole)


def _with_seeds(scenarios: Iterable[Scenario]) -> Iterator[Scenario]:
    for scenario in scenarios:
        yield scenario
        for seed in range(_SEEDS):
            if seed != scenario.seed:
                yield replace(scenario, seed=seed)


def _fewer(jobs: tuple[SimulatedJob, ...]) -> Iterator[tuple[SimulatedJob, ...]]:
    """Yield one half and the other, then all without one of them."""
    half = len(jobs) // 2
    if half > 1:
        yield jobs[:half]
        yield jobs[half:]
    if half:
        for place in range(len(jobs)):
            yield (*jobs[:place], *jobs[place + 1 :])


def _rarer(accidents: FaultRates) -> Iterator[FaultRates]:
    """Yield none at all, then none of one kind, then fewer of one kind."""
    kinds = [kind for kind in accidents.__slots__ if getattr(accidents, kind)]
    if len(kinds) > 1:
        yield NO_FAULTS
    for rate in (0.0, *reversed(_RATES)):
        for kind in kinds:
            if rate < getattr(accidents, kind):
                yield replace(accidents, **{kind: rate})


def _shorter(span: timedelta) -> Iterator[timedelta]:
    """Yield half of it, three quarters, and an hour less, in whole hours, one at least."""
    hours = span // _HOUR
    for fewer in dict.fromkeys((hours // 2, hours * 3 // 4, hours - 1)):
        if 1 <= fewer < hours:
            yield fewer * _HOUR


def _plainer(job: SimulatedJob) -> Iterator[SimulatedJob]:
    """Yield the job with a plainer behaviour, another schedule, or another delay."""
    behaviour = job.behaviour
    if behaviour != _SIMPLE:
        yield replace(job, behaviour=_SIMPLE)
    for part in behaviour.__slots__:
        if getattr(behaviour, part) > getattr(_SIMPLE, part):
            yield replace(job, behaviour=replace(behaviour, **{part: getattr(_SIMPLE, part)}))
    for cron in _after(_CRONS, job.cron):
        yield replace(job, cron=cron)
    for delay in _after(_DELAYS, job.retry_delay):
        yield replace(job, retry_delay=delay)


def _after(simple: Sequence[_T], value: _T) -> Iterator[_T]:
    """Yield the values that are simpler than this one, the simplest first."""
    rank = simple.index(value) + 1 if value in simple else 0
    yield from reversed(simple[rank:])

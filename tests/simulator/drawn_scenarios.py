"""Draw the scenario of a seed, for the sweeps and for every night."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

from kron.rules.contract import PRESETS, CatchUp
from kron.simulator.scenario import CallbackBehaviour, FaultRates, Scenario, SimulatedJob
from tests.simulator.search import NO_FAULTS

CONTRACTS = tuple(name for name, preset in PRESETS.items() if preset.catch_up is CatchUp.RUN_ONCE)

_HOUR = timedelta(hours=1)
_NAMES = "abcde"  # those that the simulator adds are called otherwise
_PLACES = (  # a zone and the day before something happens to its clocks
    ("UTC", datetime(2026, 2, 28, 9, 17, 5, tzinfo=UTC)),
    ("Europe/Paris", datetime(2026, 3, 28, 12, tzinfo=UTC)),  # 02:00 to 03:00 is left out the night after
    ("Europe/Paris", datetime(2026, 10, 24, 12, 0, 30, tzinfo=UTC)),  # 02:00 to 03:00 comes twice
    ("America/New_York", datetime(2026, 3, 7, 20, 59, 59, tzinfo=UTC)),
    ("America/New_York", datetime(2026, 10, 31, 20, tzinfo=UTC)),
    ("Australia/Lord_Howe", datetime(2026, 4, 4, 6, tzinfo=UTC)),  # half an hour comes twice
    ("Asia/Kathmandu", datetime(2026, 12, 31, 3, 30, tzinfo=UTC)),  # a quarter of an hour off, and a year ends
)
_OFTEN = ("* * * * *", "0-29 * * * *", "0,2,4,6,8 0-6 * * *")
_SELDOM = (
    "0 * * * *",
    "0,15,30,45 * * * *",
    "5,35 * * * *",
    "30 2 * * *",
    "0,30 1-3 * * *",
    "15 3 * * 0",
    "0 0 1 * *",
    "59 23 * * *",
    "7 0,6,12,18 * * 1-5",
)
_MODIFIERS = (  # of the schedule lines in a third of the lives
    "",
    "@win(after,1s)",
    "@win(after,10m)",
    "@win(after,3h) @dist(skewLate,shape=2.5)",
    "@win(around,90m) @seed(daily,salt=x)",
    "@win(around,4h) @dist(normal,sigma=20m) @avoid(hours=3)",
    "@tz(Asia/Kathmandu)",
    "@tz(Europe/Paris) @win(after,2h) @only(dow=SAT,SUN,MON;between=01:00-20:00)",
    "@dst(gap=shift,repeated=first)",
    "@only(hours=0-5,12-23)",
)
_DELAYS = tuple(timedelta(seconds=seconds) for seconds in (0, 1, 30, 60, 300, 1500, 5400))
_KINDS = ("crashes", "stops", "changes", "freezes", "faults", "jumps")
_LONGEST = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 20, 90))


def draw(seed: int, contract: str) -> Scenario:
    """Return the scenario of a seed: one to five jobs, some hours to two days, and few or many accidents."""
    chance, lines, clocks = (Random(f"{what} {seed}") for what in ("scenario", "lines", "clocks"))
    timezone, day = chance.choice(_PLACES)
    span = chance.choice((6, 12, 24, 24, 48)) * _HOUR
    jobs = tuple(_draw_job(chance, name, span) for name in _NAMES[: chance.randint(1, len(_NAMES))])
    if has_lines := lines.random() < 1 / 3:
        jobs = tuple(replace(job, cron=f"{job.cron} {lines.choice(_MODIFIERS)}".strip()) for job in jobs)
    return Scenario(
        jobs,
        day + chance.random() * 6 * _HOUR if chance.random() < 0.5 else day,
        span,
        seed,
        PRESETS[contract],
        timezone,
        replace(_draw_accidents(chance, span), corrections=_draw_corrections(clocks, span)),
        dialect="extended" if has_lines else "posix",
    )


def _draw_job(chance: Random, name: str, span: timedelta) -> SimulatedJob:
    often = name == _NAMES[0] and span <= 24 * _HOUR and chance.random() < 0.3
    behaviour = CallbackBehaviour(
        slow=chance.choice((0.0, 0.3, 0.8)),
        longest=chance.choice(_LONGEST),
        failing=chance.choice((0.0, 0.15, 0.5)),
        hanging=chance.choice((0.0, 0.0, 0.0, 0.02)),
    )
    return SimulatedJob(name, chance.choice(_OFTEN if often else _SELDOM), chance.choice(_DELAYS), behaviour)


def _draw_accidents(chance: Random, span: timedelta) -> FaultRates:
    """Return a few accidents of some kinds, about so many in the whole span however long it is."""
    about = chance.choice((2, 5, 10)) * (24 * _HOUR / span)
    kinds = [kind for kind in _KINDS if chance.random() < 0.6]
    rates = {kind: about / len(kinds) for kind in kinds}
    return replace(NO_FAULTS, **rates)


def _draw_corrections(clocks: Random, span: timedelta) -> float:
    """Return how often a day the clock is corrected by days: in half of the lives about once or twice in the span."""
    return clocks.choice((0, 0, 1, 2)) * (24 * _HOUR / span)

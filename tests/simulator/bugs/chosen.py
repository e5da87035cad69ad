"""Bugs of chosen seconds: the next one, and the last one."""

from tests.simulator.bugs.mutant import Mutant

CHOSEN = (
    Mutant(
        "a run starts a second before the chosen one",
        "rules/due.py",
        "return decision.chosen_time, max(1, decision.attempts)",
        "return (chosen := decision.chosen_time) and chosen - SECOND, max(1, decision.attempts)",
        ("S1",),
    ),
    Mutant(
        "a run starts two minutes after the chosen second",
        "rules/due.py",
        "return decision.chosen_time, max(1, decision.attempts)",
        "return (chosen := decision.chosen_time) and chosen + SECOND * 120, max(1, decision.attempts)",
        ("L1",),
    ),
    Mutant(
        "a period without a possible second runs when its window opens",
        "rules/due.py",
        "return decision.chosen_time, max(1, decision.attempts)",
        "return decision.chosen_time or decision.window_start, max(1, decision.attempts)",
        ("S1",),
    ),
    Mutant(
        "of windows that overlap the first one is waited for",
        "rules/due.py",
        "while best is None or nominal < shift(best, -self._first):",
        "while best is None:",
        ("L1",),
    ),
    Mutant(
        "a second chosen before its nominal time has not come yet",
        "rules/due.py",
        "nominal = self._timing.schedule.previous(shift(at, -self._first))",
        "nominal = self._timing.schedule.previous(at)",
        ("L1",),
    ),
    Mutant(
        "only the latest period can have come",
        "rules/due.py",
        "while nominal > shift(best or since, -self._last) and (best is not None or patience >= 0):",
        "if True:",
        ("P13",),
        "polling",
    ),
)

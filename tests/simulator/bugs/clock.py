"""Bugs of a clock that is set, forwards or back."""

from tests.simulator.bugs.mutant import Mutant

CLOCKED = (
    Mutant(
        "a start by a clock that was set back forgets what was served",
        "rules/obligation.py",
        "attempt = now if last is None or now > last else last",
        "attempt = now",
        ("S1",),
    ),
    Mutant(
        "a start by a clock that was set back forgets what was served, in the older model",
        "rules/obligation.py",
        "attempt = now if last is None or now > last else last ",
        "attempt = now ",
        ("P3",),
        "polling",
    ),
    Mutant(
        "a leap of the clock goes unnoticed",
        "engine/clock_watch.py",
        "jump = jumped if abs(jumped) >= _NOTEWORTHY else 0.0",
        "jump = 0.0",
        ("L1",),
    ),
    Mutant(
        "a leap of the clock hides that the loop stood still, too",
        "trace/recorder.py",
        "deviation.jump + deviation.late",
        "deviation.jump",
        ("L1",),
    ),
    Mutant(
        "a baseline of a clock that was days ahead is waited for",
        "rules/task_record.py",
        "is_ahead = baseline - now > AHEAD",
        "is_ahead = False",
        ("L1",),
    ),
    Mutant(
        "a baseline of a clock that was days ahead is waited for, in the older model",
        "rules/task_record.py",
        "    if not is_ahead and not is_retry_ahead:",
        "    if not is_retry_ahead:",
        ("P13",),
        "polling",
    ),
    Mutant(
        "a running scheduler does not clamp baselines",
        "engine/tasks/planner.py",
        "if now < self._lowest:",
        "if now < _FIRST:",
        ("L1",),
    ),
    Mutant(
        "a baseline is clamped to an hour before the present",
        "rules/task_record.py",
        "last_attempt=_not_after(attempt, now) if is_ahead else attempt,",
        "last_attempt=_not_after(attempt, now - AHEAD) if is_ahead else attempt,",
        ("S1",),
    ),
    Mutant(
        "a retry that is far ahead takes the start before it along",
        "rules/task_record.py",
        "last_attempt=_not_after(attempt, now) if is_ahead else attempt,",
        "last_attempt=_not_after(attempt, now),",
        ("S1",),
    ),
    Mutant(
        "a retry that is far ahead takes the start before it along, in the older model",
        "rules/task_record.py",
        "_not_after(attempt, now) if is_ahead else attempt",
        "_not_after(attempt, now)",
        ("P3",),
        "polling",
    ),
)

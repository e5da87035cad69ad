"""Bugs of an initialisation: which lists are accepted, and how they are read."""

from tests.simulator.bugs.mutant import Mutant

_WAIT = "await self._clock.wait_until(self._clock.now() + 120 * SECOND, type(self._wake)())"

INITIALISED = (
    Mutant(
        "an initialisation takes two minutes",
        "engine/loop.py",
        "        with self._clock.busy():\n            await self._ledger.open()",
        f"        {_WAIT}\n        with self._clock.busy():\n            await self._ledger.open()",
        ("L2",),
    ),
    Mutant(
        "the end of an initialisation is not emitted",
        "rules/lifecycle.py",
        '_S.INITIALIZING, "all tasks scheduled", _S.RUNNING, ("SchedulerInitializationCompleted",)',
        '_S.INITIALIZING, "all tasks scheduled", _S.RUNNING, ()',
        ("T3",),
    ),
    Mutant(
        "the end of a reload is not emitted",
        "rules/lifecycle.py",
        '_S.REINITIALIZING, "all tasks scheduled", _S.RUNNING, ("SchedulerInitializationCompleted",)',
        '_S.REINITIALIZING, "all tasks scheduled", _S.RUNNING, ()',
        ("P3",),
        "polling",
    ),
    Mutant(
        "an initialisation begins nothing",
        "hosts/library/scheduler.py",
        "            engine.arm()",
        "            pass",
        ("L1",),
    ),
    Mutant(
        "a list is accepted while another one is active",
        "rules/contract.py",
        "initialize_while_active=InitializeWhileActive.REJECT",
        "initialize_while_active=InitializeWhileActive.RECONCILE",
        ("S6",),
    ),
    Mutant(
        "a list stays in force after a failed replacement",
        "hosts/library/scheduler.py",
        "elif self._machine.state is _S.UNINITIALIZED and self._engine is not None:",
        "elif self._machine.state is _S.RUNNING and self._engine is not None:",
        ("P3",),
        "polling",
    ),
    Mutant(
        "a name twice is accepted",
        "rules/registration.py",
        "if name in seen:",
        "if index in seen:",
        ("S6",),
    ),
    Mutant(
        "a cron expression that is none means every minute",
        "rules/registration.py",
        "raise CronExpressionInvalidError(expression=text, field=error.field, reason=error.reason) from error",
        'return self._schedule("* * * * *")',
        ("S6",),
    ),
    Mutant(
        "a name that is empty is accepted",
        "rules/registration.py",
        "if not name or not name.isascii():",
        "if not name.isascii():",
        ("S6",),
    ),
    Mutant(
        "a delay below zero is accepted",
        "rules/registration.py",
        "if retry_delay < ZERO or retry_delay > _FINE:",
        "if retry_delay > _FINE:",
        ("S6",),
    ),
    Mutant(
        "a callback that cannot be awaited is accepted",
        "rules/registration.py",
        "if not is_async_callable(callback):",
        "if not callable(callback):",
        ("S6",),
    ),
    Mutant(
        "a delay of zero is refused",
        "rules/registration.py",
        "            retry_delay = _check_delay(retry_delay)",
        "            retry_delay = _check_delay(retry_delay)\n"
        "        if not retry_delay:\n"
        "            raise NegativeRetryDelayError(retry_delay_ms=0)",
        ("S6",),
    ),
    Mutant(
        "two tasks with the same schedule are refused",
        "rules/registration.py",
        "if name in seen:\n            raise ScheduleDuplicateTaskError(task_name=name)\n        seen.add(name)",
        "if name in seen or cron in seen:\n            raise ScheduleDuplicateTaskError(task_name=name)\n"
        "        seen |= {name, cron}",
        ("S6",),
    ),
    Mutant(
        "a list without tasks is refused",
        "rules/registration.py",
        "if not isinstance(registrations, _LISTS):",
        "if not isinstance(registrations, _LISTS) or not registrations:",
        ("S6",),
    ),
    Mutant(
        "all tasks have the schedule of the first",
        "rules/registration.py",
        "known = self._known.get(text)",
        "known = next(iter(self._known.values()), None)",
        ("L1",),
    ),
    Mutant(
        "the time zone is ignored",
        "rules/registration.py",
        '"timezone": timezone,',
        '"timezone": "UTC",',
        ("L1",),
    ),
    Mutant(
        "the hour that comes twice counts once",
        "rules/contract.py",
        "repeated_minute=RepeatedPolicy.BOTH",
        "repeated_minute=RepeatedPolicy.FIRST",
        ("L1",),
    ),
    Mutant(
        "the hour that comes twice counts twice",
        "rules/registration.py",
        "repeated = contract.repeated_minute or RepeatedPolicy.BOTH",
        "repeated = RepeatedPolicy.BOTH",
        ("P3",),
        "polling",
    ),
)

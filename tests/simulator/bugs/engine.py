"""Bugs of the loop, and of a stop."""

from tests.simulator.bugs.mutant import Mutant

_WAIT = "await self._clock.wait_until(self._clock.now() + 120 * SECOND, type(self._wake)())"

LOOPED = (
    Mutant(
        "every start comes a minute and a second late",
        "engine/tasks/planner.py",
        "            return deadline\n        return now + poll",
        "            return None if deadline is None else deadline + _MINUTE + SECOND\n        return now + poll",
        ("L1",),
    ),
    Mutant(
        "the end of a run does not wake the loop",
        "engine/active_runs.py",
        "self._ended.append(run)\n            self.wake.set()",
        "self._ended.append(run)",
        ("L1",),
    ),
    Mutant(
        "the loop sleeps until the last instant that it knows",
        "engine/agenda.py",
        "first = self._heap[0] if self._heap else None",
        "first = self._heap[-1] if self._heap else None",
        ("L1",),
    ),
    Mutant(
        "of those that are due together only one starts",
        "engine/agenda.py",
        "        places.append(entry)",
        "        if not places:\n            places.append(entry)",
        ("L1",),
    ),
    Mutant(
        "who has run is not looked at again",
        "engine/tasks/step.py",
        "                reschedule(self._agenda, entry, self.now, self._me)\n",
        "",
        ("L1",),
    ),
    Mutant(
        "a failure counts as a success",
        "engine/tasks/step.py",
        "succeeded=error is None",
        "succeeded=at is not None",
        ("L1",),
    ),
    Mutant(
        "an occurrence starts a task that is running",
        "engine/tasks/step.py",
        "entry.record = planned.after",
        "entry.record = planned.after._replace(running_since=None)\n"
        "                self._agenda.schedule(entry, entry.due.next(self.now))",
        ("T2",),
    ),
    Mutant(
        "a step that was not recorded is not undone",
        "engine/loop.py",
        "step.rollback()",
        "pass",
        ("L1",),
    ),
    Mutant(
        "a step that is undone forgets who was due",
        "engine/tasks/step.py",
        "            reschedule(self._agenda, entry, self.now, self._me, first_minute=self._contract.first_minute)\n",
        "",
        ("L1",),
    ),
    Mutant(
        "an end that could not be recorded is lost",
        "engine/loop.py",
        "self._runs.put_back(news)",
        "pass",
        ("S3",),
    ),
    Mutant(
        "an end is not emitted",
        "engine/tasks/planner.py",
        "observers.report(RunObserver.on_ended, step.ends())",
        "pass",
        ("T2",),
    ),
    Mutant(
        "an end is emitted twice",
        "adapters/callback_runner.py",
        "listener.on_ended(run, result)",
        "listener.on_ended(run, result)\n            listener.running[run.run_id] = run  # type: ignore[attr-defined]\n"
        "            listener.on_ended(run, result)",
        ("S4",),
    ),
    Mutant(
        "a start is not emitted",
        "engine/tasks/planner.py",
        "observers.report(RunObserver.on_started, step.starts)",
        "pass",
        ("S4",),
    ),
    Mutant(
        "a dead scheduler goes on",
        "engine/loop.py",
        "        self.pause_starts()\n        self._runs.detach()",
        "        if self._loop is not None:\n            return\n        self._runs.detach()",
        ("T1",),
    ),
)

STOPPED = (
    Mutant(
        "a stop keeps nothing from starting",
        "engine/loop.py",
        "self._hushed = True",
        "self._hushed = False",
        ("S1",),
    ),
    Mutant(
        "a start that is on its way to the disk does not heed a stop",
        "engine/loop.py",
        "if self._hushed and step.starts:",
        "if self._hushed and self._failures and step.starts:",
        ("S1",),
    ),
    Mutant(
        "a stop does not wait for runs",
        "engine/loop.py",
        "if self._hushed and not self._runs.running and self._is_done(written=written):",
        "if self._hushed and self._is_done(written=written):",
        ("S3",),
    ),
    Mutant(
        "a stop does not wait for the engine",
        "hosts/library/scheduler.py",
        "failure = await engine.drain() if engine is not None else None",
        "failure = None",
        ("P9",),
        "polling",
    ),
    Mutant(
        "a stop never returns while there are tasks",
        "engine/loop.py",
        "if self._hushed and not self._runs.running and self._is_done(written=written):",
        "if self._hushed and not (self._runs.running or self._planner.entries) and self._is_done(written=written):",
        ("L3",),
    ),
    Mutant(
        "a stop takes two minutes longer than it must",
        "engine/loop.py",
        "            await self._loop\n        if lost :=",
        f"            await self._loop\n        {_WAIT}\n        if lost :=",
        ("L3",),
    ),
    Mutant(
        "the end of a stop is not emitted",
        "rules/lifecycle.py",
        '_S.STOPPED, ("SchedulerStopped",)',
        "_S.STOPPED, ()",
        ("L3",),
    ),
)

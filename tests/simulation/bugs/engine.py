"""Bugs of the loop, and of a stop."""

from tests.simulation.bugs.mutant import Mutant

_WAIT = "await self._clock.wait_until(self._clock.now() + 120 * SECOND, type(self._wake)())"

LOOPED = (
    Mutant(
        "every start comes a minute and a second late",
        "engine/tasks.py",
        "        return deadline\n\n    def _room",
        "        return None if deadline is None else deadline + _MINUTE + SECOND\n\n    def _room",
        ("L1",),
    ),
    Mutant(
        "the end of a run wakes nobody",
        "engine/tasks.py",
        "self._ended.append(run)\n        self.wake.set()",
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
        "engine/step.py",
        "entry.record = after\n            place(self._agenda, entry, self.now, self._me)",
        "entry.record = after",
        ("L1",),
    ),
    Mutant(
        "a failure counts as a success",
        "engine/step.py",
        "succeeded=error is None",
        "succeeded=at is not None",
        ("L1",),
    ),
    Mutant(
        "an occurrence starts a task that is running",
        "engine/step.py",
        "entry.record = planned.after",
        "entry.record = planned.after._replace(running_since=None)\n"
        "                self._agenda.put(entry, entry.due.next(self.now))",
        ("T2",),
    ),
    Mutant(
        "a step that was not recorded is not undone",
        "engine/engine.py",
        "step.undo()",
        "pass",
        ("L1",),
    ),
    Mutant(
        "a step that is undone forgets who was due",
        "engine/step.py",
        "entry.record = before\n            place(self._agenda, entry, self.now, self._me)",
        "entry.record = before",
        ("L1",),
    ),
    Mutant(
        "an end that could not be recorded is lost",
        "engine/tasks.py",
        "self._ended, self._withdrawn = taken.ended + self._ended, taken.withdrawn + self._withdrawn",
        "self._withdrawn = taken.withdrawn + self._withdrawn",
        ("S3",),
    ),
    Mutant(
        "an end is not told",
        "engine/tasks.py",
        "tell_ends(self._emitter, planned)",
        "pass",
        ("T2",),
    ),
    Mutant(
        "an end is told twice",
        "adapters/callback_runner.py",
        "ended(run, error)",
        "ended(run, error)\n            ended(run, error)",
        ("S4",),
    ),
    Mutant(
        "a start is not told",
        "engine/tasks.py",
        "self._emitter.note_starts([record.name for record in begun], now)",
        "pass",
        ("S4",),
    ),
    Mutant(
        "a dead scheduler goes on",
        "engine/engine.py",
        "        self.hush()\n        self._book.abandon()",
        "        if self._loop is not None:\n            return\n        self._book.abandon()",
        ("T1",),
    ),
)

STOPPED = (
    Mutant(
        "a stop keeps nothing from starting",
        "engine/engine.py",
        "self._hushed = True",
        "self._hushed = False",
        ("S1",),
    ),
    Mutant(
        "a start that is on its way to the disk does not heed a stop",
        "engine/tasks.py",
        "        if not hushed:\n            undisturbed(",
        "        if planned.owed:\n            undisturbed(",
        ("S1",),
    ),
    Mutant(
        "a stop does not wait for runs",
        "engine/engine.py",
        "if self._hushed and not self._book.is_busy() and self._is_done(written=written):",
        "if self._hushed and self._is_done(written=written):",
        ("S3",),
    ),
    Mutant(
        "a stop does not wait for the engine",
        "hosts/library.py",
        "failure = await engine.drain() if engine is not None else None",
        "failure = None",
        ("P9",),
        "polling",
    ),
    Mutant(
        "a stop never returns while there are tasks",
        "engine/engine.py",
        "if self._hushed and not self._book.is_busy() and self._is_done(written=written):",
        "if self._hushed and not (self._book.is_busy() or self._book._entries) and self._is_done(written=written):",
        ("L3",),
    ),
    Mutant(
        "a stop takes two minutes longer than it must",
        "engine/engine.py",
        "            await self._loop\n        self._book.tell_drained()",
        f"            await self._loop\n        {_WAIT}\n        self._book.tell_drained()",
        ("L3",),
    ),
    Mutant(
        "the end of a stop is not told",
        "rules/lifecycle.py",
        '_S.STOPPED, ("SchedulerStopped",)',
        "_S.STOPPED, ()",
        ("L3",),
    ),
)

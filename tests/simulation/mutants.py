"""MUTANTS: bugs that a scheduler could have, as changes to the text of its code, and the properties that see them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutant:
    """A bug: in a module of the package, a text that occurs once, and what stands there instead.

    Under its contract one of the properties `caught_by` is violated.
    """

    name: str
    module: str
    before: str
    after: str
    caught_by: tuple[str, ...]
    contract: str = "declarative"


_WAIT = "await self._clock.wait_until(self._clock.now() + 2 * _MINUTE, Wake())"

_OWED = (
    Mutant(
        "a run that a crash cut off is never owed again",
        "rules/obligation.py",
        "if record.scheduler == me:",
        "if record.scheduler:",
        ("L1",),
    ),
    Mutant(
        "a retry that waits keeps occurrences away",
        "rules/obligation.py",
        "if latest is not None and latest > since:",
        "if latest is not None and latest > since and retry is None:",
        ("L1",),
    ),
    Mutant(
        "an occurrence at the very instant of a start is owed once more",
        "rules/obligation.py",
        "latest is not None and latest > since",
        "latest is not None and latest >= since",
        ("S1",),
    ),
    Mutant(
        "an occurrence that is more than an hour old is forgotten",
        "rules/obligation.py",
        "latest is not None and latest > since",
        "latest is not None and latest > since and (now - latest).total_seconds() < 3600",
        ("L1",),
    ),
    Mutant(
        "a retry does not wait",
        "rules/obligation.py",
        "if retry is not None and retry <= now:",
        "if retry is not None:",
        ("S1",),
    ),
    Mutant(
        "a task owes what came before it, in the same hour",
        "rules/obligation.py",
        "first_seen.replace(second=0",
        "first_seen.replace(minute=0, second=0",
        ("S1",),
    ),
    Mutant(
        "a task owes the last minute before it came",
        "rules/obligation.py",
        "microsecond=0) - MICROSECOND",
        "microsecond=0) - 60_000_001 * MICROSECOND",
        ("S1",),
    ),
    Mutant(
        "the minute in which a task comes is not its own",
        "rules/obligation.py",
        "return first_seen.replace(second=0, microsecond=0) - MICROSECOND",
        "return first_seen",
        ("L1",),
    ),
    Mutant(
        "a task that never ran owes nothing",
        "rules/obligation.py",
        "since = first if attempt is None or attempt < first else attempt",
        "since = now if attempt is None else attempt",
        ("L1",),
    ),
    Mutant(
        "what falls due while a task runs is forgotten",
        "rules/obligation.py",
        "since = first if attempt is None or attempt < first else attempt",
        "since = first if attempt is None else max(attempt, record.last_success or attempt)",
        ("L1",),
    ),
    Mutant(
        "a retry waits for the next occurrence",
        "rules/obligation.py",
        "else min(coming, record.retry_until)",
        "else max(coming, record.retry_until)",
        ("L1",),
    ),
    Mutant(
        "every other occurrence is passed over",
        "rules/obligation.py",
        "coming = due.next(now)",
        "coming = due.next(due.next(now) or now)",
        ("L1",),
    ),
    Mutant(
        "an occurrence has not come at its own instant",
        "rules/due.py",
        "if not self._past <= at < self._coming:",
        "if not self._past <= at <= self._coming:",
        ("L1",),
    ),
)

_PLANNED = (
    Mutant(
        "a start is not remembered",
        "rules/plan.py",
        "first, now, success, failure, None, retries, now, me",
        "first, record.last_attempt, success, failure, None, retries, now, me",
        ("S1",),
    ),
    Mutant(
        "a run in flight is not remembered",
        "rules/plan.py",
        "None, retries, now, me",
        'None, retries, None, ""',
        ("L1",),
    ),
    Mutant(
        "a restart does not count as a start",
        "rules/plan.py",
        "first, now, success, failure, None",
        "first, record.last_attempt if owed.why is Why.ORPHANED else now, success, failure, None",
        ("P11",),
        "polling",
    ),
    Mutant(
        "a retry comes after half its delay",
        "rules/plan.py",
        "retry = ended + delay",
        "retry = ended + delay / 2",
        ("S1",),
    ),
    Mutant(
        "a retry comes after twice its delay",
        "rules/plan.py",
        "retry = ended + delay",
        "retry = ended + 2 * delay",
        ("L1",),
    ),
    Mutant(
        "the delay of a retry counts from the start of the run",
        "rules/plan.py",
        "retry = ended + delay",
        "retry = (attempt or ended) + delay",
        ("S1",),
    ),
    Mutant(
        "a failure leaves no retry",
        "rules/plan.py",
        "success, ended, retry, count, None, owner",
        "success, ended, None, count, None, owner",
        ("L1",),
    ),
    Mutant(
        "a failure owes its occurrence again",
        "rules/plan.py",
        "attempt, success, ended, retry",
        "None, success, ended, retry",
        ("S1",),
    ),
    Mutant(
        "a success is followed by a retry",
        "rules/plan.py",
        "ended, failure, None, 0, None, owner",
        "ended, failure, ended + delay, 0, None, owner",
        ("P12",),
        "polling",
    ),
    Mutant(
        "a success forgets when it started",
        "rules/plan.py",
        "attempt, ended, failure, None, 0",
        "None, ended, failure, None, 0",
        ("S2",),
    ),
    Mutant(
        "a run that succeeded still counts as in flight",
        "rules/plan.py",
        "ended, failure, None, 0, None, owner",
        "ended, failure, None, 0, ended, owner",
        ("S2",),
    ),
)

_DECLARED = (
    Mutant(
        "a cut-off run is taken for ended by the next list",
        "rules/override.py",
        "if cut_off and contract.interrupted_run is Interrupted.RESTART:",
        "if cut_off and changed and contract.interrupted_run is Interrupted.RESTART:",
        ("L1",),
    ),
    Mutant(
        "a cut-off run is taken for one's own",
        "rules/override.py",
        "return Override(Kind.ORPHANED, before, after, changed)",
        "return Override(Kind.ORPHANED, before, after._replace(scheduler=me), changed)",
        ("P10",),
        "polling",
    ),
    Mutant(
        "a task that never ran begins anew with each list",
        "rules/override.py",
        "    after = before\n    if changed:",
        "    after = before if before.last_attempt else before._replace(first_seen=now)\n    if changed:",
        ("L1",),
    ),
    Mutant(
        "a changed retry delay is ignored",
        "rules/override.py",
        "before._replace(cron=task.cron, retry_delay=task.retry_delay)",
        "before._replace(cron=task.cron)",
        ("L1", "S1"),
    ),
    Mutant(
        "a changed task forgets what it owes",
        "rules/override.py",
        "if changed and contract.changed_task_history is History.RESET:",
        "if changed:",
        ("L1",),
    ),
    Mutant(
        "a changed task keeps what it should forget",
        "rules/override.py",
        "if changed and contract.changed_task_history is History.RESET:",
        "if changed and contract.changed_task_history is None:",
        ("P3",),
        "polling",
    ),
    Mutant(
        "a changed task keeps its retry",
        "rules/override.py",
        "fresh = TaskRecord(task.name, task.cron, task.retry_delay, now, scheduler=owner)",
        "fresh = TaskRecord(\n"
        "            task.name, task.cron, task.retry_delay, now, scheduler=owner, retry_until=before.retry_until\n"
        "        )",
        ("P3",),
        "polling",
    ),
    Mutant(
        "a changed task owes what came before its change",
        "rules/override.py",
        "fresh = TaskRecord(task.name, task.cron, task.retry_delay, now, scheduler=owner)",
        "fresh = TaskRecord(task.name, task.cron, task.retry_delay, before.first_seen, scheduler=owner)",
        ("P3",),
        "polling",
    ),
    Mutant(
        "a task that is changed while it runs starts beside itself",
        "rules/override.py",
        "if before.running_since is not None and not cut_off:",
        "if cut_off:",
        ("P2",),
        "polling",
    ),
    Mutant(
        "a task that is removed while it runs and comes back starts beside itself",
        "engine/declaration.py",
        "if override.kind is Kind.NEW and task.name in running:",
        "if override.kind is Kind.ORPHANED and task.name in running:",
        ("P2",),
        "polling",
    ),
    Mutant(
        "a removed task comes back with its history",
        "engine/declaration.py",
        "forgotten = [gone.before.name for gone in overrides[len(tasks) :] if gone.before is not None]",
        "forgotten: list[str] = []",
        ("S1",),
    ),
    Mutant(
        "a changed schedule is ignored",
        "engine/declaration.py",
        "Entry(task.callback, task.due, record)",
        "Entry(task.callback, declared[record.name].due if record.name in declared else task.due, record)",
        ("P13",),
        "polling",
    ),
    Mutant(
        "a removed task goes on",
        "engine/engine.py",
        "self._entries, self._stored, self._agenda = made.entries, None, Agenda()",
        "self._entries, self._stored = made.entries, None",
        ("P3",),
        "polling",
    ),
    Mutant(
        "a reload forgets what has run",
        "engine/engine.py",
        "{name: entry.record for name, entry in self._entries.items()}",
        "{name: entry.record._replace(last_attempt=None) for name, entry in self._entries.items()}",
        ("P4",),
        "polling",
    ),
    Mutant(
        "an added task is ignored",
        "engine/engine.py",
        "if place(self._agenda, entry, now, self._me)}",
        "if name in stored and place(self._agenda, entry, now, self._me)}",
        ("L1",),
    ),
    Mutant(
        "a list is not remembered",
        "engine/engine.py",
        "            if made.batch:\n",
        "            if not tasks:\n",
        ("L1",),
    ),
    Mutant(
        "what is remembered is not read",
        "engine/engine.py",
        "self._stored = await self._ledger.load()",
        "self._stored = {}",
        ("L1",),
    ),
)

_LOOPED = (
    Mutant(
        "every start comes a minute and a second late",
        "engine/engine.py",
        "else coming if latest is None else min(latest, coming)",
        "else coming + _MINUTE + SECOND if latest is None else min(latest, coming)",
        ("L1",),
    ),
    Mutant(
        "the end of a run wakes nobody",
        "engine/engine.py",
        "self._ended.append(run)\n        self._wake.set()",
        "self._ended.append(run)",
        ("L1",),
    ),
    Mutant(
        "the loop sleeps until the last instant that it knows",
        "engine/agenda.py",
        "+ self._heap[:1]",
        "+ self._heap[-1:]",
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
        "engine/engine.py",
        "self._ended, self._withdrawn = ended + self._ended, withdrawn + self._withdrawn",
        "self._withdrawn = withdrawn + self._withdrawn",
        ("S3",),
    ),
    Mutant(
        "an end is not told",
        "engine/engine.py",
        "tell_ends(self._emitter, step)",
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
        "engine/engine.py",
        "self._emitter.note_start(name, now)",
        "pass",
        ("S4",),
    ),
    Mutant(
        "a dead scheduler goes on",
        "engine/engine.py",
        "        self.hush()\n        self._runner.abandon()",
        "        if self._armed_at:\n            return\n        self._runner.abandon()",
        ("T1",),
    ),
)

_STOPPED = (
    Mutant(
        "a stop keeps nothing from starting",
        "engine/engine.py",
        "self._hushed = True",
        "self._hushed = False",
        ("S1",),
    ),
    Mutant(
        "a start that is on its way to the disk does not heed a stop",
        "engine/engine.py",
        "        if not self._hushed:\n            with collector_paused():",
        "        if step.owed:\n            with collector_paused():",
        ("S1",),
    ),
    Mutant(
        "a stop does not wait for runs",
        "engine/engine.py",
        "if self._hushed and not self._running and self._is_done(written=written):",
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
        "if self._hushed and not self._running and self._is_done(written=written):",
        "if self._hushed and not self._running and not self._entries and self._is_done(written=written):",
        ("L3",),
    ),
    Mutant(
        "a stop takes two minutes longer than it must",
        "engine/engine.py",
        "            await self._loop\n        if self._ended:",
        f"            await self._loop\n        {_WAIT}\n        if self._ended:",
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

_INITIALISED = (
    Mutant(
        "an initialisation takes two minutes",
        "engine/engine.py",
        "        with self._clock.working():\n            await self._ledger.open()",
        f"        {_WAIT}\n        with self._clock.working():\n            await self._ledger.open()",
        ("L2",),
    ),
    Mutant(
        "the end of an initialisation is not told",
        "rules/lifecycle.py",
        '_S.INITIALIZING, "all tasks scheduled", _S.RUNNING, ("SchedulerInitializationCompleted",)',
        '_S.INITIALIZING, "all tasks scheduled", _S.RUNNING, ()',
        ("T3",),
    ),
    Mutant(
        "the end of a reload is not told",
        "rules/lifecycle.py",
        '_S.REINITIALIZING, "all tasks scheduled", _S.RUNNING, ("SchedulerInitializationCompleted",)',
        '_S.REINITIALIZING, "all tasks scheduled", _S.RUNNING, ()',
        ("P3",),
        "polling",
    ),
    Mutant(
        "an initialisation begins nothing",
        "hosts/library.py",
        "            engine.arm()",
        "            pass",
        ("L1",),
    ),
    Mutant(
        "a list is accepted while another one is active",
        "rules/contract.py",
        "initialize_while_active=WhileActive.REJECT",
        "initialize_while_active=WhileActive.RECONCILE",
        ("S6",),
    ),
    Mutant(
        "a list goes on after it was to be replaced in vain",
        "hosts/library.py",
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
        "rules/reader.py",
        "raise CronExpressionInvalidError(expression=text, field=error.field, reason=error.reason) from error",
        'return Occurrences(self._schedule("* * * * *"))',
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
        "a callback that nobody can wait for is accepted",
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
        "rules/reader.py",
        "known = self._known.get(text)",
        "known = next(iter(self._known.values()), None)",
        ("L1",),
    ),
    Mutant(
        "the time zone is ignored",
        "rules/reader.py",
        '"timezone": timezone,',
        '"timezone": "UTC",',
        ("L1",),
    ),
    Mutant(
        "the hour that comes twice counts once",
        "rules/contract.py",
        "repeated_minute=Repeated.BOTH",
        "repeated_minute=Repeated.FIRST",
        ("L1",),
    ),
    Mutant(
        "the hour that comes twice counts twice",
        "rules/reader.py",
        "repeated = contract.repeated_minute or Repeated.BOTH",
        "repeated = Repeated.BOTH",
        ("P3",),
        "polling",
    ),
)

MUTANTS = (*_OWED, *_PLANNED, *_DECLARED, *_LOOPED, *_STOPPED, *_INITIALISED)

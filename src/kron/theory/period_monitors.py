"""PeriodMonitors: the periods that a trace of decisions and outcomes names, by job, and the letters each one reads."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from kron.errors import InvalidInstantError
from kron.instant import EPOCH, MICROSECOND, parse_instant
from kron.theory.alphabet import EVENTS, LETTERS
from kron.theory.evaluator import Evaluator
from kron.theory.formula import Letter
from kron.theory.period_instances import LONG_AGO, Decided, JobInstances, JobTerms, Microseconds, PeriodInstance
from kron.theory.properties import PropertySuite, Scope
from kron.theory.property_monitor import MonitorInstance, PropertyMonitor
from kron.theory.trace_format import TracedRecord, TracedTask, TraceEvent

_MILLISECOND: Microseconds = 1_000
_OUTCOMES = {
    "executed": frozenset({"Outcome", "Executed"}),
    "skipped": frozenset({"Outcome", "Skipped"}),
    "missed": frozenset({"Outcome", "Missed"}),
    "unschedulable": frozenset({"Outcome", "Unschedulable"}),
}
_FIRST_ATTEMPTS = (None, 0, 1)  # hosts that do not retry name none


class PeriodMonitors:
    """The subjects of the properties of periods. Its memory depends on the number of jobs."""

    def __init__(self, suite: PropertySuite, court: Evaluator, slack: int) -> None:
        """`slack`, in milliseconds, is what the host adds to deadlines while it runs."""
        self._court, self._slack = court, slack * _MILLISECOND
        self.jury = PropertyMonitor(suite.of(Scope.PERIOD))
        self.running: set[MonitorInstance] = set()
        self._jobs: dict[str, JobInstances] = {}
        self._stranger = MonitorInstance(
            "", self.jury.initial(), -1, self.jury.no_pending
        )  # the state of a job that the trace has not named yet
        self._armed = LONG_AGO
        self.readers: Mapping[str, Callable[[TraceEvent], None]] = {
            "Decision": self._on_decision,
            "Outcome": self._on_outcome,
            "Suspended": self._on_suspension,
            "Resumed": self._on_suspension,
        }

    def members(self) -> Iterable[MonitorInstance]:
        """Return all that are remembered."""
        return (period for job in self._jobs.values() for period in job.periods.values())

    def meet(self, event: TraceEvent) -> None:
        """Know the job and the period of an event before the events of its position are taken."""
        if event.subject:
            job = self._job(event)
            if "period" in event.fields:
                self._period(job, event)
            elif "task" in event.fields:
                job.period(None, "", self.running)

    def on_run(self, position: TraceEvent) -> None:
        """Take the start or the end of an attempt. Without a period it is no execution of the schedule."""
        job = self._job(position)
        has_period = "period" in position.fields
        period = self._period(job, position) if has_period else job.period(None, "", self.running)
        seen = {EVENTS[position.kind].atom}
        if position.kind != "RunStart":
            self.running.discard(period)
            if has_period and position.kind == "RunSuccess":
                seen.add("Success")
        else:
            if has_period:
                seen |= self._start(job, period, position.fields)
            self.running.add(period)
        self._tell(period, frozenset(seen))

    def _start(self, job: JobInstances, period: PeriodInstance, fields: Mapping[str, object]) -> set[str]:
        """Take the start of an attempt of a period, and return the atoms beside it."""
        attempt, retries = fields.get("attempt"), fields.get("retries")
        seen = job.execute(period, self._court.line) if attempt in _FIRST_ATTEMPTS else set[str]()
        seen |= job.overlap(period, self.running)
        number = attempt if isinstance(attempt, int) else 1
        return seen | period.start(self._now(), number, retries if isinstance(retries, int) else None)

    def on_armed(self) -> None:
        """Take an arming after a time without a list: whatever was chosen before is late from now on."""
        self._armed = self._now()
        for job in self._jobs.values():
            job.armed = self._armed

    def on_init_success(
        self, registrations: Sequence[TracedTask], seen: set[str], _memories: Mapping[str, TracedRecord]
    ) -> None:
        """Take a list that became the current one."""
        self._court.listed = len(registrations)
        self.step_all(frozenset(seen))

    def step_all(self, letter: Letter) -> None:
        """Advance all subjects by a letter, also the state of those not named yet."""
        for job in self._jobs.values():
            self._tell_job(job, letter)
        self._tell_stranger(self._stranger, letter)

    def _on_decision(self, position: TraceEvent) -> None:
        fields = position.fields
        chosen = None if fields["chosen"] is None else self._instant(position, "chosen")
        window = self._instant(position, "windowStart"), self._instant(position, "windowEnd")
        decided = Decided(chosen, window, self._text(position, "seedHash"))
        definition = self._text(position, "definition")
        job = self._job(position)
        period = self._period(job, position)
        job.expect(period, decided)
        self._tell(period, frozenset({"Decision", *period.decide(definition, decided, _terms(fields))}))

    def _on_outcome(self, position: TraceEvent) -> None:
        letter = _OUTCOMES.get(self._text(position, "outcome"))
        if letter is None:
            found = position.fields["outcome"]
            raise self._court.invalid_event("outcome", found, f"must be one of {', '.join(_OUTCOMES)}")
        period = self._period(self._job(position), position)
        period.has_outcome = True
        accepted = position.fields.get("acceptedMs")
        if isinstance(accepted, int):
            slack = position.fields.get("slackMs")
            by = slack * _MILLISECOND if isinstance(slack, int) else self._slack
            letter |= period.accept(accepted * _MILLISECOND, by)
        self._tell(period, letter | {"Forgotten"} if period.is_forgotten else letter)

    def _on_suspension(self, position: TraceEvent) -> None:
        job = self._job(position)
        if job.is_suspended and position.kind == "Resumed":
            job.armed = self._now()
        job.is_suspended = position.kind == "Suspended"
        self._tell_job(job, LETTERS[position.kind])

    # --- subjects of events -------------------------------------------------------------------------------------------

    def _job(self, position: TraceEvent) -> JobInstances:
        name = position.subject
        job = self._jobs.get(name)
        if job is None:
            job = self._jobs[name] = JobInstances(name, self._stranger, self._armed)
        return job

    def _period(self, job: JobInstances, position: TraceEvent) -> PeriodInstance:
        """Return the period of an event: one nominal instant is one period, whatever zone its text is in."""
        text = self._text(position, "period")
        return job.period(self._instant(position, "period"), text, self.running)

    def _instant(self, position: TraceEvent, field: str) -> Microseconds:
        found = position.fields[field]
        if isinstance(found, int) and not isinstance(found, bool):
            return found * _MILLISECOND
        try:
            return _microseconds(found if isinstance(found, str) else str(found))
        except InvalidInstantError as error:
            reason = "must be an RFC 3339 text" + ("" if field == "period" else " or a whole number of milliseconds")
            raise self._court.invalid_event(field, found, reason) from error

    def _text(self, position: TraceEvent, field: str) -> str:
        found = position.fields[field]
        if not isinstance(found, str):
            raise self._court.invalid_event(field, found, "must be a text")
        return found

    def _now(self) -> Microseconds:
        return self._court.clock * _MILLISECOND

    # --- telling ------------------------------------------------------------------------------------------------------

    def _tell(self, period: PeriodInstance, letter: Letter) -> None:
        self._court.step(self.jury, period, letter)
        period.lines[self._court.event] = self._court.line

    def _tell_job(self, job: JobInstances, letter: Letter) -> None:
        for period in job.periods.values():
            self._tell(period, letter)
        self._tell_stranger(job.stranger, letter)

    def _tell_stranger(self, stranger: MonitorInstance, letter: Letter) -> None:
        self._court.step_default(self.jury, stranger, letter)
        stranger.lines[self._court.event] = self._court.line


@lru_cache(maxsize=256)  # the events of a run name the same few instants
def _microseconds(text: str) -> Microseconds:
    return (parse_instant(text) - EPOCH) // MICROSECOND


def _terms(fields: Mapping[str, object]) -> JobTerms:
    deadline, retries = fields.get("deadlineMs"), fields.get("retries")
    return JobTerms(
        deadline * _MILLISECOND if isinstance(deadline, int) else None,
        fields.get("concurrency") == "forbid",
        retries if isinstance(retries, int) else None,
    )

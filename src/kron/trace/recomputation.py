"""Recomputation: decides the lines of a trace again, and reports those that come out differently.

A Decision is made again from its definition, which has to be a schedule line, its identity and its period. The Dues of
a trace that names them are computed from its lists. Only the definitions are trusted.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.errors import CronCalculationError, KronError, OutOfRangeError
from kron.instant import Instant, format_instant, from_epoch_milliseconds, parse_instant
from kron.jobfile.job import Job
from kron.rules.contract import PRESETS
from kron.theory.alphabet import Owner
from kron.theory.formula import Always, Atom, TruthValue
from kron.theory.properties import Property, Scope
from kron.theory.results import PropertyResult
from kron.theory.trace_format import TraceEvent, TraceHeader, TracePosition, clock_of, events_of
from kron.trace.due_events import DueEventInserter

RECOMPUTED = Property(
    "R", "Decisions and Dues come out the same when recomputed.", Always(Atom("Recomputed")), scope=Scope.HEADER
)
_NAMED = 100  # differences that are kept; the rest is counted
_NONE = "none"


class Mismatch(NamedTuple):
    """One field of a line, counted from 0, that says something else than its definition."""

    line: int
    event: str
    about: str
    field: str
    recorded: str
    recomputed: str

    def __str__(self) -> str:
        """Say it."""
        what = f"{self.about}: {self.field} of {self.event} at {self.line}"
        return f"{what} was recorded as {self.recorded}, and is {self.recomputed}"

    def to_fields(self) -> dict[str, object]:
        """Return it as JSON has it."""
        fields = self._asdict()
        return {"at": fields.pop("line"), **fields}


class Recomputation:
    """Reads one trace, whose lines must be sound."""

    def __init__(self, header: TraceHeader, *, names_dues: bool) -> None:
        self.compared: Counter[str] = Counter()  # by event
        self.skipped: Counter[str] = Counter()  # those without a definition that can be read
        self.first_skipped = ""
        self.mismatches: list[Mismatch] = []
        self.found = 0
        self._line = -1
        self._recorded: list[tuple[int, TraceEvent, bool]] = []  # Dues since the last other line; whether in the list
        self._expected: list[TraceEvent] = []
        self._naming: DueEventInserter | None = None
        if names_dues:
            self._naming = DueEventInserter(PRESETS[header.contract], header.timezone, self._expect)

    def _expect(self, line: TracePosition) -> None:
        self._expected += events_of(line)

    def check(self, line: TracePosition) -> None:
        """Take the next line."""
        self._line += 1
        for event in events_of(line):
            self._read_event(event)

    def _read_event(self, position: TraceEvent) -> None:
        if position.kind == "Decision":
            self._decide(position)
        elif position.kind == "Due" and self._naming is not None:
            self._recorded.append((self._line, position, self._naming.is_listed(position.subject)))
        elif self._naming is not None:
            self._compare_dues(position)

    def finding(self) -> PropertyResult:
        """Return the result, in the form of a property's."""
        if self._recorded:  # after the last other line
            self._compare_dues(self._recorded[-1][1]._replace(kind="Thaw"))
        if not self.mismatches:
            return PropertyResult(RECOMPUTED, TruthValue.HOLDS, blame=Owner.SCHEDULER)
        first = self.mismatches[0]
        blame = Owner.SCHEDULER if first.event == "Decision" else Owner.ENVIRONMENT
        lines = tuple(dict.fromkeys(each.line for each in self.mismatches))
        return PropertyResult(RECOMPUTED, TruthValue.VIOLATED, first.line, first.about, blame, str(first), lines)

    def summary(self) -> str:
        """Say how much was recomputed."""
        compared = ", ".join(f"{count:,} {event}" for event, count in self.compared.items()) or "nothing"
        skipped = ", ".join(f"{count:,} {event}" for event, count in self.skipped.items())
        more = f"; could not be: {skipped} ({self.first_skipped})" if skipped else ""
        return f"recomputed: {compared}; different: {self.found:,}{more}"

    def to_fields(self) -> dict[str, object]:
        """Return it as JSON has it."""
        return {
            "compared": dict(self.compared),
            "skipped": dict(self.skipped),
            "different": self.found,
            "differences": [each.to_fields() for each in self.mismatches],
        }

    def _differ(self, difference: Mismatch) -> None:
        self.found += 1
        if len(self.mismatches) < _NAMED:
            self.mismatches.append(difference)

    def _skip(self, event: str, reason: str) -> None:
        self.skipped[event] += 1
        self.first_skipped = self.first_skipped or f"at {self._line}: {reason}"

    # --- decisions ----------------------------------------------------------------------------------------------------

    def _decide(self, position: TraceEvent) -> None:
        fields: Mapping[str, Any] = position.fields
        timing = _timing(fields["definition"], fields["identity"])
        if isinstance(timing, str):
            self._skip("Decision", timing)
            return
        self.compared["Decision"] += 1
        for field, recorded, recomputed in _fields(timing, parse_instant(fields["period"]), fields):
            if recorded != recomputed:
                self._differ(Mismatch(self._line, "Decision", position.subject, field, recorded, recomputed))

    # --- dues ---------------------------------------------------------------------------------------------------------

    def _compare_dues(self, position: TraceEvent) -> None:
        assert self._naming is not None
        self._naming(position)
        expected = self._expected.pop()
        self._settle_dues(self._line)
        if position.kind in ("InitSuccess", "ClockSet"):
            self._compare_last(position, expected)

    def _settle_dues(self, line: int) -> None:
        """Hold the Dues between two other lines against those that there should be."""
        recorded, expected = self._recorded[:], self._expected[:]
        self._recorded.clear()
        self._expected.clear()
        due = Counter(map(_key, expected))
        strange: list[tuple[int, TraceEvent]] = []
        for number, position, is_listed in recorded:
            if not is_listed:
                self._skip("Due", f"no list that can be read names {position.subject}")
                continue
            self.compared["Due"] += 1
            if due[_key(position)]:
                due[_key(position)] -= 1
            else:
                strange.append((number, position))
        missing = list(due.elements())
        for number, position in strange:
            instead = next((key for key in missing if key[1] == position.subject), None)
            if instead is not None:
                missing.remove(instead)
            recomputed = _NONE if instead is None else _text(instead[0])
            self._differ(Mismatch(number, "Due", position.subject, "t", _text(clock_of(position)), recomputed))
        for clock, task in missing:
            self._differ(Mismatch(line, "Due", task, "t", _NONE, _text(clock)))

    def _compare_last(self, recorded: TraceEvent, recomputed: TraceEvent) -> None:
        one: Any = recorded.fields.get("lastDue", {})
        other: Any = recomputed.fields.get("lastDue", {})
        for task in [task for task in {**one, **other} if one.get(task) != other.get(task)]:
            texts = [_text(found[task]) if task in found else _NONE for found in (one, other)]
            self._differ(Mismatch(self._line, "InitSuccess", task, "lastDue", *texts))


@lru_cache(maxsize=4096)
def _timing(definition: str, identity: str) -> Timing | str:
    """Return the timing of a definition, or why it cannot be read."""
    try:
        return Job.parse(definition, identity=identity).timing
    except KronError as error:
        return f"its definition is no schedule line: {error.message}"


def _fields(timing: Timing, nominal: Instant, recorded: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the fields of a decision, each as it was recorded and as it is."""
    try:
        period = timing.schedule.previous(nominal)
        decision = decide(timing, nominal)
    except (CronCalculationError, OutOfRangeError):
        yield "period", format_instant(nominal), _NONE
        return
    if period != nominal:
        yield "period", format_instant(nominal), f"{_NONE}; the one before is {format_instant(period)}"
        return
    for field, at in (
        ("windowStart", decision.window_start),
        ("windowEnd", decision.window_end),
        ("chosen", decision.chosen_time),
    ):
        yield field, _recorded(recorded[field]), _NONE if at is None else format_instant(at)
    yield "seedHash", recorded["seedHash"], decision.seed_hash


def _recorded(value: object) -> str:
    """Return an instant as a trace may have it, as it is shown."""
    if value is None:
        return _NONE
    return _text(value) if isinstance(value, int) else format_instant(parse_instant(str(value)))


def _key(position: TraceEvent) -> tuple[int, str]:
    return clock_of(position), position.subject


def _text(t: int) -> str:
    try:
        return format_instant(from_epoch_milliseconds(t))
    except OverflowError:
        return str(t)

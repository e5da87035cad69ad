"""LogReplay: the lines of a log of krond or kron-operator -> each decision in it, computed again and compared."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kron.console.output import pluralize
from kron.cron.zone import tzdata_release
from kron.decision.decide import replay
from kron.decision.decision import Decision
from kron.errors import KronError
from kron.instant import format_instant
from kron.rules.decision_range import FIELD, DecisionRange

_MADE, _DROPPED = "DecisionMade", "EventsDropped"


class Replayed(NamedTuple):
    """A decision of a log as it is computed here; `recorded` is None where the log has only its definition."""

    line: int  # of the log, counted from 1
    event: str
    decision: Decision
    recorded: Decision | None = None
    differs: Sequence[str] = ()  # fields in which the record says something else

    def to_dict(self) -> dict[str, object]:
        """Return it as one line of JSON holds it."""
        recorded = self.recorded
        return {
            **self.decision.to_dict(),
            "line": self.line,
            "event": self.event,
            "same": None if recorded is None else not self.differs,
            "differs": list(self.differs),
            "recorded_with": None if recorded is None else recorded.tzdata_version,
        }

    def __str__(self) -> str:
        """Return it as one line for people."""
        decision, old, new = self.decision, {}, {}
        if self.recorded is not None:
            old, new = self.recorded.to_dict(), decision.to_dict()
        chosen = "none" if decision.chosen_time is None else format_instant(decision.chosen_time)
        changes = ", ".join(f"{name} recorded {old[name]}, here {new[name]}" for name in self.differs)
        if changes and self.recorded is not None and self.recorded.tzdata_version != decision.tzdata_version:
            changes += f" (recorded with time zone data {self.recorded.tzdata_version}, here {decision.tzdata_version})"
        verdict = f"differs: {changes}" if changes else "computed" if self.recorded is None else "same"
        return f"{chosen:<20}  {decision.identity}  {decision.period_id}  {verdict}"


class ReplayProblem(NamedTuple):
    """A decision of a log that cannot be computed again, or a range that does not hold what it says."""

    line: int
    reason: str


def differences(recorded: Decision, computed: Decision) -> list[str]:
    """Return the fields of a decision that come out differently, but for the version of the time zone data."""
    before, after = recorded.to_dict(), computed.to_dict()
    return [name for name in before if after[name] != before[name] and name != "tzdata_version"]


class LogReplay:
    """Reads one log, line by line. It keeps one decision for each identity, and no more."""

    def __init__(self) -> None:
        self.events = self.recorded = self.ranges = self.computed = self.different = self.problems = 0
        self._not_json = self._first_not_json = self._dropped = self._cut_off = 0
        self._elsewhere: Counter[str] = Counter()  # decisions, by time zone data that is not the one here
        self._latest: dict[str, Decision] = {}  # by identity: the last period of a range is recorded before the range

    def read(self, lines: Iterable[bytes]) -> Iterator[Replayed | ReplayProblem]:
        """Yield each decision in the order of the log, and what is wrong with it."""
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            found = _object_in(line)
            if found is None:
                self._note_foreign(number, line)
                continue
            self.events += 1
            try:
                for each in self._decisions(number, found):
                    self.different += isinstance(each, Replayed) and bool(each.differs)
                    self.problems += isinstance(each, ReplayProblem)
                    yield each
            except KronError as error:
                self.problems += 1
                yield ReplayProblem(number, error.message)

    def notes(self) -> Iterator[str]:
        """Yield what else there is to know about the log, once it is read."""
        if self._not_json:
            were = "line is" if self._not_json == 1 else "lines are"
            yield f"{self._not_json:,} {were} not JSON and left out, the first is line {self._first_not_json}"
        if self._cut_off:
            yield f"line {self._cut_off}: the log ends inside of this line; it is left out"
        for version, number in sorted(self._elsewhere.items()):
            were = "was" if number == 1 else "were"
            yield (
                f"{pluralize(number, 'decision')} {were} recorded with time zone data {version}, "
                f"and computed here with {tzdata_release()}"
            )
        if self._dropped:
            yield f"the host dropped {pluralize(self._dropped, 'event')}: decisions may be missing in the log"

    def summary(self) -> str:
        """Say how many decisions there are, and how many come out differently."""
        total = pluralize(self.recorded + self.computed, "decision")
        ranges = f"{self.computed:,} computed from {pluralize(self.ranges, 'range')}"
        return f"{total}: {self.recorded:,} recorded, {ranges}; {self.different + self.problems:,} differ or fail"

    def _note_foreign(self, number: int, line: bytes) -> None:
        if b"{" in line and not line.endswith(b"\n"):
            self._cut_off = number
        else:
            self._not_json += 1
            self._first_not_json = self._first_not_json or number

    def _decisions(self, number: int, found: Mapping[str, Any]) -> Iterator[Replayed | ReplayProblem]:
        event = str(found.get("event", ""))
        if FIELD in found:
            yield from self._of_range(number, event, DecisionRange.from_dict(found[FIELD]))
        elif event == _MADE or "decision" in found or "algorithm_version" in found:
            yield self._of_record(number, event, Decision.from_dict(found.get("decision", found)))
        elif event == _DROPPED and isinstance(found.get("count"), int):
            self._dropped += found["count"]

    def _of_record(self, number: int, event: str, recorded: Decision) -> Replayed:
        self.recorded += 1
        self._latest[recorded.identity] = recorded
        computed = replay(recorded)
        if recorded.tzdata_version != computed.tzdata_version:
            self._elsewhere[recorded.tzdata_version] += 1
        return Replayed(number, event, computed, recorded, differences(recorded, computed))

    def _of_range(self, number: int, event: str, found: DecisionRange) -> Iterator[Replayed | ReplayProblem]:
        self.ranges += 1
        if wrong := found.contradiction():
            yield ReplayProblem(number, wrong)
            return
        known = self._latest.get(found.identity)
        for decision in found.decisions():
            if known is None or known.nominal_time != decision.nominal_time:
                self.computed += 1
                yield Replayed(number, event, decision)
            elif differs := differences(known, decision):  # else it is listed already
                yield Replayed(number, event, decision, known, differs)


def _object_in(line: bytes) -> Mapping[str, Any] | None:
    """Return the JSON object of a line; journals and Kubernetes put a time or a name before it."""
    try:
        found = json.loads(line[line.index(b"{") :])
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None

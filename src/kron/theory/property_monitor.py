"""PropertyMonitor: one automaton for all properties of a scope, its states, and their labels."""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from kron.theory.automaton import Automaton
from kron.theory.formula import Always, EventuallyWithin, Formula, Implies, Letter, TruthValue
from kron.theory.properties import Property
from kron.theory.trace_format import TracedTask


class StateLabels(NamedTuple):
    """What a state says: which properties are broken, and of each timed one, whether it is asked for or ended."""

    violated: tuple[Property, ...]
    triggered: tuple[int, ...]  # places among the timed ones
    discharged: tuple[int, ...]

    def update(self, debts: "PendingResponses", debt: "PendingResponse") -> "PendingResponses":
        """Return the pending responses from now on: without discharged ones, with triggered ones as new."""
        return tuple(
            None if place in self.discharged else debt if old is None and place in self.triggered else old
            for place, old in enumerate(debts)
        )


class MonitorState:
    """A state, the state before the last letter, and the labels; each such object is made once."""

    __slots__ = ("after_next", "after_stutter", "is_clean", "labels", "previous", "state")

    def __init__(self, before: int, state: int, marks: StateLabels | None, *, is_quiet: bool = False) -> None:
        """Without labels it was not looked at yet; it is clean if no property is violated or pending."""
        self.previous, self.state, self.labels, self.is_clean = before, state, marks, is_quiet
        self.after_next: dict[
            Letter, MonitorState
        ] = {}  # where a letter at the next position leads, as far as it was asked for
        self.after_stutter: dict[Letter, MonitorState] = {}  # the same for one that comes later


class PendingResponse(NamedTuple):
    """What subjects are owed together; each of them has the very same, until it is paid."""

    deadline: int  # in active time
    line: int  # since which it is owed


PendingResponses = tuple[PendingResponse | None, ...]
"""What a subject is owed, of each timed property; None: nothing."""


class PropertyMonitor:
    """One automaton for all properties of a scope that are not always open."""

    def __init__(self, properties: Iterable[Property], shown: Iterable[Formula] = ()) -> None:
        """`shown` are formulas whose truth explanations may ask for."""
        judged = [each for each in properties if not each.is_always_open]
        self.response_properties = [each for each in judged if response(each.formula) is not None]
        self.untimed_properties = [each for each in judged if response(each.formula) is None]
        responses = [found for each in self.response_properties if (found := response(each.formula)) is not None]
        self._shown = tuple(shown)
        watched = [asked for asked, _ in responses] + [ended for _, ended in responses]
        self.automaton = _automaton(tuple(each.formula for each in self.untimed_properties), (*watched, *self._shown))
        self._labels: dict[int, StateLabels] = {}
        self._open: dict[int, list[Property]] = {}
        self._states: dict[tuple[int, int], MonitorState] = {}
        self._alike: dict[StateLabels, StateLabels] = {}  # equal ones are one, so that a change is seen at a glance
        self._unseen: dict[int, MonitorState] = {}
        self.no_pending: PendingResponses = (None,) * len(self.response_properties)

    def initial(self, state: int = Automaton.START) -> MonitorState:
        """Return a state without labels, so that the labels of the next state are always looked at."""
        found = self._unseen.get(state)
        if found is None:
            found = self._unseen[state] = MonitorState(state, state, None)
        return found

    def step(self, stand: MonitorState, letter: Letter, *, rested: bool) -> MonitorState:
        """Return where a letter leads, at the next position or, after a rest, at a later one."""
        known = stand.after_stutter if rested else stand.after_next
        found = known.get(letter)
        if found is None:
            before = self.automaton.stutter(stand.state) if rested else stand.state
            found = known[letter] = self._state(before, self.automaton.step(before, letter))
        return found

    def holds(self, state: int, formula: Formula) -> bool:
        """Whether one of the shown formulas holds at the last position."""
        return self.automaton.tracked(state)[2 * len(self.response_properties) + self._shown.index(formula)]

    def undecided(self, state: int) -> list[Property]:
        """Return the properties without a clock that would be violated if nothing ever happened again."""
        found = self._open.get(state)
        if found is None:
            verdicts = zip(self.untimed_properties, self.automaton.verdicts(state), strict=True)
            found = self._open[state] = [each for each, verdict in verdicts if verdict is TruthValue.UNDECIDED]
        return found

    def _state(self, before: int, state: int) -> MonitorState:
        found = self._states.get((before, state))
        if found is None:
            marks = self._labels.get(state) or self._label(state)
            is_quiet = not marks.violated and len(marks.discharged) == len(self.response_properties)
            found = self._states[before, state] = MonitorState(before, state, marks, is_quiet=is_quiet)
        return found

    def _label(self, state: int) -> StateLabels:
        watched, timed = self.automaton.tracked(state), range(len(self.response_properties))
        broken = tuple(self.untimed_properties[place] for place in self.automaton.violated(state))
        ended = tuple(place for place in timed if watched[len(timed) + place])
        asked = tuple(place for place in timed if watched[place] and place not in ended)
        found = StateLabels(broken, asked, ended)
        found = self._labels[state] = self._alike.setdefault(found, found)
        return found


def response(formula: Formula) -> tuple[Formula, Formula] | None:
    """Return p and q of `G (p → F≤ q)`, None of other forms."""
    match formula:
        case Always(Implies(asked, EventuallyWithin(ended))):
            return asked, ended
        case _:
            return None


@lru_cache(maxsize=32)  # a table, once filled in, serves every trace of its contract
def _automaton(formulas: tuple[Formula, ...], watched: tuple[Formula, ...]) -> Automaton:
    return Automaton(formulas, watched)


class MonitorInstance:
    """The state and the pending responses of one subject. A trace may have a million of them."""

    __slots__ = ("last_position", "lines", "name", "pending", "stand")

    def __init__(self, name: str, stand: MonitorState, touched: int, debts: PendingResponses) -> None:
        """It entered its state at position `touched`, or earlier if it was not the last subject that read a letter."""
        self.name, self.stand, self.last_position, self.pending = name, stand, touched, debts
        self.lines: dict[str, int] = {}  # the last line of each kind of event, as far as it is not kept elsewhere

    def last_lines(self) -> dict[str, int]:
        """Return the last line of each kind of event: what explanations are made of."""
        return self.lines

    def remark(self, name: str) -> str:  # noqa: ARG002  # subclasses say more
        """Return how a property was violated, nothing if its sentence says it all."""
        return ""


class CallInstance(MonitorInstance):
    """A call of initialize or stop that has not returned."""

    __slots__ = ("is_excused", "is_overtaken", "is_valid", "registrations")

    def __init__(self, name: str, stand: MonitorState, debts: PendingResponses) -> None:
        super().__init__(name, stand, -1, debts)
        self.registrations: list[TracedTask] = []
        self.is_valid = True
        self.is_overtaken = False  # a stop began after it
        self.is_excused = False  # something was in its way, so that it may fail

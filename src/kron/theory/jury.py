"""Jury: the properties of one scope, judged together for any number of subjects; a subject costs a few words."""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from kron.theory.automaton import Automaton
from kron.theory.formula import Always, Formula, Implies, Soon
from kron.theory.meaning import Letter, Verdict
from kron.theory.properties import Property
from kron.theory.subjects import Subject


class Move(NamedTuple):
    """What a letter does to a state that has rested."""

    before: int  # the state at rest
    after: int
    marks: "Marks"


class Marks(NamedTuple):
    """What a state says: which properties are broken, and of each timed one, whether it is asked for or ended."""

    broken: tuple[Property, ...]
    asked: tuple[int, ...]  # places among the timed ones
    ended: tuple[int, ...]


class Jury:
    """One automaton for all properties of a scope that are not always open."""

    def __init__(self, properties: Iterable[Property], shown: Iterable[Formula] = ()) -> None:
        """`shown` are formulas whose truth explanations may ask for."""
        judged = [each for each in properties if not each.is_always_open]
        self.timed = [each for each in judged if response(each.formula) is not None]
        self.plain = [each for each in judged if response(each.formula) is None]
        responses = [found for each in self.timed if (found := response(each.formula)) is not None]
        self._shown = tuple(shown)
        watched = [asked for asked, _ in responses] + [ended for _, ended in responses]
        self.automaton = _automaton(tuple(each.formula for each in self.plain), (*watched, *self._shown))
        self._marks: dict[int, Marks] = {}
        self._open: dict[int, list[Property]] = {}
        self._moves: dict[Letter, dict[int, Move]] = {}
        self._alike: dict[Marks, Marks] = {}  # equal ones are one, so that a change is seen at a glance

    def step(self, subject: Subject, letter: Letter, position: int) -> Marks:
        """Let a subject see a letter at a position; in those since its last one it saw nothing."""
        automaton, state = self.automaton, subject.state
        if position - subject.touched > 1:
            state = automaton.rest(state)
        subject.touched, subject.before = position, state
        following = automaton.table[state].get(letter)
        if following is None:
            following = automaton.step(state, letter)
        subject.state = following
        return self._marks.get(following) or self._mark(following)

    def moves(self, letter: Letter) -> dict[int, Move]:
        """Return what a letter does to states, as far as it was asked for: for readers in a hurry."""
        return self._moves.setdefault(letter, {})

    def move(self, state: int, letter: Letter) -> Move:
        """Return what a letter does to a state after a rest."""
        before = self.automaton.rest(state)
        after = self.automaton.step(before, letter)
        found = self.moves(letter)[state] = Move(before, after, self._marks.get(after) or self._mark(after))
        return found

    def shows(self, state: int, formula: Formula) -> bool:
        """Whether one of the shown formulas holds at the last position."""
        return self.automaton.watched(state)[2 * len(self.timed) + self._shown.index(formula)]

    def open(self, subject: Subject) -> list[Property]:
        """Return the properties without a clock that would be violated if nothing ever happened again."""
        found = self._open.get(subject.state)
        if found is None:
            verdicts = zip(self.plain, self.automaton.verdicts(subject.state), strict=True)
            found = self._open[subject.state] = [each for each, verdict in verdicts if verdict is Verdict.UNDECIDED]
        return found

    def _mark(self, state: int) -> Marks:
        watched, timed = self.automaton.watched(state), range(len(self.timed))
        broken = tuple(self.plain[place] for place in self.automaton.broken(state))
        ended = tuple(place for place in timed if watched[len(timed) + place])
        asked = tuple(place for place in timed if watched[place] and place not in ended)
        found = Marks(broken, asked, ended)
        found = self._marks[state] = self._alike.setdefault(found, found)
        return found


def response(formula: Formula) -> tuple[Formula, Formula] | None:
    """Return p and q of `G (p → F≤ q)`, None of other forms."""
    match formula:
        case Always(Implies(asked, Soon(ended))):
            return asked, ended
        case _:
            return None


@lru_cache(maxsize=32)  # a table, once filled in, serves every trace of its contract
def _automaton(formulas: tuple[Formula, ...], watched: tuple[Formula, ...]) -> Automaton:
    return Automaton(formulas, watched)

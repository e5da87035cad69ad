"""Jury: the properties of one scope, judged together for any number of subjects; a subject costs a few words."""

from collections.abc import Iterable
from functools import lru_cache

from kron.theory.automaton import Automaton
from kron.theory.formula import Always, Formula, Implies, Soon
from kron.theory.meaning import Letter, Verdict
from kron.theory.properties import Property
from kron.theory.stand import Debts, Marks, Stand


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
        self._stands: dict[tuple[int, int], Stand] = {}
        self._alike: dict[Marks, Marks] = {}  # equal ones are one, so that a change is seen at a glance
        self._unseen: dict[int, Stand] = {}
        self.nothing_owed: Debts = (None,) * len(self.timed)

    def unseen(self, state: int = Automaton.START) -> Stand:
        """Return a stand that nobody has looked at yet: what is said of the next one is looked at in any case."""
        found = self._unseen.get(state)
        if found is None:
            found = self._unseen[state] = Stand(state, state, None)
        return found

    def step(self, stand: Stand, letter: Letter, *, rested: bool) -> Stand:
        """Return where a letter leads, at the next position or, after a rest, at a later one."""
        known = stand.after_rest if rested else stand.at_once
        found = known.get(letter)
        if found is None:
            before = self.automaton.rest(stand.state) if rested else stand.state
            found = known[letter] = self._stand(before, self.automaton.step(before, letter))
        return found

    def shows(self, state: int, formula: Formula) -> bool:
        """Whether one of the shown formulas holds at the last position."""
        return self.automaton.watched(state)[2 * len(self.timed) + self._shown.index(formula)]

    def open(self, state: int) -> list[Property]:
        """Return the properties without a clock that would be violated if nothing ever happened again."""
        found = self._open.get(state)
        if found is None:
            verdicts = zip(self.plain, self.automaton.verdicts(state), strict=True)
            found = self._open[state] = [each for each, verdict in verdicts if verdict is Verdict.UNDECIDED]
        return found

    def _stand(self, before: int, state: int) -> Stand:
        found = self._stands.get((before, state))
        if found is None:
            marks = self._marks.get(state) or self._mark(state)
            is_quiet = not marks.broken and len(marks.ended) == len(self.timed)
            found = self._stands[before, state] = Stand(before, state, marks, is_quiet=is_quiet)
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

"""Stand: where subjects stand, and where each letter leads from there. Any number of subjects share one."""

from typing import NamedTuple

from kron.theory.meaning import Letter
from kron.theory.properties import Property


class Marks(NamedTuple):
    """What a state says: which properties are broken, and of each timed one, whether it is asked for or ended."""

    broken: tuple[Property, ...]
    asked: tuple[int, ...]  # places among the timed ones
    ended: tuple[int, ...]

    def settle(self, debts: "Debts", debt: "Debt") -> "Debts":
        """Return what is owed from now on: what has ended no more, and what is asked for from now on as a new debt."""
        return tuple(
            None if place in self.ended else debt if old is None and place in self.asked else old
            for place, old in enumerate(debts)
        )


class Stand:
    """A state, the one that the last letter was read in, and what a jury says of it; each is made once."""

    __slots__ = ("after_rest", "at_once", "before", "is_quiet", "marks", "state")

    def __init__(self, before: int, state: int, marks: Marks | None, *, is_quiet: bool = False) -> None:
        """Without marks nobody has looked at it; it is quiet if nothing is broken or owed."""
        self.before, self.state, self.marks, self.is_quiet = before, state, marks, is_quiet
        self.at_once: dict[Letter, Stand] = {}  # where a letter at the next position leads, as far as it was asked for
        self.after_rest: dict[Letter, Stand] = {}  # the same for one that comes later


class Debt(NamedTuple):
    """What subjects are owed together; each of them has the very same, until it is paid."""

    deadline: int  # in active time
    line: int  # since which it is owed


Debts = tuple[Debt | None, ...]
"""What a subject is owed, of each timed property; None: nothing."""

"""MUTANTS: bugs that a scheduler could have, as changes to the text of its code, and the properties that see them."""

from tests.simulation.bugs.chosen import CHOSEN
from tests.simulation.bugs.clock import CLOCKED
from tests.simulation.bugs.declaration import DECLARED
from tests.simulation.bugs.engine import LOOPED, STOPPED
from tests.simulation.bugs.library import INITIALISED
from tests.simulation.bugs.rules import OWED, PLANNED

MUTANTS = (*OWED, *CHOSEN, *CLOCKED, *PLANNED, *DECLARED, *LOOPED, *STOPPED, *INITIALISED)

"""MUTANTS: bugs that a scheduler could have, and the properties that find them."""

from tests.simulator.bugs.chosen import CHOSEN
from tests.simulator.bugs.clock import CLOCKED
from tests.simulator.bugs.declaration import DECLARED
from tests.simulator.bugs.engine import LOOPED, STOPPED
from tests.simulator.bugs.library import INITIALISED
from tests.simulator.bugs.rules import OWED, PLANNED

MUTANTS = (*OWED, *CHOSEN, *CLOCKED, *PLANNED, *DECLARED, *LOOPED, *STOPPED, *INITIALISED)

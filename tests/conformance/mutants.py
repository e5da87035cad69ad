"""MUTANTS: all bugs of the mutation tables."""

from tests.conformance.mutants_choices import CHOICES
from tests.conformance.mutants_inputs import INPUTS
from tests.conformance.mutants_library import LIBRARY
from tests.conformance.mutants_outcomes import OUTCOMES
from tests.conformance.mutants_theory import THEORY

MUTANTS = (*LIBRARY, *THEORY, *INPUTS, *CHOICES, *OUTCOMES)

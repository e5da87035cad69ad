"""CATALOGUE: every clause of the four contracts, by name, in the order of their sections."""

from collections.abc import Mapping
from types import MappingProxyType

from tests.conformance.clause import Clause
from tests.conformance.clauses_errors import ERRORS
from tests.conformance.clauses_events import EVENTS
from tests.conformance.clauses_kron import PERIODS
from tests.conformance.clauses_language import LANGUAGE
from tests.conformance.clauses_life import LIFE
from tests.conformance.clauses_store import STORE
from tests.conformance.clauses_theory import FOREVER, THEORY
from tests.conformance.clauses_time import TIME
from tests.conformance.clauses_traces import TRACES

CLAUSES: tuple[Clause, ...] = (*TIME, *LIFE, *LANGUAGE, *ERRORS, *EVENTS, *STORE, *TRACES, *FOREVER, *THEORY, *PERIODS)
CATALOGUE: Mapping[str, Clause] = MappingProxyType({clause.id: clause for clause in CLAUSES})

"""PERIODS: clauses of the contract `kron` on decisions, outcomes and the hosts that act on them."""

from tests.conformance.clauses_choice import CHOICE
from tests.conformance.clauses_hosts import HOSTS
from tests.conformance.clauses_outcome import OUTCOME

PERIODS = (*CHOICE, *OUTCOME, *HOSTS)

"""Clause: one demand of a contract, in one sentence."""

from dataclasses import dataclass

DRAFT, POLLING, DECLARATIVE, KRON = "polling-draft", "polling", "declarative", "kron"
EVERY = (DRAFT, POLLING, DECLARATIVE)
BOTH_POLLING = (DRAFT, POLLING)


@dataclass(frozen=True, slots=True)
class Clause:
    """A demand with a stable name, the contracts that make it, and where a test is impossible, why.

    `shown_by` names tests outside of this directory, for example `rules/test_verdict::test_…`.
    """

    id: str
    revisions: tuple[str, ...]
    section: str
    sentence: str
    untestable: str = ""
    shown_by: tuple[str, ...] = ()

"""Clause: one thing that a contract demands, in one sentence."""

from dataclasses import dataclass

DRAFT, POLLING, DECLARATIVE = "polling-draft", "polling", "declarative"
EVERY = (DRAFT, POLLING, DECLARATIVE)
BOTH_POLLING = (DRAFT, POLLING)


@dataclass(frozen=True, slots=True)
class Clause:
    """A demand with a stable name, the contracts that make it, and where a test is impossible, why."""

    id: str
    revisions: tuple[str, ...]
    section: str
    sentence: str
    untestable: str = ""

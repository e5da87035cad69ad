"""Mutant: a bug as a change of source text, the clauses that it violates, and the test that fails."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutant:
    """A bug: in a module of the package, a text that occurs once and its replacement.

    `test` shows each of the clauses, and it fails with the bug.
    """

    clauses: tuple[str, ...]
    module: str
    before: str
    after: str
    test: str


def bug(clauses: str, module: str, before: str, after: str, test: str) -> Mutant:
    """Return the bug that violates the clauses, whose names have blanks between them."""
    return Mutant(tuple(clauses.split()), module, before, after, test)

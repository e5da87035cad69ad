"""Mutant: a bug as a change of source text, and the properties that find it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutant:
    """A bug: in a module of the package, a text that occurs once, and its replacement.

    Under its contract one of the properties `caught_by` is violated.
    """

    name: str
    module: str
    before: str
    after: str
    caught_by: tuple[str, ...]
    contract: str = "declarative"

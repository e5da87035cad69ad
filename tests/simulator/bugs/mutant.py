"""Mutant: a bug that a scheduler could have, as a change to the text of its code, and the properties that see it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutant:
    """A bug: in a module of the package, a text that occurs once, and what stands there instead.

    Under its contract one of the properties `caught_by` is violated.
    """

    name: str
    module: str
    before: str
    after: str
    caught_by: tuple[str, ...]
    contract: str = "declarative"
